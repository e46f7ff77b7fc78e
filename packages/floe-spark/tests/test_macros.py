"""dbt on Spark and Iceberg with floe's macros: what is built, what is kept, what a failure says."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from pyspark.sql import SparkSession

from floe_core.transforms import TransformRequest
from floe_dbt.events import Event, NodeFinished, NodeStarted, Status
from floe_dbt.manifest import parse
from floe_dbt.run import RunOutcome, execute
from floe_dbt.shadow import Shadow, make_shadow

# py4j leaves the sockets of threads that ended to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

LAYERS = {"bronze_": "bronze", "silver_": "silver", "gold_": "gold"}
ORDERS = "id,who,amount,at\n1,anna,1.5,2024-01-01 10:00:00\n2,ben,,2024-01-02 10:00:00\n"


@dataclass
class Shop:
    """A product on a catalog, in a namespace of its own."""

    folder: Path
    spark: SparkSession
    namespace: str

    def put(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"), "utf-8")

    def shadow(self, **settings: Any) -> Shadow:
        settings = {"layers": LAYERS, "namespace": self.namespace, **settings}
        return make_shadow(TransformRequest(self.folder, "models", self.folder / "target", **settings))

    def run(self, **options: Any) -> RunOutcome:
        return execute(self.shadow(), **options)

    def built(self, **options: Any) -> None:
        outcome = self.run(**options)
        assert (outcome.findings, outcome.success) == ((), True)

    def rows(self, table: str) -> int:
        return self.spark.table(f"{self.namespace}.{table}").count()

    def history(self, table: str) -> tuple[str, int]:
        """The table's identity and how many snapshots it has."""
        name = f"{self.namespace}.{table}"
        util = self.spark._jvm.org.apache.iceberg.spark.Spark3Util  # type: ignore[union-attr]
        uuid = str(util.loadIcebergTable(self.spark._jsparkSession, name).uuid())
        return uuid, self.spark.table(f"{name}.snapshots").count()

    def shown(self, kind: str, layer: str) -> list[str]:
        found = self.spark.sql(f"show {kind} in {layer}").where("not isTemporary").collect()
        return sorted(row[1] for row in found)


@pytest.fixture
def shop(tmp_path: Path, spark: SparkSession, request: pytest.FixtureRequest) -> Shop:
    made = Shop(tmp_path, spark, f"sales.{re.sub('[^a-z0-9]+', '_', request.node.name.lower())}")
    made.put("models/silver_ids.sql", "select id from {{ ref('bronze_orders') }}")
    made.put("seeds/bronze_orders.csv", ORDERS)
    return made


def test_a_seed_arrives_as_written(shop: Shop) -> None:
    shop.put(
        "seeds/bronze_odd.csv",
        "text,number,day,flag\nO'Brien,1.5,2024-01-01,true\n"
        '"a\\b, ""c"" %s {{ x }}",,,\nNone,-2,2024-01-03,false\n',
    )
    shop.put("seeds/bronze_none.csv", "a,b\n")
    shop.built(command="seed")
    odd = shop.spark.table(f"{shop.namespace}.bronze.bronze_odd")
    assert [tuple(row) for row in odd.selectExpr("text", "number", "string(day)", "flag").collect()] == [
        ("O'Brien", 1.5, "2024-01-01", True),
        ('a\\b, "c" %s {{ x }}', None, None, None),
        ("None", -2.0, "2024-01-03", False),
    ]
    assert shop.rows("bronze.bronze_none") == 0


@pytest.mark.parametrize("full_refresh", [False, True])
def test_a_seed_that_runs_again_keeps_its_history(shop: Shop, full_refresh: bool) -> None:
    shop.built(command="seed")
    uuid, _ = shop.history("bronze.bronze_orders")
    shop.put("seeds/bronze_orders.csv", f"{ORDERS}3,carl,2,2024-01-03 10:00:00\n")
    shop.built(command="seed", full_refresh=full_refresh)
    assert shop.rows("bronze.bronze_orders") == 3
    assert shop.history("bronze.bronze_orders") == (uuid, 2)  # one commit for each run


def test_incremental_models_keep_their_history_also_through_a_full_refresh(shop: Shop) -> None:
    model = """
        {{ config(materialized='incremental', incremental_strategy='STRATEGY', EXTRA) }}
        select id, who from {{ ref('bronze_orders') }} {% if is_incremental() %} where id >= 2 {% endif %}
        """
    for strategy, extra in {
        "merge": "unique_key='id'",
        "append": "on_schema_change='append_new_columns'",
        "insert_overwrite": "partition_by=['id']",
    }.items():
        shop.put(f"models/silver_{strategy}.sql", model.replace("STRATEGY", strategy).replace("EXTRA", extra))
    tables = ("silver.silver_merge", "silver.silver_append", "silver.silver_insert_overwrite")

    shop.built()
    first = {table: shop.history(table)[0] for table in tables}
    assert [shop.rows(table) for table in tables] == [2, 2, 2]

    shop.put("seeds/bronze_orders.csv", f"{ORDERS}3,carl,2,2024-01-03 10:00:00\n")
    shop.built()
    # ids 2 and 3 come again: merge updates 2, append has it twice, insert_overwrite replaces its partition
    assert [shop.rows(table) for table in tables] == [3, 4, 3]

    shop.built(full_refresh=True)
    assert [shop.rows(table) for table in tables] == [3, 3, 3]
    assert {table: shop.history(table) for table in tables} == {table: (first[table], 3) for table in tables}


def test_a_snapshot_keeps_every_version_and_leaves_no_view(shop: Shop) -> None:
    shop.put(
        "snapshots/silver_history.sql",
        """
        {% snapshot silver_history %}
        {{ config(unique_key='id', strategy='check', check_cols=['who']) }}
        select * from {{ ref('bronze_orders') }}
        {% endsnapshot %}
        """,
    )
    shop.built()
    shop.put("seeds/bronze_orders.csv", ORDERS.replace("anna", "anne"))
    shop.built()
    shop.built(full_refresh=True)
    history = shop.spark.table(f"{shop.namespace}.silver.silver_history")
    versions = history.where("id = 1").orderBy("dbt_valid_from").selectExpr("who", "dbt_valid_to is null").collect()
    assert [tuple(row) for row in versions] == [("anna", False), ("anne", True)]
    assert history.count() == 3
    for place in (shop.namespace, f"{shop.namespace}.silver"):
        assert shop.shown("views", place) == (["silver_ids"] if place.endswith("silver") else [])
    assert "__dbt_tmp" not in str(shop.spark.sql("show namespaces in sales").collect())


def test_a_model_may_change_between_view_table_and_incremental(shop: Shop) -> None:
    place = f"{shop.namespace}.silver"
    for kind in ("view", "table", "incremental", "view", "incremental", "table", "view"):
        shop.put("models/silver_ids.sql", f"{{{{ config(materialized='{kind}') }}}} select 1 as id")
        shop.built(select=["silver_ids"])
        assert shop.shown("views" if kind == "view" else "tables", place) == ["silver_ids"]
        assert shop.shown("tables" if kind == "view" else "views", place) == []


def test_a_table_that_is_built_again_keeps_its_history(shop: Shop) -> None:
    shop.put("models/gold_x.sql", "{{ config(materialized='table') }} select 1 as id")
    shop.built(select=["gold_x"])
    uuid, _ = shop.history("gold.gold_x")
    shop.put("models/gold_x.sql", "{{ config(materialized='table') }} select 1 as id, 'new' as more")
    shop.built(select=["gold_x"], full_refresh=True)
    assert shop.history("gold.gold_x") == (uuid, 2)


def test_two_tables_of_one_name_in_two_layers_do_not_meet(shop: Shop) -> None:
    for layer, number in (("silver", 1), ("gold", 2)):
        text = f"{{{{ config(materialized='incremental', alias='orders') }}}} select {number} as id"
        shop.put(f"models/{layer}_orders.sql", text)
    for _ in range(2):
        shop.built(select=["silver_orders", "gold_orders"])
    for layer, number in (("silver", 1), ("gold", 2)):
        found = shop.spark.table(f"{shop.namespace}.{layer}.orders").collect()
        assert [row.id for row in found] == [number, number]


def test_flat_names_work_too(shop: Shop) -> None:
    shop.put("models/gold_x.sql", "{{ config(materialized='incremental') }} select 1 as id")
    for _ in range(2):
        assert execute(shop.shadow(nested=False), select=["gold_x"]).findings == ()
    flat = f"{shop.namespace.replace('.', '__')}__gold.gold_x"
    assert shop.spark.table(flat).count() == 2


FAILURES = {
    "unknown column": ("select id,\n  nope\nfrom {{ ref('silver_ids') }}", 3, "`nope` cannot be resolved"),
    "syntax": ("select id\nfrom {{ ref('silver_ids') }}\nwhere )", 4, "PARSE_SYNTAX_ERROR"),
    "beside a ref": ("select id\nfrom {{ ref('silver_ids') }} where )", 3, "PARSE_SYNTAX_ERROR"),
    "missing table": ("select id\nfrom no.such.table_here", 3, "TABLE_OR_VIEW_NOT_FOUND"),
    "while running": ("select cast(raise_error('stop here') as int) as id", 1, "stop here"),
    "inside Java": ("select raise_error('no type') as id", 1, "java.lang.IllegalStateException: Invalid schema"),
}


def test_a_failing_model_is_named_with_its_line_and_what_follows_is_skipped(
    shop: Shop, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, (sql, _, _) in FAILURES.items():
        text = f"{{{{ config(materialized='table') }}}}\n{sql}"
        shop.put(f"models/gold_{name.lower().replace(' ', '_')}.sql", text)
    shop.put("models/gold_after.sql", "select * from {{ ref('gold_syntax') }}")
    shop.built(select=["bronze_orders", "silver_ids"])
    capfd.readouterr()
    outcome = shop.run(command="run", exclude=["silver_ids"])
    found = {Path(item.path).stem: item for item in outcome.findings}
    for name, (_, line, message) in FAILURES.items():
        finding = found.pop(f"gold_{name.lower().replace(' ', '_')}")
        assert (finding.code, finding.line) == ("FLOE-E710", line), name
        assert message in finding.message
        assert "\n" not in finding.message
        assert "SubqueryAlias" not in finding.message
        assert "org.apache" not in finding.message
    assert found == {}
    assert {node.name: node.status for node in outcome.nodes}["gold_after"] is Status.SKIPPED
    assert capfd.readouterr() == ("", "")


def test_failing_tests_warnings_hooks_and_python_models_have_codes(shop: Shop) -> None:
    shop.put(
        "models/models.yml",
        """
        models:
          - name: silver_ids
            columns:
              - name: id
                data_tests:
                  - accepted_values: {arguments: {values: [1]}}
                  - accepted_values: {name: only_two, arguments: {values: [2]}, config: {severity: warn}}
        """,
    )
    shop.put("models/gold_python.py", "def model(dbt, session):\n    return dbt.ref('bronze_orders')\n")
    shop.put("tests/none.sql", "select * from {{ ref('silver_ids') }}")
    outcome = shop.run()
    assert sorted(
        (item.code, item.severity.value, Path(item.path).name, item.line) for item in outcome.findings
    ) == [
        ("FLOE-E711", "error", "models.yml", 4),
        ("FLOE-E711", "error", "none.sql", 1),
        ("FLOE-E711", "warning", "models.yml", 4),
        ("FLOE-E712", "error", "gold_python.py", 1),
    ]
    assert {node.name: node.failures for node in outcome.nodes if node.name == "none"} == {"none": 2}


def test_a_failing_hook_stops_the_run(shop: Shop) -> None:
    shop.put("dbt_project.yml", "name: p\nversion: '1.0'\non-run-start: select no_such_function()\n")
    outcome = shop.run()
    assert not outcome.success
    assert {item.code for item in outcome.findings} == {"FLOE-E713"}


def test_parsing_happens_once_in_a_thread_and_events_come_in_order(shop: Shop) -> None:
    shadow = shop.shadow()
    with ThreadPoolExecutor() as pool:
        manifest = pool.submit(parse, shadow).result()
    events: list[Event] = []
    outcome = execute(shadow, manifest=manifest, on_event=events.append, threads=1)
    assert [(type(event), event.name) for event in events] == [
        (NodeStarted, "bronze_orders"),
        (NodeFinished, "bronze_orders"),
        (NodeStarted, "silver_ids"),
        (NodeFinished, "silver_ids"),
    ]
    assert [node.kind for node in outcome.nodes] == ["seed", "model"]
