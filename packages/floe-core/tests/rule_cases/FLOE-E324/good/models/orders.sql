select o.id
from {{ source('shop', 'orders') }} o
left join {{ source('shop', 'payments') }} p on p.order_id = o.id
