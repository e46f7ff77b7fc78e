select * from {{ ref('silver_orders') }}
