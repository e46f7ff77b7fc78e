select *
from (select id, contact, country from {{ ref('bronze_customers') }})
pivot (max(contact) for country in ('DE', 'PL'))
