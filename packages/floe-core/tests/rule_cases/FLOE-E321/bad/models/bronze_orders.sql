select * from {{ source('shop', 'orders') }}
