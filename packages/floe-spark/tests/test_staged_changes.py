"""What may be published of a staging, what is refused, and what nobody would notice; without Spark."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from lab import GOLD, OTHER, PLACE, Lab
from pyiceberg.catalog import Catalog

from floe_catalog_sql import SqlCatalogPlugin
from floe_core.findings import FloeError
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_spark.staging import Staging, sweep

PEOPLE = (*OTHER.parts, "gold")
ORDERS, STAFF = (*GOLD, "orders"), (*PEOPLE, "staff")
DELETES = "write.metadata.delete-after-commit.enabled"
GUARD = {"gc.enabled": "false", DELETES: "false"}


def ids(*numbers: int) -> pa.Table:
    return pa.table({"id": pa.array(numbers, pa.int64())})


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """The product has orders in two snapshots; another product has staff."""
    made = Lab(tmp_path)
    with made.plugin.open() as catalog:
        for identifier in (ORDERS, STAFF):
            catalog.create_namespace(identifier[:-1])
            table = catalog.create_table(identifier, ids().schema)
            table.append(ids(1))
            table.append(ids(2))
    return made


def views(lab: Lab, *names: str) -> None:
    """Views that PyIceberg cannot make, as Spark writes them."""
    for name in names:
        location = lab.home / ".floe" / "warehouse" / f"{name}.metadata.json"
        location.write_text(json.dumps(view("select 1 as id")), encoding="utf-8")
        change = Change(None, Pointer(GOLD, name, RelationKind.VIEW, location.as_uri()))
        lab.plugin.publish([change], lab.home / "journal.json")


def view(sql: str, version: int = 1) -> dict[str, Any]:
    told = {"type": "sql", "sql": sql, "dialect": "spark"}
    says = {
        "version-id": version,
        "timestamp-ms": version,
        "schema-id": 0,
        "summary": {},
        "representations": [told],
        "default-namespace": ["sales"],
    }
    return {
        "view-uuid": "5fd1e8a0-0000-4000-8000-000000000000",
        "format-version": 1,
        "location": "file:///nowhere",
        "properties": {},
        "schemas": [{"schema-id": 0, "type": "struct", "fields": []}],
        "current-version-id": version,
        "versions": [says],
        "version-log": [{"version-id": version, "timestamp-ms": version}],
    }


def point(staging: Staging, name: str, kind: str, metadata: dict[str, Any]) -> None:
    """What Spark would do: write a metadata file, and point to it."""
    file = staging.folder / f"00001-{name}-{len(metadata)}.metadata.json"
    file.write_text(json.dumps(metadata), encoding="utf-8")
    with closing(sqlite3.connect(staging.database)) as connection, connection:
        connection.execute(
            "INSERT OR REPLACE INTO iceberg_tables VALUES ('floe', ?, ?, ?, NULL, ?)",
            (".".join(GOLD), name, file.as_uri(), kind),
        )


def refused(staging: Staging) -> list[str]:
    with pytest.raises(FloeError) as caught:
        staging.publishable()
    assert {(item.code, item.row.exit, item.path) for item in caught.value.findings} == {
        ("FLOE-E731", 1, "floe.yaml")
    }
    return [item.message for item in caught.value.findings]


def again(catalog: Catalog, identifier: tuple[str, ...]) -> None:
    """As a stock dbt seed does it."""
    catalog.drop_table(identifier)
    catalog.create_table(identifier, ids().schema).append(ids(3))


def test_a_staging_begins_with_the_product_and_with_what_it_reads_and_nothing_else(lab: Lab) -> None:
    views(lab, "seen")
    staging = lab.stage(tables=[STAFF, (*PEOPLE, "absent"), ("no", "such", "table")])
    with staging.open() as catalog:
        assert catalog.list_tables(GOLD) == [ORDERS]
        assert catalog.load_table(STAFF).scan().to_arrow()["id"].to_pylist() == [2, 1]
        guarded = catalog.load_table(ORDERS)
    assert guarded.properties == GUARD
    assert guarded.metadata.metadata_log == []
    assert f"/_floe/{staging.run_id}/" in guarded.metadata_location
    assert staging.publishable() == []
    with lab.stage().open() as catalog:
        assert not catalog.table_exists(STAFF)
    with lab.stage(namespaces=[OTHER]).open() as catalog:
        assert catalog.table_exists(STAFF)


def test_the_staging_and_the_embedded_catalog_have_the_same_tables(lab: Lab) -> None:
    def schema(database: Path) -> list[Any]:
        query = "SELECT name, sql FROM sqlite_master WHERE name LIKE 'iceberg_%' ORDER BY name"
        with closing(sqlite3.connect(database)) as connection:
            return connection.execute(query).fetchall()

    assert schema(lab.stage().database) == schema(lab.plugin.database)


def test_a_run_that_destroys_is_refused_with_every_offence(lab: Lab) -> None:
    views(lab, "seen")
    staging = lab.stage(tables=[STAFF])
    with staging.open() as catalog:
        again(catalog, ORDERS)
        catalog.load_table(STAFF).append(ids(3))
        catalog.create_table((*PEOPLE, "planted"), ids().schema)
    with closing(sqlite3.connect(staging.database)) as connection, connection:
        connection.execute("DELETE FROM iceberg_tables WHERE table_name = 'seen'")
    assert refused(staging) == [
        "hr.people.gold.planted has been made by this run, and it is not in sales.web_shop",
        "hr.people.gold.staff has been changed by this run, and it is not in sales.web_shop",
        "sales.web_shop.gold.orders has been dropped and made again by this run: its identity and history are gone",
        "sales.web_shop.gold.seen has been dropped by this run, and nothing of that name was made",
    ]


def test_snapshots_that_a_run_expires_are_refused(lab: Lab) -> None:
    staging = lab.stage()
    with staging.open() as catalog:
        table = catalog.load_table(ORDERS)
        table.append(ids(3))
        oldest = table.metadata.snapshots[0].snapshot_id
        table.maintenance.expire_snapshots().by_id(oldest).commit()
    assert refused(staging) == [
        "sales.web_shop.gold.orders has lost history: 1 snapshot has been expired by this run"
    ]


def test_a_table_under_a_second_name_is_refused(lab: Lab) -> None:
    staging = lab.stage()
    with staging.open() as catalog:
        catalog.register_table((*GOLD, "again"), catalog.load_table(ORDERS).metadata_location)
    [message] = refused(staging)
    assert message.startswith("sales.web_shop.gold.again stands on the files of sales.web_shop.gold.orders: ")


def test_what_dbt_leaves_and_what_nobody_would_notice_is_no_change(lab: Lab) -> None:
    views(lab, "seen", "told")
    staging = lab.stage()
    with staging.open() as catalog:
        catalog.create_table((*GOLD, "orders__dbt_tmp"), ids().schema)
        with catalog.load_table(ORDERS).transaction() as transaction:
            transaction.set_properties(noticed="no")
        with catalog.load_table(ORDERS).transaction() as transaction:
            transaction.remove_properties("noticed")
    point(staging, "seen", "VIEW", view("select 1 as id", version=2))
    point(staging, "told", "VIEW", view("select 2 as id", version=2))
    [change] = staging.publishable()
    assert (change.after.name, change.after.kind) == ("told", RelationKind.VIEW)


def test_the_guard_is_taken_off_and_the_log_goes_on_where_consumers_are(lab: Lab) -> None:
    with lab.plugin.open() as catalog, catalog.load_table(ORDERS).transaction() as transaction:
        transaction.set_properties({"gc.enabled": "true", "write.metadata.previous-versions-max": "2"})
    [before] = lab.pointers()
    with lab.plugin.open() as catalog:
        log = [entry.metadata_file for entry in catalog.load_table(ORDERS).metadata.metadata_log]
    staging = lab.stage()
    with staging.open() as catalog, catalog.load_table(ORDERS).transaction() as transaction:
        transaction.set_properties({DELETES: "true"})  # the run's own decision
    [change] = lab.publish(staging)
    assert change.before == before
    assert change.after.location.rpartition("/")[2].startswith("00005-")
    with lab.plugin.open() as catalog:
        table = catalog.load_table(ORDERS)
    assert table.properties == {
        "gc.enabled": "true",
        "write.metadata.previous-versions-max": "2",
        DELETES: "true",
    }
    assert [entry.metadata_file for entry in table.metadata.metadata_log] == [log[-1], before.location]


def test_compressed_metadata_stays_compressed(lab: Lab) -> None:
    [plain] = lab.pointers()
    zipped = plain.location.replace(".metadata.json", ".gz.metadata.json")
    content = Path(plain.location.removeprefix("file://")).read_bytes()
    Path(zipped.removeprefix("file://")).write_bytes(gzip.compress(content))
    lab.plugin.publish([Change(plain, Pointer(GOLD, "orders", plain.kind, zipped))], lab.home / "journal.json")
    staging = lab.stage()
    with staging.open() as catalog:
        catalog.load_table(ORDERS).append(ids(3))
    [change] = lab.publish(staging)
    assert lab.rows("orders") == [1, 2, 3]
    assert change.after.location.endswith(".metadata.json")


def test_a_writer_in_between_is_a_conflict_and_nothing_is_published(lab: Lab) -> None:
    staging = lab.stage()
    with staging.open() as catalog:
        catalog.load_table(ORDERS).append(ids(3))
        catalog.create_table((*GOLD, "fresh"), ids().schema)
    with lab.plugin.open() as catalog:
        catalog.load_table(ORDERS).append(ids(4))
    before = lab.pointers()
    with pytest.raises(FloeError, match=r"FLOE-E730 .*gold\.orders has changed since this run began"):
        lab.publish(staging)
    assert (lab.pointers(), lab.rows("orders")) == (before, [1, 2, 4])


def test_metadata_that_cannot_be_read_is_could_not_check(lab: Lab) -> None:
    [orders] = lab.pointers()
    Path(orders.location.removeprefix("file://")).unlink()
    with pytest.raises(FloeError) as caught:
        lab.stage()
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E733", 3)
    assert orders.location.rpartition("/")[2] in finding.message


def everything(home: Path) -> set[str]:
    return {str(path) for path in home.rglob("*") if path.is_file()}


def test_a_sweep_removes_what_the_run_wrote_and_nothing_else(lab: Lab, tmp_path: Path) -> None:
    files = everything(tmp_path)
    staging = lab.stage()
    foreign = tmp_path / "foreign.parquet"
    with staging.open() as catalog:
        orders = catalog.load_table(ORDERS)
        orders.append(ids(3))
        orders.overwrite(ids(4))
        fresh = catalog.create_table((*GOLD, "fresh"), ids().schema)
        fresh.append(ids(1))
        pa.parquet.write_table(ids(8), foreign)
        fresh.add_files([foreign.as_uri()])
        catalog.drop_table((*GOLD, "fresh"))
    staging.publishable()
    planted = lab.home / ".floe" / "warehouse" / "somebody-elses.parquet"
    planted.write_text("not floe's")
    removed = sweep(lab.plugin, staging.namespace, [staging.folder])
    assert everything(tmp_path) == files | {str(foreign), str(planted)}
    assert len(removed) == len(set(removed))
    assert lab.rows("orders") == [1, 2]
    assert not (lab.home / ".floe" / "warehouse" / "_floe" / staging.run_id).exists()


def test_a_sweep_of_a_published_run_keeps_all_that_is_referenced(lab: Lab) -> None:
    """Also a file of a snapshot that the run made and expired, when a later one still has it."""
    staging = lab.stage()
    with staging.open() as catalog:
        fresh = catalog.create_table((*GOLD, "fresh"), ids().schema)
        fresh.append(ids(1))
        first = fresh.metadata.snapshots[0].snapshot_id
        fresh.append(ids(2))
        fresh.maintenance.expire_snapshots().by_id(first).commit()
        catalog.load_table(ORDERS).append(ids(3))
    lab.publish(staging)
    removed = staging.clean()
    assert (lab.rows("fresh"), lab.rows("orders")) == ([1, 2], [1, 2, 3])
    assert [name for name in removed if name.endswith(".parquet")] == []
    assert len([name for name in removed if f"snap-{first}-" in name]) == 1
    assert not any("_floe" in name for name in lab.files())


def test_metadata_files_that_a_table_forgets_are_deleted_when_it_says_so(lab: Lab) -> None:
    with lab.plugin.open() as catalog, catalog.load_table(ORDERS).transaction() as transaction:
        transaction.set_properties({DELETES: "true", "write.metadata.previous-versions-max": "1"})
    blocked, staging = lab.stage(), lab.stage()
    with lab.plugin.open() as catalog:
        [forgotten] = [entry.metadata_file for entry in catalog.load_table(ORDERS).metadata.metadata_log]
    with staging.open() as catalog:
        catalog.load_table(ORDERS).append(ids(3))
    assert forgotten not in blocked.clean()
    lab.publish(staging)
    assert forgotten in staging.clean()
    assert lab.rows("orders") == [1, 2, 3]


def test_an_interrupted_publication_is_left_alone_until_it_is_completed(lab: Lab) -> None:
    staging = lab.stage()
    (staging.folder / "journal.json").write_text("{}")
    assert sweep(lab.plugin, staging.namespace, [staging.folder]) == []
    assert staging.folder.exists()


def test_a_run_that_was_killed_while_it_was_staged_is_swept_too(lab: Lab, tmp_path: Path) -> None:
    folder = tmp_path / ".floe" / "runs" / "sales.web_shop" / "run-killed"
    folder.mkdir(parents=True)
    (folder / "staging.new").write_text("half a database")
    staging = lab.stage()
    [copy] = [name for name in lab.files() if name.startswith("_floe")]
    (lab.home / ".floe" / "warehouse" / copy).unlink()  # announced, and never written
    assert sweep(lab.plugin, staging.namespace, [folder, staging.folder]) == []
    assert not any(folder.parent.iterdir())
    damaged = lab.stage()
    damaged.database.write_bytes(b"this is no SQLite file, whatever its name says" * 100)
    with pytest.raises(FloeError, match=r"FLOE-E733 .*staging\.db"):
        sweep(lab.plugin, staging.namespace, [damaged.folder])
    assert damaged.folder.exists()


def test_nothing_is_removed_when_the_real_catalog_cannot_be_read(lab: Lab, tmp_path: Path) -> None:
    staging = lab.stage()
    with staging.open() as catalog:
        catalog.load_table(ORDERS).append(ids(3))
    lab.plugin.database.rename(tmp_path / "away.db")
    (tmp_path / ".floe" / "catalog.db").write_bytes(b"this is no SQLite file, whatever its name says" * 100)
    files = everything(tmp_path)
    with pytest.raises(FloeError, match="FLOE-E807"):
        sweep(lab.plugin, staging.namespace, [staging.folder])
    assert everything(tmp_path) == files


def test_storage_settings_reach_the_staging_and_the_real_database_does_not(tmp_path: Path) -> None:
    class Stored(SqlCatalogPlugin):
        def catalog_conf(self) -> dict[str, str]:
            return {**super().catalog_conf(), "s3.endpoint": "http://127.0.0.1:9", "jdbc.password": "secret"}

        def spark_conf(self) -> dict[str, str]:
            return {**super().spark_conf(), "spark.sql.catalogue": "kept"}

    staging = Staging(Stored({}, tmp_path), OTHER, tmp_path / "run", "run-1", PLACE)
    catalog = staging.spark_catalog
    at = "spark.sql.catalog.floe"
    assert catalog.conf[f"{at}.uri"] == (
        f"jdbc:sqlite:{tmp_path}/run/staging.db?journal_mode=WAL&busy_timeout=10000"
    )
    assert catalog.conf[f"{at}.s3.endpoint"] == "http://127.0.0.1:9"
    assert catalog.conf["spark.sql.catalogue"] == "kept"
    assert f"{at}.jdbc.password" not in catalog.conf
    assert catalog.namespace == "hr.people"
