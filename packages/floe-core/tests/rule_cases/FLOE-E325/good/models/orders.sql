{% set newest = 0 %}
select id from {{ source('shop', 'orders') }} where id > {{ newest + 1 }}
