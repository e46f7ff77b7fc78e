"""`floe run` as a person uses it: processes of their own, a real Spark, a real catalog, read back by PyIceberg."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from filelock import FileLock
from shop import Shop, environment, tables

from floe_core.artifacts import FILE
from floe_core.compile import compile_project
from floe_core.findings import FloeError
from floe_core.identity import ProductMetadata
from floe_iceberg import IcebergCatalogPlugin
from floe_spark.product import prepare

MORE = """\
    id,who,amount,at
    1,anna,1.5,2026-01-01 10:00:00
    2,ben,7.5,2026-01-05 10:00:00
    3,cleo,3.5,2026-01-03 10:00:00
"""

LENIENT = "governance: {quality_gates: {block_on_failure: false, minimum_test_coverage: 0}}"
PORT = """\
output_ports:
  - name: revenue
    table: gold_revenue
    schema: [{name: who, type: string, classification: pii}, {name: revenue, type: double}]
    classification: CONFIDENTIAL
    access: {default: deny, grants: [analysts]}
"""
CONTRACT = """\
    apiVersion: v3.1.0
    kind: DataContract
    id: revenue
    name: revenue
    version: 1.0.0
    status: active
    team: {name: a, members: [{username: a@acme.com, role: owner}]}
    schema:
      - name: gold_revenue
        properties:
          - {name: who, logicalType: string, required: true}
          - {name: revenue, logicalType: number, physicalType: double, logicalTypeOptions: {maximum: 2}}
"""


@pytest.fixture
def shop(tmp_path: Path, real_jars: tuple[Path, ...]) -> Shop:
    assert real_jars
    return Shop.open(tmp_path)


def catalog_of(shop: Shop) -> IcebergCatalogPlugin:  # type: ignore[type-arg]  # whichever config it has
    return prepare(shop.home / "shop").catalog


def uuids(shop: Shop) -> dict[str, str]:
    """The identity of each table: another one means that it was dropped and made again."""
    with catalog_of(shop).open() as catalog:
        spaces = catalog.list_namespaces(("sales", "web_shop"))
        found = [catalog.load_table(name) for space in spaces for name in catalog.list_tables(space)]
        return {table.name()[-1]: str(table.metadata.table_uuid) for table in found}


def pointers(shop: Shop) -> dict[str, str]:
    """Where every table and view of the product stands for its consumers."""
    plugin = catalog_of(shop)
    layers = [("sales", "web_shop", layer) for layer in ("bronze", "silver", "gold")]
    return {str(pointer): pointer.location for pointer in plugin.pointers(layers)}


def files_of(shop: Shop) -> set[str]:
    """The data files in the warehouse."""
    warehouse = shop.home / ".floe" / "warehouse"
    return {path.as_uri() for path in warehouse.rglob("*.parquet")}


def referenced(shop: Shop) -> set[str]:
    """The data files that some snapshot of some table knows."""
    with catalog_of(shop).open() as catalog:
        found: set[str] = set()
        for space in catalog.list_namespaces(("sales", "web_shop")):
            for name in catalog.list_tables(space):
                table = catalog.load_table(name)
                for snapshot in table.metadata.snapshots:
                    files = table.scan(snapshot_id=snapshot.snapshot_id).plan_files()
                    found |= {Path(task.file.file_path.removeprefix("file:")).as_uri() for task in files}
        return found


def promise(shop: Shop, enforcement: str) -> None:
    """A contract for revenue, which the second order breaks."""
    shop.edit(
        "manifest.yaml",
        "pattern: medallion}",
        f"pattern: medallion}}\ndata_contracts: {{enforcement: {enforcement}}}",
    )
    shop.edit("shop/floe.yaml", "domain: sales}", "domain: sales, owner: a@acme.com}")
    shop.put("shop/contracts/revenue.yaml", CONTRACT)


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_history_is_kept_over_runs_and_full_refresh(shop: Shop) -> None:
    """The numbers, and why.

    The first run finds two orders. Before the second, order 2 has changed and order 3 is new: the incremental model
    merges one and inserts the other, as both are later than all it has; the snapshot ends the old version of order
    2 and has 1, 2 (old), 2 and 3. `--full-refresh` builds the incremental model from the seed again, three rows,
    and never touches a snapshot. Every build is one more snapshot of the same table: nothing is dropped.
    """
    code, first = shop.run()
    assert (code, first["findings"], first["errors"]) == (0, [], [])
    assert tables(first) == {
        "bronze_orders": (2, 1),
        "silver_orders": (2, 1),
        "silver_history": (2, 1),
        "gold_revenue": (2, 1),
    }
    identities = uuids(shop)

    shop.put("shop/seeds/bronze_orders.csv", MORE)
    code, second = shop.run()
    assert code == 0
    assert tables(second) == {
        "bronze_orders": (3, 2),
        "silver_orders": (3, 2),
        "silver_history": (4, 2),
        "gold_revenue": (3, 2),
    }

    code, refreshed = shop.run("--full-refresh")
    assert code == 0
    rows = {name: rows for name, (rows, _) in tables(refreshed).items()}
    assert rows == {"bronze_orders": 3, "silver_orders": 3, "silver_history": 4, "gold_revenue": 3}
    assert all(snapshots >= 2 for _, snapshots in tables(refreshed).values())
    assert uuids(shop) == identities
    with catalog_of(shop).open() as catalog:
        table = catalog.load_table("sales.web_shop.silver.silver_orders")
        [oldest, *_] = sorted(table.metadata.snapshots, key=lambda snapshot: snapshot.timestamp_ms)
        assert table.scan(snapshot_id=oldest.snapshot_id).count() == 2  # the first run can still be read
        assert table.location().endswith(".floe/warehouse/sales/silver/web_shop/silver_orders")


def test_a_failing_model_publishes_nothing_and_a_retry_builds_the_rest(shop: Shop) -> None:
    gold = shop.home / "shop" / "models" / "gold_revenue.sql"
    good = gold.read_text(encoding="utf-8")
    gold.write_text(good.replace("sum(amount)", "sum(amuont)"), encoding="utf-8")
    code, report = shop.run()
    [finding] = report["findings"]
    assert (code, finding["code"], finding["line"]) == (1, "FLOE-E710", 4)
    assert finding["path"].endswith("models/gold_revenue.sql")
    assert "amuont" in finding["message"]
    assert tables(report) == {}
    assert shop.record["publication"] == {
        "status": "withheld",
        "reasons": ["failed: gold_revenue"],
        "relations": [],
    }
    [left] = shop.leftovers
    assert left == report["summary"]["run_id"]
    skipped = [node["id"] for node in report["summary"]["nodes"] if node["status"] == "skipped"]
    assert skipped == ["model.web_shop.gold_big"]

    gold.write_text(good, encoding="utf-8")
    code, report = shop.run("--retry")
    built = [node["id"] for node in report["summary"]["nodes"]]
    assert (code, built) == (0, ["model.web_shop.gold_revenue", "model.web_shop.gold_big"])
    assert {name: rows for name, (rows, _) in tables(report).items()} == {
        "bronze_orders": 2,
        "silver_orders": 2,
        "silver_history": 2,
        "gold_revenue": 2,
    }
    assert shop.record["options"]["retry_of"] == left
    assert shop.leftovers == []
    code, report = shop.run("--retry")
    assert (code, [item["code"] for item in report["errors"]]) == (3, ["FLOE-E721"])


def test_a_view_becomes_a_table(shop: Shop) -> None:
    assert shop.run()[0] == 0
    shop.put("shop/models/gold_big.sql", "{{ config(materialized='table') }} select 1 as id")
    code, report = shop.run("-s", "gold_big")
    assert (code, tables(report)["gold_big"]) == (0, (1, 1))
    assert [item["name"] for item in shop.record["publication"]["relations"]] == ["sales.web_shop.gold.gold_big"]


def test_a_failing_test_withholds_everything_unless_the_platform_only_wants_to_know(shop: Shop) -> None:
    shop.put("shop/tests/cheap.sql", "select * from {{ ref('silver_orders') }} where amount > 2")
    code, report = shop.run()
    assert (code, [item["code"] for item in report["findings"]]) == (1, ["FLOE-E711"])
    assert tables(report) == {}

    shop.edit("manifest.yaml", "pattern: medallion}", "pattern: medallion}\n" + LENIENT)
    code, report = shop.run()
    assert (code, [item["severity"] for item in report["findings"]]) == (0, ["warning"])
    assert tables(report)["gold_revenue"] == (2, 1)
    assert [node["status"] for node in report["summary"]["nodes"] if "cheap" in node["id"]] == ["warn"]

    code, report = shop.run("--sweep")
    assert (code, report["summary"]["runs"]) == (0, 1)
    assert report["summary"]["files"] > 10, "data, manifests and metadata of the run that was withheld"
    assert shop.leftovers == []
    assert files_of(shop) == referenced(shop)


def test_a_broken_contract_withholds_everything_or_is_only_said(shop: Shop) -> None:
    promise(shop, "block")
    code, report = shop.run()
    [finding] = report["findings"]
    assert (code, finding["code"], finding["severity"]) == (1, "FLOE-E740", "error")
    assert finding["message"] == "maximum of gold_revenue.revenue is 2.5, mustBeLessOrEqualTo 2 (maximum)"
    assert (tables(report), shop.record["publication"]["status"]) == ({}, "withheld")
    [contract] = shop.record["contracts"]
    assert (contract["name"], contract["passed"]) == ("revenue", False)
    statuses = {(item["metric"], item["column"]): item["status"] for item in shop.record["checks"]}
    assert statuses == {
        ("nullValues", "who"): "passed",
        ("maximum", "revenue"): "failed",
    }

    shop.edit("manifest.yaml", "enforcement: block", "enforcement: alert_only")
    code, report = shop.run()
    assert (code, [item["severity"] for item in report["findings"]]) == (0, ["warning"])
    assert tables(report)["gold_revenue"] == (2, 1)

    shop.edit("shop/contracts/revenue.yaml", "maximum: 2}", "maximum: 3}")
    shop.edit("manifest.yaml", "enforcement: alert_only", "enforcement: block")
    code, report = shop.run("--retry")
    assert (code, [item["code"] for item in report["errors"]]) == (3, ["FLOE-E721"]), "the last one was published"


def test_schema_changes_that_the_platform_does_not_accept_are_withheld(shop: Shop) -> None:
    shop.edit(
        "manifest.yaml", "pattern: medallion}", "pattern: medallion}\ngovernance: {schema_evolution: additive}"
    )
    assert shop.run()[0] == 0
    shop.edit("shop/models/gold_revenue.sql", "as revenue", "as revenue,\n    count(*) as orders")
    code, report = shop.run()
    assert (code, report["findings"]) == (0, [])

    shop.edit("shop/models/gold_revenue.sql", "sum(amount)", "cast(sum(amount) as string)")
    shop.edit("shop/models/gold_big.sql", "revenue > 2", "orders > 0")
    before = pointers(shop)
    code, report = shop.run()
    found = {(item["code"], item["message"].partition(":")[0]) for item in report["findings"]}
    assert code == 1
    assert found == {
        ("FLOE-E750", "sales.web_shop.gold.gold_revenue.revenue"),
        ("FLOE-E750", "sales.web_shop.gold.gold_big.revenue"),
    }
    assert pointers(shop) == before


def test_classified_columns_are_marked_and_access_that_nobody_enforces_is_said(shop: Shop) -> None:
    shop.edit("shop/floe.yaml", "path: models}]", "path: models}]\n" + PORT)
    code, report = shop.run()
    assert (code, [item["code"] for item in report["findings"]]) == (0, ["FLOE-E751"])
    assert report["findings"][0]["message"].endswith("not enforceable here: the catalog plugin grants nothing")
    with catalog_of(shop).open() as catalog:
        table = catalog.load_table("sales.web_shop.gold.gold_revenue")
        assert table.properties["floe.classification.who"] == "pii"
        assert table.schema().find_field("who").doc == "[classified: pii]"
        assert "gc.enabled" not in table.properties


def test_artifacts_that_do_not_match_their_sources_are_refused(shop: Shop) -> None:
    assert compile_project(shop.home / "shop", environment()).written.path
    kept = shop.home / "kept.json"
    kept.write_bytes((shop.home / "shop" / FILE).read_bytes())
    shop.edit("shop/models/gold_big.sql", "revenue > 2", "revenue > 1")
    code, report = shop.run("--artifacts", str(kept))
    assert (code, [item["code"] for item in report["errors"]]) == (2, ["FLOE-E904"])
    shop.edit("shop/models/gold_big.sql", "revenue > 1", "revenue > 2")
    shop.edit("manifest.yaml", "name: acme", "name: other")
    code, report = shop.run("--artifacts", str(kept))
    assert (code, report["errors"][0]["message"]) == (
        2,
        "../manifest.yaml has changed since the artifacts were compiled",
    )


def test_a_namespace_of_somebody_else_is_never_written_to(shop: Shop) -> None:
    theirs = ProductMetadata("web-shop", "sales", "them@acme.com", "github.com/acme/theirs", "1.0")
    catalog_of(shop).register_product_namespace("sales.web_shop", theirs)
    shop.edit(
        "shop/floe.yaml", "domain: sales}", "domain: sales, owner: a@acme.com, repository: github.com/acme/shop}"
    )
    code, report = shop.run()
    assert (code, [item["code"] for item in report["findings"]]) == (1, ["FLOE-E601"])
    assert tables(report) == {}


def test_a_run_that_was_killed_can_simply_be_run_again(shop: Shop) -> None:
    with subprocess.Popen(shop.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as run:
        assert run.stderr
        while "silver_orders" not in (line := run.stderr.readline()):
            assert line, "the run ended before its first model"
        run.kill()
        run.communicate()
    assert pointers(shop) == {}
    code, report = shop.run()
    assert (code, report["findings"]) == (0, [])
    assert tables(report)["gold_revenue"] == (2, 1)
    assert len(shop.leftovers) == 1
    assert shop.run("--sweep")[0] == 0
    assert shop.leftovers == []
    orphans = {Path(each).parents[1].name for each in files_of(shop) - referenced(shop)}
    assert not {"bronze_orders", "silver_orders"} & orphans, "what the killed run had committed is gone"


def test_an_interrupt_ends_spark_too_and_the_next_run_just_works(shop: Shop) -> None:
    with subprocess.Popen(shop.command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8") as run:
        assert run.stderr
        while "bronze_orders" not in (line := run.stderr.readline()):
            assert line, "the run ended before its first model"
        [java] = [pid for pid in children(run.pid) if Path(f"/proc/{pid}/comm").read_text() == "java\n"]
        run.send_signal(signal.SIGINT)
        run.communicate()
    assert run.returncode == 130
    assert not Path(f"/proc/{java}").exists()
    code, report = shop.run()
    assert (code, report["findings"]) == (0, [])
    assert tables(report)["gold_revenue"][0] == 2


def test_a_second_run_is_refused_with_the_id_of_the_first(shop: Shop) -> None:
    locks = shop.home / ".floe" / "locks"
    locks.mkdir(parents=True)
    (locks / "sales.web_shop.run").write_text("run-20260101-000000-abcdef")
    with FileLock(locks / "sales.web_shop.lock"):
        code, report = shop.run()
    [error] = report["errors"]
    assert (code, error["code"]) == (3, "FLOE-E720")
    assert error["message"] == "run-20260101-000000-abcdef is still running"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_said_and_breaks_nothing(shop: Shop) -> None:
    warehouse = shop.home / ".floe" / "warehouse"
    warehouse.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", warehouse], check=True)
    try:
        code, report = shop.run()
        assert code == 1
        assert {item["code"] for item in report["findings"]} == {"FLOE-E710"}
        assert all("No space left on device" in item["message"] for item in report["findings"])
    finally:
        subprocess.run(["umount", warehouse], check=True)


def test_a_schema_with_a_catalog_in_front_is_refused_before_spark_starts(shop: Shop) -> None:
    shop.put("shop/models/gold_big.sql", "{{ config(schema='floe.sales.web_shop.gold') }}\nselect 1 as id")
    code, report = shop.run()
    [finding] = [item for item in report["findings"] if item["severity"] == "error"]
    assert (code, finding["code"], finding["line"]) == (1, "FLOE-E304", 1)
    assert finding["path"].endswith("models/gold_big.sql")


def test_a_platform_with_another_engine_is_not_run_here(shop: Shop) -> None:
    manifest = shop.home / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("type: spark, config", "type: duckdb, config"))
    assert compile_project(shop.home / "shop").findings == ()
    with pytest.raises(FloeError, match="the platform's compute is duckdb") as caught:
        prepare(shop.home / "shop")
    assert [item.code for item in caught.value.findings] == ["FLOE-E801"]
