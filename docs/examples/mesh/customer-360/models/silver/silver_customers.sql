{{ config(materialized='table') }}

select
    customer_id,
    name,
    trim(email) as email,
    updated_at
from {{ ref('bronze_crm_customers') }}
