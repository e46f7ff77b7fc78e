select 1 as id, 1 as customer
