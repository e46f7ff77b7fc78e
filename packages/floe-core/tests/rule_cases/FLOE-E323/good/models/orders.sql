select id, amount, row_number() over (order by amount desc) as place
from {{ source('shop', 'orders') }}
order by amount desc
limit 10
