{{ config(materialized='table') }}

select o.*
from {{ ref('bronze_orders') }} o
