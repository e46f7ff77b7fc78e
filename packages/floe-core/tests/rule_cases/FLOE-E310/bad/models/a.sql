-- a
select id
from {{ ref('b') }}
