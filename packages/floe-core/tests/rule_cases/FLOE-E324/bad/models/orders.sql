select o.id
from {{ source('shop', 'orders') }} o
left join shop.payments p on p.order_id = o.id
