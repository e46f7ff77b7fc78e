"""A dbt project with a little of everything: a manifest comes out, and every node of it has its place."""

from __future__ import annotations

import pytest
from products import Product

FILES = {
    "dbt_project.yml": """
        name: shop
        version: "1.0"
        vars: {since: 2020-01-01}
        on-run-start: "select 1"
        models:
          shop:
            +meta: &owner {owner: sales}
            nested: {+tags: [deep], +meta: *owner}
        """,
    "packages.yml": "packages:\n  - local: packages/common\n",
    "packages/common/dbt_project.yml": "name: common\nversion: '1.0'\nmodels: {+schema: common}\n",
    "packages/common/models/calendar.sql": "select date '2024-01-01' as day",
    "packages/common/macros/cents.sql": "{% macro cents(column) %}cast({{ column }} * 100 as int){% endmacro %}",
    "macros/is_it.sql": "{% macro is_it(x) %}{{ return(x is not none) }}{% endmacro %}",
    "macros/run_query.sql": "{% macro spark__dateadd(a, b, c) %}{{ c }}{% endmacro %}",
    "seeds/bronze_orders.csv": "id,who,amount\n1,O'Brien,1.5\n",
    "seeds/seeds.yml": "seeds:\n  - name: bronze_orders\n    config: {column_types: {id: bigint}}\n",
    "snapshots/silver_history.sql": """
        {% snapshot silver_history %}
        {{ config(unique_key='id', strategy='check', check_cols=['amount']) }}
        select * from {{ ref('bronze_orders') }}
        {% endsnapshot %}
        """,
    "models/no_yaml.sql": "select 1 as id",
    "models/silver_short.sql": "{{ config(materialized='ephemeral') }} select id from {{ ref('bronze_orders') }}",
    "models/nested/deep/er/silver_orders.sql": """
        {{ config(materialized='incremental', unique_key='id') }}
        select id, {{ common.cents('amount') }} as cents from {{ ref('bronze_orders') }}
        {% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}
        """,
    "models/silver_pivot.sql": """
        {% set kinds = run_query('select distinct who from ' ~ ref('bronze_orders')) %}
        select id {% if execute %}{% for kind in kinds.columns[0].values() %}, '{{ kind }}'{% endfor %}{% endif %}
        from {{ ref('silver_short') }}
        """,
    "models/silver_star.sql": """
        {% set columns = adapter.get_columns_in_relation(ref('bronze_orders')) %}
        select {{ columns | map(attribute='name') | join(', ') }}
        from {{ ref('bronze_orders') }}
        """,
    "models/gold_orders_v1.sql": "select id from {{ ref('silver_orders') }}",
    "models/gold_orders_v2.sql": "select id, 1 as extra from {{ ref('silver_orders') }}",
    "models/gold_python.py": "def model(dbt, session):\n    return dbt.ref('silver_orders')\n",
    "models/gold_off.sql": "{{ config(enabled=false) }} select 1 from {{ ref('nothing') }}",
    "models/gold_odd.sql": "select * from {{ ref('calendar') }} lateral view outer explode(array(1)) t as \n x !!",
    "models/models.yml": """
        version: 2
        groups: [{name: finance, owner: {email: a@acme.com}}]
        models:
          - name: gold_orders
            description: "{{ doc('orders') }}"
            latest_version: 2
            config: {group: finance}
            columns: [{name: id, data_tests: [not_null, unique]}]
            versions: [{v: 1}, {v: 2}]
          - name: a_model_that_is_not_there
            description: YAML without a model.
        """,
    "models/docs.md": "{% docs orders %}\nAll orders.\n{% enddocs %}\n",
    "tests/generic/positive.sql": """
        {% test positive(model, column_name) %}select * from {{ model }} where {{ column_name }} <= 0{% endtest %}
        """,
    "tests/more.yml": "models: [{name: silver_orders, columns: [{name: id, data_tests: [positive]}]}]",
    "tests/no_orphans.sql": "select 1 as id from {{ ref('gold_orders', v=1) }} where false",
    "analyses/why.sql": "select 1",
}


@pytest.fixture
def torture(product: Product) -> Product:
    for path, text in FILES.items():
        product.put(path, text)
    return product


def test_everything_is_read_and_only_what_needs_rows_is_not_followed(torture: Product) -> None:
    manifest = torture.manifest()
    nodes = {item["unique_id"]: item for item in manifest["nodes"].values()}
    sql = {name: item for name, item in nodes.items() if item["resource_type"] in ("model", "snapshot")}
    assert [name for name, item in sql.items() if "compiled_code" not in item] == ["model.shop.silver_star"]
    assert sorted(sql) == [
        "model.common.calendar",
        "model.shop.gold_odd",
        "model.shop.gold_orders.v1",
        "model.shop.gold_orders.v2",
        "model.shop.gold_python",
        "model.shop.no_yaml",
        "model.shop.silver_orders",
        "model.shop.silver_pivot",
        "model.shop.silver_short",
        "model.shop.silver_star",
        "snapshot.shop.silver_history",
    ]
    assert nodes["model.shop.gold_orders.v2"]["description"] == "All orders."
    assert "where id >" not in nodes["model.shop.silver_orders"]["compiled_code"]
    ours = [item for item in nodes.values() if item["package_name"] == "shop"]
    assert [item["unique_id"] for item in ours if not (torture.folder / item["original_file_path"]).is_file()] == []
    assert torture.said == ["installing dbt packages"]
