select id,
       max(case when country = 'DE' then contact end) as de,
       max(case when country = 'PL' then contact end) as pl
from {{ ref('bronze_customers') }}
group by id
