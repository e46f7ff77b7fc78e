{{ config(alias='customers') }}
select 1 as id
