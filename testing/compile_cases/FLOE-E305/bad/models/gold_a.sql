-- as before
{{ config(file_format='delta') }}
select 1 as id
