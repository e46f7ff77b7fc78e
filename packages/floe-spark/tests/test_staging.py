"""Spark and dbt in a staging catalog: invisible until published, harmless if never, nothing left behind."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from lab import GOLD, OWN, Lab
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from floe_core.findings import FloeError
from floe_core.transforms import TransformRequest
from floe_dbt.run import execute
from floe_dbt.shadow import make_shadow
from floe_iceberg.publication import RelationKind
from floe_spark.staging import Staging, sweep

# py4j leaves the sockets of threads that ended to the garbage collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

LAYERS = {"bronze_": "bronze", "silver_": "silver", "gold_": "gold"}


@pytest.fixture
def lab(tmp_path: Path, spark: SparkSession) -> Lab:
    """A product with a table of two snapshots and a view, published and its staging gone."""
    made = Lab(tmp_path, spark)
    made.built(
        "create table orders using iceberg as select 1 as id",
        "insert into orders values (2)",
        "create view seen as select * from orders",
    )
    assert made.rows("orders") == [1, 2]
    return made


def time_travel(lab: Lab) -> list[list[int]]:
    """What consumers read in each snapshot of the orders, oldest first; files in `metadata-log` are there too."""
    [orders, seen] = lab.pointers()
    with lab.plugin.open() as catalog:
        metadata = catalog.load_table((*GOLD, "orders")).metadata
    for location in [seen.location, *(entry.metadata_file for entry in metadata.metadata_log)]:
        assert lab.metadata(location), orders
    return [lab.rows("orders", snapshot) for snapshot in lab.history("orders")[1]]


def test_a_published_table_is_as_if_it_had_never_been_staged(lab: Lab) -> None:
    uuid, first = lab.history("orders")
    before = {item.name: item for item in lab.pointers()}
    lab.built(
        "create or replace table orders using iceberg as select 7 as id, 'new' as more",
        "alter table orders rename column more to most",
        "create or replace view seen as select * from orders",
    )
    after = {item.name: item for item in lab.pointers()}
    metadata = lab.metadata(after["orders"].location)
    assert lab.history("orders") == (uuid, [*first, metadata["current-snapshot-id"]])
    assert time_travel(lab) == [[1], [1, 2], [7]]
    assert [entry["metadata-file"] for entry in metadata["metadata-log"]] == [before["orders"].location]
    assert not {"gc.enabled", "write.metadata.delete-after-commit.enabled"} & metadata["properties"].keys()
    assert "_floe" not in json.dumps([metadata, lab.metadata(after["seen"].location)])
    assert not any("_floe" in name for name in lab.files())
    assert not lab.runs[-1].folder.exists()
    lab.built("insert into orders values (8, 'x')")  # Java goes on from what Python wrote
    assert time_travel(lab) == [[1], [1, 2], [7], [7, 8]]


def test_consumers_see_nothing_of_a_blocked_run_and_a_sweep_removes_it_exactly(lab: Lab) -> None:
    before, files = lab.pointers(), lab.files()
    staging = lab.run(
        "create or replace table orders using iceberg as select 7 as id, 'new' as more",
        "insert into orders values (8, 'x')",
        "delete from orders where id = 7",
        "create table fresh using iceberg as select 1 as id",
        "create table fresh__dbt_tmp using iceberg as select 1 as id",
        "drop table fresh__dbt_tmp",
        "create or replace view seen as select 1 as other",
    )
    assert [change.after.name for change in staging.publishable()] == ["fresh", "orders", "seen"]
    assert lab.pointers() == before
    assert time_travel(lab) == [[1], [1, 2]]
    added = lab.files() - files
    removed = sweep(lab.plugin, staging.namespace, [staging.folder])
    assert lab.files() == files
    assert len(removed) == len([name for name in added if not name.endswith(".crc")])
    assert not staging.folder.exists()
    assert time_travel(lab) == [[1], [1, 2]]


def test_what_a_run_destroys_is_its_own(lab: Lab) -> None:
    """Each of these would break the real table or view, had the run been given their own metadata files."""
    lab.built(
        "alter table orders set tblproperties "
        "('write.metadata.delete-after-commit.enabled'='true', 'write.metadata.previous-versions-max'='1')"
    )
    before = lab.pointers()
    staging = lab.run(
        "insert into orders values (3)", "insert into orders values (4)", "insert into orders values (5)"
    )
    session = lab.session(staging)
    for statement in (
        "call floe.system.expire_snapshots('sales.web_shop.gold.orders', now(), 1)",
        "drop table orders purge",
    ):
        with pytest.raises((PySparkException, Py4JJavaError), match="GC is disabled"):
            session.sql(statement)
    session.sql("drop table orders")
    session.sql("drop view seen")
    with pytest.raises(FloeError) as caught:
        staging.publishable()
    assert [item.code for item in caught.value.findings] == ["FLOE-E731"] * 2
    assert lab.pointers() == before
    assert time_travel(lab) == [[1], [1, 2]]
    sweep(lab.plugin, staging.namespace, [staging.folder])
    assert time_travel(lab) == [[1], [1, 2]]


MODELS = {
    "dbt_project.yml": "name: web_shop\nversion: '1.0'\nprofile: floe\n",
    "models/silver_orders.sql": """\
        {{ config(materialized='incremental', unique_key='id', incremental_strategy='merge',
                  on_schema_change='append_new_columns') }}
        select * from {{ ref('bronze_orders') }}
        {% if is_incremental() %} where id > 1 {% endif %}
    """,
    "models/gold_total.sql": """\
        {{ config(materialized='table') }} select count(*) as n from {{ ref('silver_orders') }}
    """,
    "models/gold_first.sql": "{{ config(materialized='table') }} select 1 as id",
    "models/gold_second.sql": "{{ config(materialized='view') }} select * from {{ ref('gold_total') }}",
    "snapshots/silver_history.sql": """\
        {% snapshot silver_history %}
        {{ config(unique_key='id', strategy='check', check_cols=['who']) }}
        select * from {{ ref('bronze_orders') }}
        {% endsnapshot %}
    """,
}


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text), encoding="utf-8")


def dbt(lab: Lab, monkeypatch: pytest.MonkeyPatch, folder: Path, **options: Any) -> Staging:
    """A run of dbt, checked only for having worked; dbt-spark takes the session that pyspark remembers."""
    staging = lab.stage()
    monkeypatch.setattr(SparkSession, "_instantiatedSession", lab.session(staging))
    request = TransformRequest(folder, "models", folder / "target", layers=LAYERS, namespace=str(OWN))
    told = {"sales.web_shop.gold.gold_total": f"{lab.plugin.warehouse}/told/total"}
    outcome = execute(make_shadow(request), warehouse=lab.plugin.warehouse, locations=told, **options)
    assert (outcome.findings, outcome.success) == ((), True)
    return staging


def state(lab: Lab) -> dict[str, tuple[str, str, int]]:
    """Each relation of the product: what it is, its identity and how many snapshots it has."""
    found = {}
    for pointer in lab.pointers(*(OWN.layer(layer) for layer in ("bronze", "silver", "gold"))):
        metadata = lab.metadata(pointer.location)
        assert "_floe" not in json.dumps(metadata)
        identity = metadata["table-uuid"] if pointer.kind is RelationKind.TABLE else "view"
        found[pointer.name] = (str(pointer.kind), identity, len(metadata.get("snapshots", ())))
    return found


def test_everything_that_dbt_builds_is_published_with_its_history(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab, folder = Lab(tmp_path, spark), tmp_path / "shop"
    put(folder, {**MODELS, "seeds/bronze_orders.csv": "id,who\n1,anna\n2,ben\n"})
    staging = dbt(lab, monkeypatch, folder)
    assert state(lab) == {}
    lab.publish(staging)
    staging.clean()
    first = state(lab)
    assert {name: (kind, count) for name, (kind, _, count) in first.items()} == {
        "bronze_orders": ("table", 1),
        "silver_orders": ("table", 1),
        "silver_history": ("table", 1),
        "gold_total": ("table", 1),
        "gold_first": ("table", 1),
        "gold_second": ("view", 0),
    }

    put(folder, {"seeds/bronze_orders.csv": "id,who,more\n1,anne,x\n2,ben,y\n3,cleo,z\n"})
    put(folder, {"models/gold_first.sql": "{{ config(materialized='view') }} select 2 as id"})
    put(folder, {"models/gold_second.sql": "{{ config(materialized='table') }} select 5 as id"})
    blocked = dbt(lab, monkeypatch, folder)
    assert state(lab) == first
    sweep(lab.plugin, OWN, [blocked.folder])

    for options, count in (({}, 2), ({"full_refresh": True}, 3)):
        staging = dbt(lab, monkeypatch, folder, **options)
        lab.publish(staging)
        staging.clean()
        now = state(lab)
        for name in ("bronze_orders", "silver_orders", "silver_history", "gold_total"):
            assert now[name] == ("table", first[name][1], count), name
        assert (now["gold_first"][0], now["gold_second"][0]) == ("view", "table")
    assert now["gold_second"][2] == 2
    assert lab.rows("gold_second") == [5]
    with lab.plugin.open() as catalog:
        assert catalog.load_table("sales.web_shop.silver.silver_orders").scan().to_arrow()["more"].to_pylist()
        assert catalog.load_table("sales.web_shop.silver.silver_history").scan().count() == 4
        total, second = (catalog.load_table((*GOLD, name)).location() for name in ("gold_total", "gold_second"))
    assert total.endswith(".floe/warehouse/told/total")
    assert second.endswith(".floe/warehouse/sales/gold/web_shop/gold_second")
    assert not any("_floe" in name or "__dbt_tmp" in name for name in lab.files())
