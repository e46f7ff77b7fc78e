"""What a run has made reaches consumers whole, or is gone on with; what somebody else writes is never lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("floe_iceberg", reason="floe-testing[iceberg] brings what publishing needs")
pytest.importorskip("sqlalchemy", reason="floe-testing[iceberg] brings what publishing needs")

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_iceberg import IcebergCatalogPlugin
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.processes import Done, Refused, Sprung, process
from floe_testing.conformance.catalog.products import namespace_of
from floe_testing.conformance.catalog.subject import Subject
from floe_testing.conformance.catalog.test_crashes import crash_points, dies
from floe_testing.staged import Staged, append, staging

OLD = {"lines": [1], "orders": [1]}
NEW = {"lines": [1, 2], "orders": [1, 2], "totals": [1]}
UNDER_WAY = ("FLOE-E730", "FLOE-E732")


@dataclass(frozen=True)
class Shop:
    """A product with two tables that a run is about to change, and one that it is about to make."""

    plugin: IcebergCatalogPlugin[Any]
    staged: Staged
    client: Open
    gold: tuple[str, ...]
    journal: Path

    def pointers(self) -> dict[str, Pointer]:
        return {pointer.name: pointer for pointer in self.plugin.pointers([self.gold])}

    def changes(self) -> list[Change]:
        before = self.pointers()
        return [
            self.staged.changed(before["lines"], column="note"),
            self.staged.new((*self.gold, "totals")),
            self.staged.changed(before["orders"]),
        ]

    def rows(self) -> dict[str, list[int]]:
        """What a consumer reads who comes now."""
        with self.client() as catalog:
            tables = [catalog.load_table(pointer.identifier) for pointer in self.pointers().values()]
            return {table.name()[-1]: sorted(table.scan().to_arrow()["id"].to_pylist()) for table in tables}

    def intrude(self) -> None:
        """Somebody else writes to the table that is published last."""
        with self.client() as catalog:
            append(catalog.load_table((*self.gold, "orders")), [7])


@pytest.fixture
def new_shop(
    catalog: CatalogPlugin, client: Open, new_product: NewProduct, tmp_path: Path
) -> Iterator[Callable[[], Shop]]:
    if not isinstance(catalog, IcebergCatalogPlugin):
        pytest.skip("this plugin does not publish: it stands on CatalogPlugin alone")
    numbers = count(1)
    with staging(tmp_path / "run", catalog) as staged:

        def make() -> Shop:
            gold = namespace_of(catalog, new_product()).layer("gold")
            shop = Shop(catalog, staged, client, gold, tmp_path / f"publication-{next(numbers)}.json")
            catalog.publish([staged.new((*gold, name)) for name in OLD], shop.journal)
            return shop

        yield make


@pytest.fixture
def shop(new_shop: Callable[[], Shop]) -> Shop:
    return new_shop()


def test_new_tables_are_there_with_their_namespace(shop: Shop) -> None:
    assert shop.rows() == OLD
    assert [pointer.kind for pointer in shop.pointers().values()] == [RelationKind.TABLE] * 2
    assert shop.plugin.pointer((*shop.gold, "orders")) == shop.pointers()["orders"]
    assert shop.plugin.pointer((*shop.gold, "absent")) is None
    assert shop.plugin.pointers([(*shop.gold[:-1], "nowhere")]) == []


def test_tables_get_their_rows_and_columns(shop: Shop) -> None:
    shop.plugin.publish(shop.changes(), shop.journal)
    assert shop.rows() == NEW
    columns = shop.plugin.columns_of(shop.gold, "lines")
    assert columns
    assert [column.name for column in columns] == ["id", "note"]
    assert not shop.journal.exists()
    assert shop.plugin.resume(shop.journal) is None


def test_one_run_after_the_other(shop: Shop) -> None:
    for number in (2, 3, 4):
        before = shop.pointers()
        shop.plugin.publish([shop.staged.changed(before["orders"], [number])], shop.journal)
    assert shop.rows() == {**OLD, "orders": [1, 2, 3, 4]}
    with shop.client() as catalog:
        assert len(catalog.load_table((*shop.gold, "orders")).snapshots()) == 4


def test_views_are_made_and_changed(shop: Shop) -> None:
    name = (*shop.gold, "recent")
    for query in ("SELECT id FROM orders", "SELECT id FROM lines"):
        before = shop.pointers().get("recent")
        if refusal(shop, shop.staged.view(name, query, before)) == "FLOE-E735":
            pytest.skip("this catalog has no views")
        found = shop.pointers()["recent"]
        assert (found.kind, found != before) == (RelationKind.VIEW, True)


def refusal(shop: Shop, change: Change) -> str | None:
    try:
        shop.plugin.publish([change], shop.journal)
    except FloeError as exc:
        return exc.findings[0].code
    return None


def test_a_table_that_somebody_wrote_to_publishes_nothing(shop: Shop) -> None:
    changes = shop.changes()
    shop.intrude()
    with pytest.raises(FloeError) as caught:
        shop.plugin.publish(changes, shop.journal)
    assert [finding.code for finding in caught.value.findings] == ["FLOE-E730"]
    assert shop.rows() == {**OLD, "orders": [1, 7]}
    assert not shop.journal.exists()


def test_a_publication_that_was_killed_is_completed_or_untouched(
    new_shop: Callable[[], Shop], subject: Subject
) -> None:
    for number, victim in crash_points(subject):
        shop = new_shop()
        changes = shop.changes()
        if not dies(victim, number, "publish", changes, shop.journal):
            break
        if shop.plugin.resume(shop.journal) is None:
            if shop.rows() == NEW:  # it was about to say so
                continue
            assert shop.rows() == OLD
            shop.plugin.publish(changes, shop.journal)
        assert shop.rows() == NEW
        assert not shop.journal.exists()
    assert shop.rows() == NEW


def test_what_somebody_writes_in_the_middle_is_never_lost(new_shop: Callable[[], Shop], subject: Subject) -> None:
    for number in count(1):
        shop = new_shop()
        with process(subject) as publisher:
            publisher.send("publish", shop.changes(), shop.journal, trap=number, signal=signal.SIGSTOP)
            answer = publisher.receive()
            if isinstance(answer, Sprung):
                publisher.wait_until_stopped()
                shop.intrude()
                publisher.resume()
                answer = publisher.receive()
            else:
                assert isinstance(answer, Done), answer
                break
        found = shop.rows()
        assert 7 in found["orders"]
        if isinstance(answer, Refused):
            assert answer.code in UNDER_WAY
            assert 2 not in found["orders"]
            check_all_or_nothing(shop, found)
        else:
            assert found == {**NEW, "orders": [1, 2, 7]}


def check_all_or_nothing(shop: Shop, found: dict[str, list[int]]) -> None:
    """Of the tables that change; new ones may come before, and go again."""
    if shop.plugin.capabilities.atomic_commit:
        assert found["lines"] == OLD["lines"], "declares atomic_commit, and published a part"


def test_declared_atomic_commit_shows_no_reader_a_mix(shop: Shop, subject: Subject, rounds: int) -> None:
    """Read in the order a, b: whoever sees the new a must see the new b."""
    if not shop.plugin.capabilities.atomic_commit:
        pytest.skip("the plugin does not declare atomic_commit: tables change one after the other")
    pair = [(*shop.gold, "lines"), (*shop.gold, "orders")]
    with process(subject) as publisher, shop.client() as catalog:
        for number in range(2, 2 + 5 * rounds):
            before = shop.pointers()
            publisher.send(
                "publish", [shop.staged.changed(before[name[-1]], [number]) for name in pair], shop.journal
            )
            for first, second in alternating(pair, publisher.is_busy):
                seen = len(catalog.load_table(first).snapshots())
                assert len(catalog.load_table(second).snapshots()) >= seen
            assert isinstance(publisher.receive(), Done)


def alternating(pair: list[tuple[str, ...]], go_on: Callable[[], bool]) -> Iterator[list[tuple[str, ...]]]:
    while go_on():
        yield pair
        yield pair[::-1]
