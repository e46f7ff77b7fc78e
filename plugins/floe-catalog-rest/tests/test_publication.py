"""Publication to a real service: new tables, one transaction for those that change, then views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from floe_catalog_rest import RestCatalogPlugin
from floe_catalog_rest.commits import COMMIT, PublishingCatalog
from floe_core.findings import FloeError
from floe_core.identity import Retry
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_testing.services.proxy import Fault, Proxy, Request, Rule, nth_write
from floe_testing.staged import SCHEMA, Staged, append, staging

NUMBERS = count(1)
OLD = {"lines": [1], "orders": [1]}
NEW = {"lines": [1, 2], "orders": [1, 2], "totals": [1]}
VIEW = "SELECT id FROM orders"


def plugin(uri: str, timeout: str = "7s") -> RestCatalogPlugin:
    made = RestCatalogPlugin({"uri": uri, "timeout": timeout}, Path("unused"))
    made.retry = Retry(initial_backoff=timedelta(milliseconds=10), max_backoff=timedelta(milliseconds=20))
    return made


class Shop:
    """A product with two tables, and what a run would publish: both changed, one new, one view."""

    def __init__(self, direct: RestCatalogPlugin, staged: Staged, journal: Path) -> None:
        self.direct, self.staged, self.journal = direct, staged, journal
        self.gold = ("shop", f"p{next(NUMBERS)}", "gold")
        direct.publish([staged.new((*self.gold, name)) for name in OLD], journal)
        self.before = {pointer.name: pointer for pointer in direct.pointers([self.gold])}

    def changes(self) -> list[Change]:
        return [
            self.staged.changed(self.before["lines"], column="note"),
            self.staged.changed(self.before["orders"]),
            self.staged.view((*self.gold, "recent"), VIEW),
            self.staged.new((*self.gold, "totals")),
        ]

    def rows(self) -> dict[str, list[int]]:
        with self.direct.open() as catalog:
            tables = [catalog.load_table(name) for name in catalog.list_tables(self.gold)]
            return {table.name()[-1]: sorted(table.scan().to_arrow()["id"].to_pylist()) for table in tables}

    def intrude(self, name: str = "orders") -> None:
        with self.direct.open() as catalog:
            append(catalog.load_table((*self.gold, name)), [7])

    def query(self, name: str = "recent") -> str:
        with self.direct.open() as catalog:
            return str(catalog.load_view((*self.gold, name)).metadata.versions[-1].representations[0].root.sql)


@pytest.fixture
def shop(server: str, tmp_path: Path) -> Iterator[Shop]:
    direct = plugin(server)
    with staging(tmp_path / "run", direct) as staged:
        yield Shop(direct, staged, tmp_path / "run" / "publication.json")


def refusal(act: Callable[[], object]) -> tuple[str, str]:
    with pytest.raises(FloeError) as caught:
        act()
    [finding] = caught.value.findings
    return finding.code, finding.message


def test_new_tables_come_first_then_one_transaction_then_views(shop: Shop, proxy: Proxy) -> None:
    shop_changes = shop.changes()
    proxy.reset()
    plugin(proxy.uri).publish(shop_changes, shop.journal)
    assert shop.rows() == NEW
    assert shop.query() == VIEW
    assert written(proxy) == ["register", "commit", "views"]
    assert not shop.journal.exists()
    columns = shop.direct.columns_of(shop.gold, "lines")
    assert columns
    assert [column.name for column in columns] == ["id", "note"]


def test_tables_without_a_snapshot_get_their_first_rows(shop: Shop) -> None:
    with shop.direct.open() as catalog:
        for name in ("empty", "void"):
            catalog.create_table((*shop.gold, name), SCHEMA)
    found = {pointer.name: pointer for pointer in shop.direct.pointers([shop.gold])}
    shop.direct.publish([shop.staged.changed(found[name]) for name in ("empty", "void")], shop.journal)
    assert shop.rows() == {**OLD, "empty": [2], "void": [2]}


REPLACED: list[
    dict[str, Any]
] = [  # CREATE OR REPLACE TABLE … PARTITIONED BY (region), as Iceberg's own library sends it
    {"action": "remove-snapshot-ref", "ref-name": "main"},
    {
        "action": "add-schema",
        "schema": {
            "type": "struct",
            "schema-id": 0,
            "fields": [
                {"id": 1, "name": "id", "required": False, "type": "long"},
                {"id": 9, "name": "region", "required": False, "type": "string"},
            ],
        },
        "last-column-id": 9,
    },
    {"action": "set-current-schema", "schema-id": -1},
    {
        "action": "add-spec",
        "spec": {
            "spec-id": 0,
            "fields": [{"source-id": 9, "field-id": 1000, "name": "region", "transform": "identity"}],
        },
    },
    {"action": "set-default-spec", "spec-id": -1},
]


def test_a_table_that_was_replaced_keeps_its_history(shop: Shop) -> None:
    """Its new state is written by the service's own Iceberg library, under another name."""
    orders, other = shop.before["orders"], (*shop.gold, "elsewhere")
    with shop.direct.open() as catalog:
        assert isinstance(catalog, PublishingCatalog)
        catalog.register_table(other, orders.location)
        catalog.commit_raw(other, [], REPLACED)
        append(catalog.load_table(other), [5])
        after = Pointer(shop.gold, "orders", orders.kind, catalog.load_table(other).metadata_location)
        catalog.drop_table(other)
        shop.direct.publish([Change(orders, after)], shop.journal)
        found = catalog.load_table((*shop.gold, "orders"))
    assert shop.rows() == {**OLD, "orders": [5]}
    assert len(found.snapshots()) == 2
    assert [field.name for field in found.spec().fields] == ["region"]


def test_views_are_found_changed_and_left_alone(shop: Shop, proxy: Proxy) -> None:
    name = (*shop.gold, "recent")
    for query in (VIEW, "SELECT id FROM lines", VIEW):
        before = shop.direct.pointer(name)
        shop.direct.publish([shop.staged.view(name, query, before)], shop.journal)
        after = shop.direct.pointer(name)
        assert after
        assert after.kind is RelationKind.VIEW
        assert after in shop.direct.pointers([shop.gold])
        assert before != after
    with shop.direct.open() as catalog:
        found = catalog.load_view(name).metadata
    assert [entry.version_id for entry in found.version_log] == [1, 2, 1]
    proxy.reset()
    plugin(proxy.uri).publish([shop.staged.view(name, VIEW, after)], shop.journal)
    assert not any(request.writes for request in proxy.requests)


def test_a_view_needs_nothing_of_the_run_that_made_it(shop: Shop) -> None:
    change = shop.staged.view((*shop.gold, "recent"), VIEW)
    shop.direct.publish([change], shop.journal)
    Path(change.after.location.removeprefix("file://")).unlink()
    assert shop.query() == VIEW
    found = shop.direct.pointer((*shop.gold, "recent"))
    assert found
    assert not found.location.startswith(shop.staged.files)


def test_a_view_that_somebody_changed_is_a_conflict(shop: Shop) -> None:
    name = (*shop.gold, "recent")
    shop.direct.publish([shop.staged.view(name, VIEW)], shop.journal)
    before = shop.direct.pointer(name)
    shop.direct.publish([shop.staged.view(name, "SELECT 7 AS id", before)], shop.journal)
    ours = [shop.staged.view(name, "SELECT 8 AS id", before)]
    code, message = refusal(lambda: shop.direct.publish(ours, shop.journal))
    assert code == "FLOE-E730"
    assert message.endswith("recent was written by somebody else since this run began; nothing was published")


def test_nothing_is_published_when_somebody_was_faster(shop: Shop) -> None:
    changes = shop.changes()
    shop.intrude()
    code, message = refusal(lambda: shop.direct.publish(changes, shop.journal))
    assert (code, message.rpartition("; ")[2]) == ("FLOE-E730", "nothing was published")
    assert " was written by somebody else (append at 20" in message  # though the service notes a later time
    assert shop.rows() == {**OLD, "orders": [1, 7]}
    assert not shop.journal.exists()


def before_transaction(act: Callable[[], object]) -> Rule:
    """Does it once, right before the transaction reaches the service."""
    rest = iter([act])

    def rule(request: Request) -> Fault | None:
        if request.path.endswith("/transactions/commit"):
            next(rest, bool)()
        return None

    return rule


def test_a_writer_in_the_last_moment_is_not_overwritten_and_new_tables_go_again(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()
    proxy.apply(before_transaction(shop.intrude))
    code, message = refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    assert (code, message.rpartition("; ")[2]) == ("FLOE-E730", "nothing was published")
    assert shop.rows() == {**OLD, "orders": [1, 7]}
    assert not shop.journal.exists()


def test_a_new_table_that_somebody_wrote_to_stays(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()

    def intrude() -> None:
        shop.intrude("orders")
        shop.intrude("totals")

    proxy.apply(before_transaction(intrude))
    code, message = refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    assert code == "FLOE-E730"
    assert f"published: {'.'.join(shop.gold)}.totals" in message
    assert shop.rows() == {**OLD, "orders": [1, 7], "totals": [1, 7]}


@pytest.mark.parametrize("fault", [Fault.LOSE, Fault.FAIL_AFTER, Fault.CUT, Fault.FAIL])
@pytest.mark.parametrize("number", [1, 2, 3], ids=["register", "transaction", "view"])
def test_an_answer_that_was_lost_is_found_out(shop: Shop, proxy: Proxy, fault: Fault, number: int) -> None:
    changes = shop.changes()
    proxy.apply(nth_write(number, fault))
    plugin(proxy.uri).publish(changes, shop.journal)
    assert shop.rows() == NEW
    assert shop.query() == VIEW


def test_a_transaction_that_takes_longer_than_any_wait_is_read_back(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()
    proxy.apply(nth_write(2, Fault.HOLD))
    plugin(proxy.uri, timeout="1s").publish(changes, shop.journal)
    assert shop.rows() == NEW


def test_a_service_that_went_away_is_gone_on_with(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()
    proxy.apply(lambda request: Fault.CUT if request.path.endswith("/commit") else None)
    code, message = refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    assert code == "FLOE-E732"
    assert message.startswith(f"published: {'.'.join(shop.gold)}.totals; not published: ")
    assert shop.rows() == {**OLD, "totals": [1]}
    done = shop.direct.resume(shop.journal)
    assert done
    assert [pointer.name for pointer in done.now] == ["lines", "orders", "recent"]
    assert shop.rows() == NEW
    assert shop.direct.resume(shop.journal) is None


def test_a_transaction_that_tore_is_completed(shop: Shop, proxy: Proxy) -> None:
    """The reference service changes its tables one after the other, and may die in between."""
    changes = shop.changes()
    proxy.apply(lambda request: Fault.CUT if request.path.endswith("/commit") else None)
    refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    torn = [change for change in changes if change.after.name == "lines"]
    shop.direct.publish(torn, shop.journal.with_name("other.json"))
    assert shop.rows() == {**OLD, "lines": [1, 2], "totals": [1]}
    done = shop.direct.resume(shop.journal)
    assert done
    assert [pointer.name for pointer in done.now] == ["orders", "recent"]
    assert shop.rows() == NEW


def test_a_conflict_after_a_crash_takes_new_tables_back(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()
    proxy.apply(lambda request: Fault.CUT if request.path.endswith("/commit") else None)
    refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    shop.intrude()
    code, message = refusal(lambda: shop.direct.resume(shop.journal))
    assert (code, message.rpartition("; ")[2]) == ("FLOE-E730", "nothing was published")
    assert shop.rows() == {**OLD, "orders": [1, 7]}
    assert shop.direct.resume(shop.journal) is None


class Modest(PublishingCatalog):
    """The client of a service that does not list the transaction among what it has."""

    def _fetch_config(self) -> None:
        super()._fetch_config()
        self._supported_endpoints.discard(COMMIT)


class ModestPlugin(RestCatalogPlugin):
    """A plugin for it."""

    def client_properties(self) -> dict[str, str]:
        return super().client_properties() | {"py-catalog-impl": f"{__name__}.Modest"}


def written(proxy: Proxy) -> list[str]:
    return [request.path.rpartition("/")[2] for request in proxy.requests if request.writes]


def test_without_the_transaction_tables_change_one_by_one(
    shop: Shop, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    changes = shop.changes()
    proxy.reset()
    ModestPlugin({"uri": proxy.uri, "timeout": "7s"}, Path("unused")).publish(changes, shop.journal)
    assert written(proxy) == ["register", "lines", "orders", "views"]
    assert shop.rows() == NEW


def test_a_transaction_that_turns_out_to_be_missing_is_done_without(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()
    proxy.apply(lambda request: Fault.MISSING if request.path.endswith("/commit") else None)
    plugin(proxy.uri).publish(changes, shop.journal)
    assert written(proxy) == ["register", "commit", "lines", "orders", "views"]
    assert shop.rows() == NEW


def test_the_service_says_where_a_new_table_goes(shop: Shop) -> None:
    namespace = (*shop.gold[:2], "silver")
    location = shop.direct.table_location(namespace, "fresh")
    assert location
    assert location.startswith("file:/")
    assert location.endswith("/silver/fresh")
    assert shop.direct.pointers([namespace]) == []
    with shop.direct.open() as catalog:
        assert catalog.namespace_exists(namespace)
        assert (
            shop.direct.table_location(shop.gold, "orders") == catalog.load_table((*shop.gold, "orders")).location()
        )


def test_a_table_that_is_gone_is_a_conflict_and_no_missing_endpoint(shop: Shop, proxy: Proxy) -> None:
    changes = shop.changes()

    def drop() -> None:
        with shop.direct.open() as catalog:
            catalog.drop_table((*shop.gold, "orders"))

    proxy.apply(before_transaction(drop))
    code, message = refusal(lambda: plugin(proxy.uri).publish(changes, shop.journal))
    assert (code, "orders was dropped since" in message) == ("FLOE-E730", True)
    assert shop.rows() == {"lines": [1]}


def test_pointers_are_files_that_can_be_read(shop: Shop) -> None:
    lines, orders = shop.direct.pointers([("shop", "nowhere"), shop.gold])
    assert (lines.name, orders.name) == ("lines", "orders")
    assert all(Path(each.location.removeprefix("file:").replace("//", "/")).exists() for each in (lines, orders))
    assert shop.direct.pointer((*shop.gold, "orders")) == orders
    assert shop.direct.pointer((*shop.gold, "absent")) is None


def test_another_kind_of_relation_is_refused(shop: Shop) -> None:
    orders = shop.before["orders"]
    view = shop.staged.view((*shop.gold, "orders"), VIEW).after
    code, message = refusal(lambda: shop.direct.publish([Change(orders, view)], shop.journal))
    assert (code, message.partition(": ")[2]) == ("FLOE-E731", "it was a table and is a view now")
    assert isinstance(orders, Pointer)
