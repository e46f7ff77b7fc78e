select id, amount
from {{ source('shop', 'orders') }}
{% if true %}
where amount > 0
{% endif %}
order by amount desc
