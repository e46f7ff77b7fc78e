select id, email as email_address, false as has_email, '-' as phone_number from {{ ref('bronze_customers') }}
