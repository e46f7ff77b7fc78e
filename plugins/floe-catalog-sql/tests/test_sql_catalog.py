"""The embedded catalog: no configuration, safe to start any number of times, honest when it cannot be opened."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from floe_catalog_sql import SqlCatalogPlugin
from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError, Place
from floe_core.identity import Retry
from floe_core.plugins import load_plugin

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


def test_the_manifest_finds_it_by_name() -> None:
    found = load_plugin("floe.catalogs", "sql", CatalogPlugin, Place("manifest.yaml"))  # type: ignore[type-abstract]  # an interface
    assert found is SqlCatalogPlugin


def test_without_settings_everything_is_in_its_home(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path / ".floe")
    with plugin.open() as catalog:
        catalog.create_namespace(("sales", "orders", "gold"))
        table = catalog.create_table(("sales", "orders", "gold", "gold_orders"), SCHEMA)
    assert plugin.name == "floe"
    assert (tmp_path / ".floe" / "catalog.db").is_file()
    assert table.location().startswith((tmp_path / ".floe" / "warehouse").as_uri())


def test_settings_move_it_and_relative_paths_start_beside_the_manifest(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin(
        {"name": "lake", "uri": "sqlite:///db/lake.db", "warehouse": "data"}, tmp_path / ".floe"
    )
    with plugin.open() as catalog:
        assert catalog.list_namespaces() == []
    assert (plugin.name, plugin.database, plugin.warehouse) == (
        "lake",
        tmp_path / "db" / "lake.db",
        (tmp_path / "data").as_uri(),
    )
    assert not (tmp_path / ".floe").exists()


def test_python_and_spark_are_sent_to_the_same_file_and_folder(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path)
    conf, properties = plugin.spark_conf(), plugin.client_properties()
    assert conf["spark.sql.catalog.floe"] == "org.apache.iceberg.spark.SparkCatalog"
    assert conf["spark.sql.catalog.floe.uri"].startswith(f"jdbc:sqlite:{tmp_path}/catalog.db?")
    assert properties["uri"].startswith(f"sqlite:///{tmp_path}/catalog.db?")
    assert conf["spark.sql.catalog.floe.warehouse"] == properties["warehouse"] == f"file://{tmp_path}/warehouse"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"uri": "mysql://host/db"}, "only sqlite:///PATH and postgresql://USER@HOST:PORT/DB are known"),
        ({"uri": "sqlite:///a.db?mode=ro"}, "only sqlite:///PATH and postgresql://USER@HOST:PORT/DB are known"),
        ({"uri": "postgresql:///db", "warehouse": "w"}, "a host is missing"),
        ({"uri": "postgresql://u@host", "warehouse": "w"}, "a database is missing"),
        ({"uri": "postgresql://u@host:port/db", "warehouse": "w"}, "this is not postgresql://USER@HOST:PORT/DB"),
        ({"uri": "postgresql://u@host/db"}, "needs a warehouse that all its users reach"),
        ({"password": "x"}, "only a PostgreSQL catalog has a password"),
        ({"warehouse": "s3://bucket"}, "a SQLite catalog keeps its data in a folder"),
        ({"name": "My Catalog"}, "String should match pattern"),
        ({"url": "sqlite:///a.db"}, "Extra inputs are not permitted"),
    ],
    ids=str,
)
def test_settings_it_does_not_know_are_refused(tmp_path: Path, config: dict[str, str], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        SqlCatalogPlugin(config, tmp_path)


def test_many_clients_can_start_on_a_new_file_at_once(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from floe_catalog_sql import SqlCatalogPlugin\n"
        "home, number = Path(sys.argv[1]), sys.argv[2]\n"
        "with SqlCatalogPlugin({}, home).open() as catalog: catalog.create_namespace(('n', number))\n"
    )
    racers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(n)]) for n in range(8)]
    assert [racer.wait() for racer in racers] == [0] * 8
    with SqlCatalogPlugin({}, tmp_path).open() as catalog:
        assert sorted(catalog.list_namespaces("n")) == [("n", str(number)) for number in range(8)]


def test_looking_into_a_catalog_that_was_never_made_does_not_make_it(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path / ".floe")
    assert plugin.validate_product_identity("sales.orders", "github.com/acme/x").status == "available"
    assert (plugin.list_products(), plugin.get_product("sales.orders")) == ([], None)
    assert list(tmp_path.iterdir()) == []


def test_only_the_catalog_without_an_address_is_this_machines_own(tmp_path: Path) -> None:
    assert SqlCatalogPlugin({}, tmp_path).is_local is True
    assert SqlCatalogPlugin({"uri": "sqlite:////mnt/team/c.db"}, tmp_path).is_local is False


def test_a_writer_waits_for_the_lock_of_another_instead_of_failing(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path)
    plugin.prepare()
    with closing(sqlite3.connect(plugin.database, check_same_thread=False, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(1, other.execute, ["COMMIT"])
        release.start()
        claimed = plugin.register_product_identity("sales.orders", "github.com/acme/x", "a@acme.com")
        release.join()
    assert claimed.status == "created"


def test_a_lock_that_is_never_released_is_could_not_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floe_catalog_sql.plugin.PATIENCE", 0.1)
    plugin = SqlCatalogPlugin({}, tmp_path)
    plugin.retry = Retry(max_attempts=1)
    plugin.prepare()
    with closing(sqlite3.connect(plugin.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(FloeError, match=r"FLOE-E807 .*: another program has kept it locked for 0\.1 s"):
            plugin.register_product_identity("sales.orders", "github.com/acme/x", "a@acme.com")


def test_a_reader_sees_the_last_state_while_another_writes(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path)
    plugin.prepare()
    with sqlite3.connect(plugin.database) as writer, plugin.open() as catalog:
        writer.execute("BEGIN IMMEDIATE")
        assert catalog.list_namespaces() == []
    writer.close()


@pytest.mark.parametrize("damage", ["a folder", "no database", "no room"])
def test_a_catalog_that_cannot_be_opened_is_an_error_that_names_it(tmp_path: Path, damage: str) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path / ".floe")
    if damage == "a folder":
        plugin.database.mkdir(parents=True)
    elif damage == "no database":
        plugin.database.parent.mkdir()
        plugin.database.write_bytes(b"this is no SQLite file, whatever its name says" * 100)
    else:
        plugin.home.write_text("a file stands where the folder belongs")
    with pytest.raises(FloeError) as caught, plugin.open():
        pass
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E807", 3)
    assert str(plugin.database) in finding.message
