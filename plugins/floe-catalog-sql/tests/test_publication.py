"""Publishing in a SQL database: everything in one transaction, from where the run found it, or nothing at all."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from floe_catalog_sql import SqlCatalogPlugin
from floe_core.findings import FloeError
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_testing.services import required
from floe_testing.services.postgres import Postgres, postgres

GOLD = ("sales", "orders", "gold")
OTHER = ("sales", "orders", "silver")
ROWS = pa.table({"id": [1, 2]})
Open = Callable[[], SqlCatalogPlugin]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with required(), postgres() as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.service)])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Opens the same catalog again and again: here, in a database of this test's own."""
    if request.param == "sqlite":
        return lambda: SqlCatalogPlugin({}, tmp_path)
    server: Postgres = request.getfixturevalue("server")
    config = {"uri": server.uri, "password": server.password, "warehouse": str(tmp_path / "warehouse")}
    name = f"c{abs(hash(request.node.name)) % 10**9}"
    return lambda: SqlCatalogPlugin({**config, "name": name}, tmp_path)


def made(plugin: SqlCatalogPlugin, *names: str) -> list[Pointer]:
    """Tables with two rows each."""
    with plugin.open() as catalog:
        catalog.create_namespace_if_not_exists(GOLD)
        for name in names:
            catalog.create_table((*GOLD, name), ROWS.schema).append(ROWS)
    return [item for item in plugin.pointers([GOLD]) if item.name in names]


def append(plugin: SqlCatalogPlugin, name: str, **summary: str) -> None:
    with plugin.open() as catalog:
        catalog.load_table((*GOLD, name)).append(ROWS, snapshot_properties=summary)


def to(before: Pointer, location: str) -> Change:
    return Change(before, replace(before, location=location))


def publish(plugin: SqlCatalogPlugin, *changes: Change) -> None:
    plugin.publish(changes, plugin.home / "journal.json")


def test_tables_and_views_of_the_asked_namespaces_are_read_in_one_query(opened: Open) -> None:
    plugin = opened()
    [orders] = made(plugin, "orders")
    seen = Pointer(GOLD, "seen", RelationKind.VIEW, "file:///v.metadata.json")
    apart = Pointer(OTHER, "apart", RelationKind.TABLE, "file:///t.metadata.json")
    publish(plugin, Change(None, seen), Change(None, apart))
    assert plugin.pointers([GOLD]) == [orders, seen]
    assert plugin.pointers([OTHER, ("sales", "orders"), ("no", "such")]) == [apart]
    assert plugin.pointers([]) == []
    with plugin.open() as catalog:
        assert sorted(catalog.list_namespaces(("sales", "orders"))) == [GOLD, OTHER]
        assert catalog.load_namespace_properties(OTHER) == {"exists": "true"}


def test_moves_new_ones_and_swaps_are_published_together(opened: Open) -> None:
    plugin = opened()
    first, second = made(plugin, "first", "second")
    swapped = Pointer(GOLD, "first", RelationKind.VIEW, "file:///v.metadata.json")
    fresh = Pointer(OTHER, "fresh", RelationKind.TABLE, second.location)
    publish(plugin, Change(first, swapped), to(second, first.location), Change(None, fresh))
    assert plugin.pointers([GOLD, OTHER]) == [swapped, replace(second, location=first.location), fresh]
    back = Change(swapped, first)
    publish(plugin, back)
    assert plugin.pointers([GOLD])[0] == first


def test_another_writer_is_named_and_nothing_is_published(opened: Open) -> None:
    plugin = opened()
    first, second, third = made(plugin, "first", "second", "third")
    append(plugin, "first", **{"floe.run_id": "run-other", "engine-name": "spark"})
    with plugin.open() as catalog:
        catalog.drop_table((*GOLD, "third"))
    before = plugin.pointers([GOLD])
    new = replace(second, namespace=OTHER, name="new")
    changes = [to(first, second.location), to(second, first.location), to(third, first.location), Change(None, new)]
    with pytest.raises(FloeError) as caught:
        publish(plugin, *changes)
    moved, gone = caught.value.findings
    assert {(item.code, item.row.exit) for item in (moved, gone)} == {("FLOE-E730", 3)}
    assert "sales.orders.gold.first has changed since this run began, last by append at 20" in moved.message
    assert moved.message.endswith("UTC (floe.run_id run-other, engine-name spark)")
    assert gone.message == "sales.orders.gold.third has been dropped since this run began"
    assert plugin.pointers([GOLD, OTHER]) == before


def test_a_name_that_somebody_else_has_taken_is_a_conflict(opened: Open) -> None:
    plugin = opened()
    [orders] = made(plugin, "orders")
    with pytest.raises(FloeError, match="is new in this run, and there is a table of that name by now"):
        publish(plugin, Change(None, replace(orders, kind=RelationKind.VIEW)))
    with pytest.raises(FloeError, match="was a view when this run began, and is a table now"):
        publish(plugin, Change(replace(orders, kind=RelationKind.VIEW), orders))
    assert plugin.pointers([GOLD]) == [orders]


def test_a_table_of_the_first_schema_version_is_a_table(tmp_path: Path) -> None:
    """Older clients leave its kind empty."""
    plugin = SqlCatalogPlugin({}, tmp_path)
    [orders] = made(plugin, "orders")
    with closing(sqlite3.connect(plugin.database)) as connection, connection:
        connection.execute("UPDATE iceberg_tables SET iceberg_type = NULL")
    assert plugin.pointers([GOLD]) == [orders]
    publish(plugin, to(orders, "file:///next.metadata.json"))
    assert plugin.pointers([GOLD]) == [replace(orders, location="file:///next.metadata.json")]


def test_a_database_that_cannot_be_opened_is_could_not_check(tmp_path: Path) -> None:
    plugin = SqlCatalogPlugin({}, tmp_path)
    plugin.database.write_bytes(b"this is no SQLite file, whatever its name says" * 100)
    for ask in (lambda: plugin.pointers([GOLD]), lambda: publish(plugin)):
        with pytest.raises(FloeError, match="FLOE-E807"):
            ask()


KILLED = """\
import os, signal, sys
from pathlib import Path
from sqlalchemy import Engine, event
from floe_catalog_sql import SqlCatalogPlugin
from floe_iceberg.publication import Change, Pointer, RelationKind

plugin, left, gold = SqlCatalogPlugin({}, Path(sys.argv[1])), int(sys.argv[2]), ("sales", "orders", "gold")

def step(*_):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1

before = plugin.pointers([gold])
for name in ("before_cursor_execute", "after_cursor_execute", "commit"):
    event.listen(Engine, name, step)
changes = [Change(item, Pointer(gold, item.name, item.kind, "file:///next")) for item in before]
plugin.publish([*changes, Change(None, Pointer(("new",), "new", RelationKind.VIEW, "file:///next"))], Path("none"))
step()
"""


def test_a_kill_at_any_step_leaves_the_old_state_or_the_new_one_and_no_lock(tmp_path: Path) -> None:
    before = made(SqlCatalogPlugin({}, tmp_path / "home"), "first", "second")
    fresh = Pointer(("new",), "new", RelationKind.VIEW, "file:///next")
    new = [fresh, *(replace(item, location="file:///next") for item in before)]
    seen: list[list[Pointer]] = []
    code = -int(signal.SIGKILL)
    while code == -int(signal.SIGKILL):
        home = tmp_path / f"home-{len(seen)}"
        shutil.copytree(tmp_path / "home", home)
        code = subprocess.run([sys.executable, "-c", KILLED, str(home), str(len(seen))]).returncode
        plugin = SqlCatalogPlugin({}, home)
        seen.append(plugin.pointers([GOLD, ("new",)]))
        if seen[-1] == before:
            publish(plugin, *map(Change, before, new[1:]))  # nobody holds a lock
    assert code == 0
    assert len(seen) > 8  # a namespace and three pointers, before and after each, and the commit
    assert seen[0] == before
    assert seen[-2:] == [new, new]
    assert all(state in (before, new) for state in seen)
