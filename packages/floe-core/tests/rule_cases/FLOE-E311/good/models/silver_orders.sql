

select *
from {{ ref('bronze_orders') }}
