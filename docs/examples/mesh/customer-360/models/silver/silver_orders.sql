{{ config(materialized='incremental', unique_key='order_id', incremental_strategy='merge', file_format='iceberg') }}

select
    order_id,
    customer_id,
    amount,
    ordered_at
from {{ ref('bronze_shop_orders') }}
{% if is_incremental() %}
where ordered_at > (select max(ordered_at) from {{ this }})
{% endif %}
