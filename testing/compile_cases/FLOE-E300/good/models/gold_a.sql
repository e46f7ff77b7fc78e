select 1 as id

from {{ ref('bronze_a') }}
