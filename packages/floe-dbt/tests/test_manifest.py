from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from products import Product

INCREMENTAL = """
{{ config(materialized='incremental', unique_key='id') }}
select id from {{ ref('bronze_x') }}
{% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}
"""


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def node(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [item for item in manifest["nodes"].values() if item["name"] == name]
    return dict(found)


def test_a_product_without_a_project_gets_a_generated_one(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put("seeds/bronze_x.csv", "id\n1\n")
    manifest = product.manifest()
    assert manifest["metadata"]["project_name"] == "customer_360"
    assert node(manifest, "gold_x")["relation_name"] == "sales.customer_360.gold.gold_x"
    assert node(manifest, "bronze_x")["relation_name"] == "sales.customer_360.bronze.bronze_x"


def test_compiled_code_is_there_without_an_engine(product: Product) -> None:
    product.put("models/bronze_x.sql", "select 1 as id")
    product.put("models/silver_x.sql", INCREMENTAL)
    compiled = node(product.manifest(), "silver_x")["compiled_code"]
    assert compiled.split() == ["select", "id", "from", "sales.customer_360.bronze.bronze_x"]


def test_pyspark_need_not_be_installed(product: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as if it were not there
    product.put("models/gold_x.sql", "select 1 as id")
    assert node(product.manifest(), "gold_x")["compiled_code"] == "select 1 as id"
    assert "pyspark" not in sys.modules


def test_a_query_at_compile_time_gives_no_rows(product: Product) -> None:
    product.put(
        "models/gold_x.sql",
        """
        {% set found = run_query('select distinct kind from t') %}
        select 1 as id
        {% if execute %}{% for kind in found.columns[0].values() %}, '{{ kind }}'{% endfor %}{% endif %}
        {% for row in found or [] %}, '{{ row[0] }}'{% endfor %}
        """,
    )
    assert node(product.manifest(), "gold_x")["compiled_code"].split() == ["select", "1", "as", "id"]


@pytest.mark.parametrize(
    "unknowable",
    [
        "{% set columns = adapter.get_columns_in_relation(ref('bronze_x')) %}",
        "{% if execute %}{% set second = run_query('select 1')[0][0] %}{% endif %}",
        "{% if execute %}{{ exceptions.raise_compiler_error('needs the warehouse') }}{% endif %}",
        "{% call statement('s', fetch_result=true) %}select 1{% endcall %}",
        "{% if execute %}{{ 1 / 0 }}{% endif %}",
    ],
)
def test_a_model_that_needs_an_engine_is_not_followed_and_the_others_are(product: Product, unknowable: str) -> None:
    product.put("models/bronze_x.sql", "select 1 as id")
    product.put("models/silver_x.sql", f"{unknowable} select 1 as id")
    product.put("models/gold_x.sql", "select id from {{ ref('silver_x') }}")
    manifest = product.manifest()
    assert "compiled_code" not in node(manifest, "silver_x")
    assert node(manifest, "gold_x")["compiled_code"] == "select id from sales.customer_360.silver.silver_x"


def test_nothing_is_written_into_the_product_or_printed(
    product: Product, capfd: pytest.CaptureFixture[str]
) -> None:
    product.put("models/gold_x.sql", "{{ log('hello', info=true) }}{{ print('hello') }}select 1 as id")
    product.put("dbt_project.yml", "name: p\nversion: '1.0'\ntarget-path: out\nlog-path: journal\n")
    product.request()
    before, here, environment = files(product.folder), Path.cwd(), dict(os.environ)
    product.manifest()
    assert files(product.folder) == before
    assert (Path.cwd(), dict(os.environ)) == (here, environment)
    assert capfd.readouterr() == ("", "")


def test_work_may_lie_inside_the_product(product: Product) -> None:
    product.work = product.folder / "target" / "floe"
    product.put("models/gold_x.sql", "select 1 as id")
    first, second = product.manifest(), product.manifest()
    assert list(first["nodes"]) == list(second["nodes"]) == ["model.customer_360.gold_x"]


def test_paths_in_the_manifest_are_the_users(product: Product) -> None:
    """Every kind of path of a project below the product, also one that leaves the project but not the product."""
    product.put(
        "transform/dbt_project.yml",
        """
        name: shop
        version: "1.0"
        model-paths: [sql, ../shared]
        seed-paths: [data]
        macro-paths: [jinja]
        snapshot-paths: [history]
        test-paths: [checks]
        analysis-paths: [studies]
        docs-paths: [texts]
        """,
    )
    product.put("transform/sql/gold/gold_x.sql", "select {{ one() }} as id")
    product.put("transform/sql/gold/gold.yml", "models: [{name: gold_x, description: \"{{ doc('gold_x') }}\"}]")
    product.put("shared/silver_x.sql", "select 1 as id")
    product.put("transform/data/bronze_x.csv", "id\n1\n")
    product.put("transform/jinja/one.sql", "{% macro one() %}1{% endmacro %}")
    product.put(
        "transform/history/silver_s.sql",
        "{% snapshot silver_s %}{{ config(unique_key='id', strategy='check', check_cols='all') }}"
        "select 1 as id{% endsnapshot %}",
    )
    product.put("transform/checks/no_rows.sql", "select * from {{ ref('gold_x') }} where id > 1")
    product.put("transform/studies/why.sql", "select 1")
    product.put("transform/texts/docs.md", "{% docs gold_x %}What it is.{% enddocs %}")
    manifest = product.manifest("transform/sql")
    paths = {item["name"]: item["original_file_path"] for item in manifest["nodes"].values()}
    assert paths == {
        "gold_x": "sql/gold/gold_x.sql",
        "silver_x": "../shared/silver_x.sql",
        "bronze_x": "data/bronze_x.csv",
        "silver_s": "history/silver_s.sql",
        "no_rows": "checks/no_rows.sql",
        "why": "studies/why.sql",
    }
    gold = node(manifest, "gold_x")
    assert (gold["description"], gold["compiled_code"]) == ("What it is.", "select 1 as id")


def test_variables_of_the_transform_reach_dbt(product: Product) -> None:
    product.put("models/gold_x.sql", "select {{ var('answer') }} as id")
    assert node(product.manifest(vars={"answer": 42}), "gold_x")["compiled_code"] == "select 42 as id"


def test_a_second_manifest_sees_what_changed(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    product.put("macros/one.sql", "{% macro one() %}1{% endmacro %}")
    product.manifest()
    product.put("models/gold_x.sql", "select {{ two() }} as id")
    product.put("macros/two.sql", "{% macro two() %}2{% endmacro %}")
    product.put("macros/one.sql", "")
    assert node(product.manifest(), "gold_x")["compiled_code"] == "select 2 as id"
