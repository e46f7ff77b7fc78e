{% test dbt_valid_to_is_later(model, column_name) %}
select *
from {{ model }}
where {{ column_name }} < dbt_valid_from
{% endtest %}
