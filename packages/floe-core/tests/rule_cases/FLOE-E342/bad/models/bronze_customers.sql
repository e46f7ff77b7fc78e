select id, lower(email) as contact, country from {{ source('crm', 'customers') }}
