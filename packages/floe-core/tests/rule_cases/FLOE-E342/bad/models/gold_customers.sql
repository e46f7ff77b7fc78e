select id, sha2(contact, 256) as hashed, country from {{ ref('bronze_customers') }}
