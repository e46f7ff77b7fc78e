select * from {{ ref('orders') }} where id < 0
