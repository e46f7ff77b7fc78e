select o.id, p.id as payment
from {{ source('shop', 'orders') }} o
join {{ source('shop', 'payments') }} p on p.order_id = o.id
