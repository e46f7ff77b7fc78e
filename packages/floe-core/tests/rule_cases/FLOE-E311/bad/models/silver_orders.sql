

select *
from {{ ref('bronze_orders') }}
join {{ ref('gold_orders') }} using (id)
