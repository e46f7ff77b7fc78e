{{ config(materialized='view') }}

select
    date_trunc('month', ordered_at) as month,
    sum(amount) as revenue
from {{ ref('silver_orders') }}
group by date_trunc('month', ordered_at)
