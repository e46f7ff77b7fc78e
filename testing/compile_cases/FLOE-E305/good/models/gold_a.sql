-- as before
{{ config(file_format='iceberg') }}
select 1 as id
