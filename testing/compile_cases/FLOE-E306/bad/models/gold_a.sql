{{ config(alias='Customers') }}
select 1 as id
