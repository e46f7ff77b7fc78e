select * from {{ ref('orders') }}
except
select * from {{ ref('payments') }}
