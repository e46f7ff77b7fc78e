"""Writes a dbt project that nobody would write: a little of everything, a few hundred models deep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

MODELS = 200

PLATFORM = """
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.2.3"}
    scope: enterprise
    data_architecture:
      pattern: medallion
      naming: {enforcement: strict}
    governance:
      quality_gates: {minimum_test_coverage: 80, require_descriptions: true}
      classification: {minimum: INTERNAL, coverage: {pii: 100}}
      sql_linting: {enforcement: ERROR}
      custom_rules:
        - {type: require_tags_for_prefix, prefix: gold_, required_tags: [tested]}
        - {type: require_meta_field, field: owner, applies_to: "*"}
    """
PRODUCT = """
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: shop, version: "1.0.0", domain: sales}
    platform: ../manifest.yaml
    transforms:
      - {type: dbt, path: warehouse/models/}
    output_ports:
      - {name: orders, table: gold_versioned, classification: PUBLIC}
      - name: people
        table: gold_people
        schema: [{name: mail, type: string, classification: public}]
      - {name: nobody, table: gold_that_is_not_there}
    """
FILES = {
    "dbt_project.yml": """
        name: shop
        version: "1.0"
        vars: &all {since: "2020-01-01", shop: {since: "2021-01-01"}}
        on-run-start: ["select 1", "{{ hello('start') }}"]
        on-run-end: "{% if execute %}select 2{% endif %}"
        dispatch: [{macro_namespace: dbt, search_order: [shop, common, dbt]}]
        models:
          shop:
            +meta: &owner {owner: sales, "żółw": "🐢"}
            +post-hook: "select 3"
            many: {+tags: [deep], +meta: *owner}
            switched_off: {+enabled: false}
        """,
    "packages.yml": "packages:\n  - local: packages/common\n",
    "packages/common/dbt_project.yml": "name: common\nversion: '1.0'\n",
    "packages/common/models/common_calendar.sql": "select date '2024-01-01' as day, 'a@b.c' as email",
    "packages/common/models/common_people.py": "def model(dbt, session):\n    return dbt.ref('common_calendar')\n",
    "packages/common/models/common.yml": """
        models:
          - name: common_calendar
            columns: [{name: email, config: {meta: {floe: {classification: pii}}}}]
        """,
    "packages/common/macros/cents.sql": "{% macro cents(column) %}cast({{ column }} * 100 as int){% endmacro %}",
    # macros
    "macros/hello.sql": "{% macro hello(who) %}select '{{ who }}'{% endmacro %}",
    "macros/deep/er/pick.sql": """
        {% macro pick(columns, from=none) -%}
          {%- for column in columns %}
            {{ caller(column) if caller else column }}{{ "," if not loop.last }}
          {%- endfor %}
        {%- endmacro %}
        {% macro whole_model(table) %}select {{ pick(['id', 'email']) }} from {{ table }}{% endmacro %}
        """,
    "macros/tests.sql": """
        {% test positive(model, column_name, more=none) %}
        select * from {{ model }} where {{ column_name }} <= 0
        {% endtest %}
        """,
    "macros/materialization.sql": """
        {% materialization strange, default %}
          {% call statement('main') %}select 1{% endcall %}
          {{ return({'relations': []}) }}
        {% endmaterialization %}
        """,
    "macros/macros.yml": "macros: [{name: hello, description: 'Says hello to 世界.'}]",
    # seeds, snapshots, sources
    "seeds/bronze_orders.csv": 'id,who,email,amount\n1,O\'Brien,a@b.c,1.5\n2,"Żaneta, ""Ż""",,\n',
    "seeds/nested/bronze_upper.csv": "Id;Name\n1;x\n",
    "seeds/seeds.yml": """
        seeds:
          - name: bronze_orders
            config: {column_types: {id: bigint}}
            columns:
              - {name: id, data_tests: [unique, not_null]}
              - {name: email, config: {meta: {floe: {classification: pii}}}}
          - {name: bronze_upper, config: {delimiter: ";"}}
        """,
    "snapshots/old_style.sql": """
        {% snapshot silver_history %}
        {{ config(unique_key='id', strategy='check', check_cols=['amount']) }}
        select * from {{ ref('bronze_orders') }}
        {% endsnapshot %}
        {% snapshot silver_history_two %}
        {{ config(unique_key='id', strategy='check', check_cols='all') }}
        select id, email from {{ ref('bronze_orders') }}
        {% endsnapshot %}
        """,
    "snapshots/new_style.yml": """
        snapshots:
          - name: gold_history
            relation: source('crm', 'customers')
            config: {unique_key: id, strategy: timestamp, updated_at: changed_at}
        """,
    "models/sources.yml": """
        version: 2
        sources:
          - name: crm
            schema: raw
            loaded_at_field: changed_at
            freshness: {warn_after: {count: 1, period: day}}
            tables:
              - name: customers
                columns:
                  - name: id
                    data_tests: [unique, {positive: {arguments: {more: [1, 2]}}}]
                  - {name: email, config: {meta: {floe: {classification: [pii, sensitive]}}}}
                  - {name: phone}
                  - {name: changed_at}
                data_tests: [{positive: {arguments: {column_name: id + 1}}}]
              - {name: undescribed, identifier: "Odd Name"}
        """,
    # models of every kind
    "models/no_yaml.sql": "select 1 as id",
    "models/bronze_customers.sql": "select * from {{ source('crm', 'customers') }}",
    "models/silver_short.sql": """
        {{ config(materialized='ephemeral') }}
        select id, email from {{ ref('bronze_orders') }}
        """,
    "models/silver_empty.sql": "",
    "models/silver_comment.sql": "-- nothing but a comment\n",
    "models/silver_strange.sql": "{{ config(materialized='strange') }} select 1 as id",
    "models/silver_macro.sql": "{{ whole_model(ref('silver_short')) }}",
    "models/silver_call.sql": """
        select
        {% call(c) pick(['id', 'email']) %} o.{{ c }} as {{ c }}_x {% endcall %}
        from {{ ref('bronze_orders') }} o
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
    "models/silver_raise.sql": """
        {% if execute %}{{ exceptions.raise_compiler_error("only at night") }}{% endif %}
        select 1 as id
        """,
    "models/silver_header.sql": """
        {% call set_sql_header(config) %}
        create temporary function f(x int) returns int return x;
        {% endcall %}
        {{ config(pre_hook=["select 1", {"sql": "select 2", "transaction": False}]) }}
        select f(1) as id
        """,
    "models/silver_raw.sql": "select '{% raw %}{{ not jinja }}{% endraw %}' as text, '{{ '{{' }}' as more",
    "models/silver_package.sql": "select day, email as contact from {{ ref('common', 'common_calendar') }}",
    "models/silver_package_python.sql": "select * from {{ ref('common_people') }}",
    "models/silver_loop_a.sql": "select id from {{ ref('silver_loop_b') }}",
    "models/silver_loop_b.sql": "select id from {{ ref('silver_loop_a') }}",
    "models/gold_behind_loop.sql": "select email from {{ ref('silver_loop_a') }}",
    "models/gold_python.py": """
        def model(dbt, session):
            dbt.config(materialized="table", tags=["Ünï"])
            return dbt.ref("silver_short").union(dbt.source("crm", "customers"))
        """,
    "models/gold_people.sql": "select email as mail, id from {{ ref('silver_short') }}",
    "models/gold_odd.sql": """
        select * from {{ ref('bronze_orders') }} lateral view outer explode(array(1)) t as
         x !!
        """,
    "models/gold_long.sql": "select " + ", ".join(f"{n} as c{n}" for n in range(600)),
    "models/gold_versioned_v1.sql": "select id, email from {{ ref('silver_macro') }}",
    "models/gold_second.sql": "select id, email, 1 as extra from {{ ref('gold_versioned', v=1) }}",
    "models/switched_off/gold_off.sql": "select 1 from {{ ref('nothing') }}",
    "models/gold_disabled.sql": "{{ config(enabled=false) }} select 1 from {{ source('no', 'where') }}",
    "models/models.yml": """
        version: 2
        anchors: {}
        groups: [{name: finance, owner: {email: a@acme.com, name: "Łucja"}}]
        models:
          - name: gold_versioned
            description: "{{ doc('orders') }}"
            latest_version: 2
            config: {group: finance, access: public}
            columns: &columns
              - {name: id, description: &d "Schlüssel 🔑", data_tests: [not_null, unique]}
              - {name: email, description: *d, config: {meta: {floe: {classification: internal}}}}
            versions:
              - v: 1
              - {v: 2, defined_in: gold_second, columns: [{include: all}, {name: extra}]}
          - name: gold_people
            columns: *columns
          - name: a_model_that_is_not_there
            description: YAML without a model.
            columns: [{name: id, data_tests: [unique]}]
          - name: silver_strange
            config: {meta: {floe: [not, a, mapping]}}
          - name: silver_macro
            config: {meta: {floe: {freshness: soon, layer: 7, primary_key: {a: b}}}}
            columns: [{name: email, config: {meta: {floe: {classification: very}}}}]
        exposures:
          - {name: board, type: dashboard, owner: {email: a@b.c}, depends_on: [ref('gold_people')]}
        unit_tests:
          - name: adds_up
            model: gold_people
            given: [{input: ref('silver_short'), rows: [{id: 1, email: a}]}]
            expect: {rows: [{id: 1, mail: a}]}
        """,
    "models/empty.yml": "",
    "models/comment.yaml": "# nothing\n",
    "models/docs/orders.md": "{% docs orders %}\n# Alle Aufträge — 注文\n{% enddocs %}\n{% docs x %}{% enddocs %}",
    # tests in odd places, analyses
    "tests/generic/late.sql": "{% test late(model) %}select * from {{ model }} where false{% endtest %}",
    "tests/more.yml": """
        models: [{name: silver_call, data_tests: [late], columns: [{name: id_x, data_tests: [positive]}]}]
        """,
    "tests/deep/no_orphans.sql": "select 1 as id from {{ ref('gold_versioned', v=1) }} where false",
    "tests/of_nothing.sql": "{{ config(severity='warn', tags='odd') }} select 1 where false",
    "tests/of_a_source.sql": "select * from {{ source('crm', 'customers') }} where id is null",
    "analyses/why.sql": "select * from {{ ref('gold_people') }} order by 1",
}

# Each reads BEFORE, the model before it.
SHAPES = (
    "select * from BEFORE",
    "select id, {{ common.cents('id') }} as cents, email from BEFORE\n\n\n",
    "with a as (\n  select * from BEFORE\n),\nb as (select id, email from a)\nselect * from b",
    "select id,, from BEFORE wher (",
    "select a.id\nfrom BEFORE a,\n  {{ ref('bronze_orders') }} b",
    "select id, email\nfrom BEFORE\norder by email",
    "select id from somewhere.hard_coded union all\nselect id from BEFORE",
    """
    {% for n in range(3) %}
    select id, '{{ n }}' as n from BEFORE
    {{ 'union all' if not loop.last }}
    {% endfor %}
    """,
    "select *\nfrom (select id, email from BEFORE)\npivot (max(email) for id in (1, 2))",
    """
    {{ config(materialized='incremental', unique_key='id') }}
    select id, email
    from BEFORE
    {% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}
    """,
    "{{ config(materialized='ephemeral') }}\r\nselect id,\r\n\temail\r\nfrom BEFORE\r\n",
    "select id, email from {{ ref('silver_short') }} join BEFORE using (id, email)",
)
LAYERS = ("bronze", "silver", "gold", "stg", "weird")


def write(folder: Path) -> Path:
    """The platform's manifest and a product in `folder`; returns the product's folder."""
    product = folder / "shop"
    _put(folder / "manifest.yaml", PLATFORM)
    _put(product / "floe.yaml", PRODUCT)
    for path, text in (*FILES.items(), *generated()):
        _put(product / "warehouse" / path, text)
    return product


def generated() -> Iterator[tuple[str, str]]:
    """Models that read the one before them, in layers and folders without any order; YAML for two in three."""
    before, entries = "bronze_orders", []
    for number in range(MODELS):
        name = f"{LAYERS[number % len(LAYERS)]}_{number:03}"
        shape = SHAPES[number % len(SHAPES)].replace("BEFORE", f"{{{{ ref('{before}') }}}}")
        yield f"models/many/{'/'.join(str(number))}/{name}.sql", shape
        before = "bronze_orders" if "wher (" in shape else name
        if number % 3:
            entries.append(_entry(name, number))
    for start in range(0, len(entries), 40):
        anchor = "x: &floe {floe: {freshness: PT6H}}\n" if start else ""
        yield f"models/many/part_{start}.yml", f"{anchor}models:\n{''.join(entries[start : start + 40])}"


def _entry(name: str, number: int) -> str:
    said = ("TBD", f"Zahl №{number} — 数 ✓", "''", "|\n      Several\n      lines.")[number % 4]
    classes = ("pii", "public", "[phi, pii]", "nonsense")[number % 4]
    return (
        f"  - name: {name}\n    description: {said if said[0] in '|' + chr(39) else repr(said)}\n"
        f"    columns:\n      - {{name: ID, data_tests: [not_null]}}\n"
        f"      - name: email\n        config: {{meta: {{floe: {{classification: {classes}}}}}}}\n"
    )


def _put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text).lstrip("\n"), "utf-8", newline="")
