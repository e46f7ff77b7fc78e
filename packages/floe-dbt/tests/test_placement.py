"""Where tables land, and what is refused at compile because it would land elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from products import Product

PROJECT = "name: p\nversion: '1.0'\n"


def relations(manifest: dict[str, Any]) -> dict[str, str]:
    return {item["name"]: item["relation_name"] for item in manifest["nodes"].values()}


def test_layers_come_from_the_prefix_then_from_meta_then_are_none(product: Product) -> None:
    product.put("models/gold_x.sql", "{{ config(meta={'floe': {'layer': 'silver'}}) }} select 1 as id")
    product.put("models/orders.sql", "select 1 as id")
    product.put("models/orders.yml", "models: [{name: orders, config: {meta: {floe: {layer: silver}}}}]")
    product.put("models/plain.sql", "select 1 as id")
    assert relations(product.manifest()) == {
        "gold_x": "sales.customer_360.gold.gold_x",
        "orders": "sales.customer_360.silver.orders",
        "plain": "sales.customer_360.plain",
    }


def test_a_catalog_with_one_level_gets_flat_names(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put("models/plain.sql", "select 1 as id")
    assert relations(product.manifest(nested=False)) == {
        "gold_x": "sales__customer_360__gold.gold_x",
        "plain": "sales__customer_360.plain",
    }


def test_a_port_names_its_table(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put("models/gold_y.sql", "select id from {{ ref('gold_x') }}")
    manifest = product.manifest(published={"gold_x": "customers"})
    assert relations(manifest)["gold_x"] == "sales.customer_360.gold.customers"
    [reader] = [item for item in manifest["nodes"].values() if item["name"] == "gold_y"]
    assert reader["compiled_code"] == "select id from sales.customer_360.gold.customers"


def test_versions_of_a_model_are_tables_of_their_own(product: Product) -> None:
    product.put("models/gold_x_v1.sql", "select 1 as id")
    product.put("models/gold_x_v2.sql", "select 1 as id")
    product.put("models/x.yml", "models: [{name: gold_x, latest_version: 2, versions: [{v: 1}, {v: 2}]}]")
    tables = {item["relation_name"] for item in product.manifest(published={"gold_x": "xs"})["nodes"].values()}
    assert tables == {"sales.customer_360.gold.xs_v1", "sales.customer_360.gold.xs_v2"}


ELSEWHERE = {
    "catalog in the model": (
        {"models/gold_x.sql": "select\n1 as id -- {{ config(schema='floe.sales.customer_360.gold') }}"},
        "models/gold_x.sql:2 FLOE-E304",
    ),
    "catalog in the project": (
        {"dbt_project.yml": f"{PROJECT}models:\n  p:\n    +schema: floe.sales.customer_360.gold\n"},
        "dbt_project.yml:5 FLOE-E304",
    ),
    "schema in YAML": (
        {"models/x.yml": "models:\n  - name: gold_x\n    config:\n      schema: staging\n"},
        "models/x.yml:4 FLOE-E304",
    ),
    "upper case": (
        {"models/gold_x.sql": "{{ config(schema='sales.customer_360.Gold') }} select 1 as id"},
        "models/gold_x.sql:1 FLOE-E304",
    ),
    "backticks": (
        {"models/gold_x.sql": "{{ config(schema='sales.`customer_360`.gold') }} select 1 as id"},
        "models/gold_x.sql:1 FLOE-E304",
    ),
    "another product": (
        {"models/gold_x.sql": "{{ config(schema='sales.customer_3600.gold') }} select 1 as id"},
        "models/gold_x.sql:1 FLOE-E304",
    ),
    "a naming macro": (
        {
            "macros/names.sql": "{# ours #}\n{% macro generate_schema_name(custom_schema_name, node) -%}\n"
            "floe.{{ target.schema }}\n{%- endmacro %}"
        },
        "macros/names.sql:2 FLOE-E304",
    ),
    "a database": (
        {"dbt_project.yml": f"{PROJECT}models:\n  +database: floe\n"},
        "dbt_project.yml:4 FLOE-E304",
    ),
    "another format": (
        {"models/gold_x.sql": "{{ config(file_format='delta') }} select 1 as id"},
        "models/gold_x.sql:1 FLOE-E305",
    ),
    "another format for all": (
        {"dbt_project.yml": f"{PROJECT}models:\n  +file_format: parquet\n"},
        "dbt_project.yml:4 FLOE-E305",
    ),
    "an alias in upper case": (
        {"models/gold_x.sql": "{{ config(alias='Customers') }} select 1 as id"},
        "models/gold_x.sql:1 FLOE-E306",
    ),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_a_table_that_would_land_elsewhere_is_refused_where_that_is_written(product: Product, case: str) -> None:
    files, expected = ELSEWHERE[case]
    product.put("dbt_project.yml", PROJECT)
    product.put("models/gold_x.sql", "select 1 as id")
    for path, text in files.items():
        product.put(path, text)
    assert product.refused() == [expected]


def test_a_naming_macro_that_agrees_with_floe_is_kept(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put(
        "macros/names.sql",
        "{% macro generate_schema_name(custom_schema_name, node) -%}\n{{ target.schema }}.gold\n{%- endmacro %}",
    )
    assert relations(product.manifest()) == {"gold_x": "sales.customer_360.gold.gold_x"}


def test_a_snapshot_with_a_schema_of_its_own_is_refused(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put(
        "snapshots/s.sql",
        """
        {% snapshot silver_s %}
        {{ config(target_schema='snapshots', unique_key='id', strategy='check', check_cols='all') }}
        select 1 as id
        {% endsnapshot %}
        """,
    )
    assert product.refused() == ["snapshots/s.sql:2 FLOE-E304"]


def test_a_namespace_that_spark_would_not_write_so_is_refused(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    assert product.refused(namespace="Sales.customer_360") == ["floe.yaml:1 FLOE-E304"]
