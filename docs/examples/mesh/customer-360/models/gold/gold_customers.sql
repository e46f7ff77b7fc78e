{{ config(materialized='table') }}

select
    customers.customer_id,
    customers.email,
    count(orders.order_id) as order_count,
    coalesce(sum(orders.amount), 0.0) as revenue
from {{ ref('silver_customers') }} as customers
left join {{ ref('silver_orders') }} as orders
    on orders.customer_id = customers.customer_id
group by customers.customer_id, customers.email
