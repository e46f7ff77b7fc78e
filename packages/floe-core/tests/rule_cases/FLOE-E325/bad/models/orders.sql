{% set newest = 0 %}
{% if execute %}
  {% do exceptions.raise_compiler_error('the control table has no rows') %}
{% endif %}
select id from {{ source('shop', 'orders') }} where id > {{ newest + 1 }}
