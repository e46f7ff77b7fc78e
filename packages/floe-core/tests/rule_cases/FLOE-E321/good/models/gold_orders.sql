{{ config(materialized='table') }}

with picked as (select o.id, o.amount from {{ ref('bronze_orders') }} o)
select * from picked
