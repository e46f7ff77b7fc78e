"""Publication on a catalog that has no transaction: table by table, with a journal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.exceptions import BadRequestError, CommitStateUnknownException
from sqlite_catalog import SqliteCatalog

from floe_core.findings import FloeError
from floe_iceberg.publication import Change, Pointer
from floe_testing.staged import Staged, append, staging

GOLD = ("sales", "orders", "gold")
ORDERS, LINES = (*GOLD, "orders"), (*GOLD, "lines")


@pytest.fixture
def staged(tmp_path: Path, catalog: SqliteCatalog) -> Iterator[Staged]:
    with staging(tmp_path / "run", catalog) as running:
        yield running


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "run" / "publication.json"


@pytest.fixture
def before(catalog: SqliteCatalog, staged: Staged, journal: Path) -> dict[str, Pointer]:
    """Two tables with one row each."""
    catalog.publish([staged.new(ORDERS), staged.new(LINES)], journal)
    return {pointer.name: pointer for pointer in catalog.pointers([GOLD])}


@pytest.fixture
def changes(staged: Staged, before: dict[str, Pointer]) -> list[Change]:
    """Both tables move, and a third is new."""
    return [
        staged.changed(before["lines"], column="note"),
        staged.new((*GOLD, "totals")),
        staged.changed(before["orders"]),
    ]


def rows(catalog: SqliteCatalog) -> dict[str, list[int]]:
    with catalog.raw() as raw:
        return {
            name[-1]: sorted(raw.load_table(name).scan().to_arrow()["id"].to_pylist())
            for name in raw.list_tables(GOLD)
        }


def refusal(catalog: SqliteCatalog, changes: list[Change], journal: Path) -> list[tuple[str, str]]:
    with pytest.raises(FloeError) as caught:
        catalog.publish(changes, journal)
    return [(finding.code, finding.message) for finding in caught.value.findings]


OLD = {"orders": [1], "lines": [1]}
NEW = {"orders": [1, 2], "lines": [1, 2], "totals": [1]}


def test_new_tables_bring_their_namespaces(
    catalog: SqliteCatalog, before: dict[str, Pointer], journal: Path
) -> None:
    assert rows(catalog) == OLD
    assert not journal.exists()
    assert catalog.pointer(ORDERS) == before["orders"]
    assert catalog.pointer((*GOLD, "absent")) is None
    assert catalog.pointers([("sales", "nowhere"), GOLD]) == [before["lines"], before["orders"]]


def test_tables_get_their_rows_and_columns(catalog: SqliteCatalog, changes: list[Change], journal: Path) -> None:
    catalog.publish(changes, journal)
    assert rows(catalog) == NEW
    assert not journal.exists()
    columns = catalog.columns_of(GOLD, "lines")
    assert columns
    assert [column.name for column in columns] == ["id", "note"]


def test_what_did_not_change_is_not_committed(
    catalog: SqliteCatalog, before: dict[str, Pointer], journal: Path
) -> None:
    copied = Path(before["orders"].location.removeprefix("file://"))
    copy = shutil.copy(copied, copied.with_name("copy.metadata.json"))
    after = Pointer(GOLD, "orders", before["orders"].kind, Path(copy).as_uri())
    catalog.publish([Change(before["orders"], after)], journal)
    assert catalog.pointer(ORDERS) == before["orders"]


def test_a_change_of_properties_is_published(
    catalog: SqliteCatalog, staged: Staged, before: dict[str, Pointer], journal: Path
) -> None:
    catalog.publish([staged.described(before["orders"], comment="all orders")], journal)
    with catalog.raw() as raw:
        assert raw.load_table(ORDERS).properties["comment"] == "all orders"


def test_a_table_that_somebody_wrote_to_stops_everything(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    with catalog.raw() as raw:
        append(raw.load_table(ORDERS), [7])
    [(code, message)] = refusal(catalog, changes, journal)
    assert code == "FLOE-E730"
    assert message.startswith("sales.orders.gold.orders was written by somebody else (append at 20")
    assert message.endswith("since this run began; nothing was published")
    assert rows(catalog) == {"orders": [1, 7], "lines": [1]}
    assert not journal.exists()


def test_it_says_who_changed_settings_dropped_or_made_a_table(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    with catalog.raw() as raw:
        raw.load_table(LINES).transaction().set_properties(a="b").commit_transaction()
        raw.drop_table(ORDERS)
        raw.create_table((*GOLD, "totals"), raw.load_table(LINES).schema())
    messages = [message.partition(" since")[0] for _, message in refusal(catalog, changes, journal)]
    assert messages[0].endswith("without new data,")
    assert messages[2] == "sales.orders.gold.orders was dropped"
    assert len(messages) == 3


def test_a_conflict_after_new_tables_takes_them_back(
    catalog: SqliteCatalog, staged: Staged, before: dict[str, Pointer], journal: Path
) -> None:
    changes = [staged.new((*GOLD, "totals")), staged.changed(before["orders"])]

    def intrude(name: str) -> None:
        if name == "register_table":
            with catalog.raw() as raw:
                append(raw.load_table(ORDERS), [7])

    catalog.calls.after = intrude
    [(code, message)] = refusal(catalog, changes, journal)
    assert (code, message.rpartition("; ")[2]) == ("FLOE-E730", "nothing was published")
    assert rows(catalog) == {"orders": [1, 7], "lines": [1]}
    assert not journal.exists()


def test_a_conflict_in_the_middle_says_what_is_published(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    def intrude(name: str) -> None:
        if name == "register_table":
            with catalog.raw() as raw:
                append(raw.load_table(ORDERS), [7])

    catalog.calls.after = intrude
    [(code, message)] = refusal(catalog, changes, journal)
    assert code == "FLOE-E730"
    assert message.rpartition("since this run began; ")[2] == (
        "published: sales.orders.gold.lines, sales.orders.gold.totals; not published: sales.orders.gold.orders"
    )
    assert rows(catalog) == {**NEW, "orders": [1, 7]}
    assert catalog.resume(journal) is None


@pytest.mark.parametrize("number", [1, 2])
def test_an_answer_that_was_lost_is_a_success(
    catalog: SqliteCatalog, changes: list[Change], journal: Path, number: int
) -> None:
    method = {1: "commit_table", 2: "register_table"}[number]

    def lose(name: str) -> None:
        if name == method:
            raise CommitStateUnknownException("no answer")

    catalog.calls.after = lose
    catalog.publish(changes, journal)
    assert rows(catalog) == NEW


def test_a_failure_in_the_middle_is_gone_on_with(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    def fail(name: str) -> None:
        if name == "register_table":
            raise OSError("the service is away")

    catalog.calls.before = fail
    [(code, message)] = refusal(catalog, changes, journal)
    assert code == "FLOE-E732"
    assert message == (
        "published: sales.orders.gold.lines; not published: sales.orders.gold.totals, sales.orders.gold.orders: "
        "the service is away"
    )
    assert rows(catalog) == {"orders": [1], "lines": [1, 2]}
    assert "earlier publication has not ended" in refusal(catalog, changes, journal)[0][1]
    catalog.calls.before = str.strip
    done = catalog.resume(journal)
    assert done
    assert [list(map(str, each)) for each in (done.before, done.now)] == [
        ["sales.orders.gold.lines"],
        ["sales.orders.gold.totals", "sales.orders.gold.orders"],
    ]
    assert rows(catalog) == NEW
    assert catalog.resume(journal) is None


def test_what_the_catalog_refuses_for_good_is_given_up(
    catalog: SqliteCatalog, staged: Staged, before: dict[str, Pointer], journal: Path
) -> None:
    changes = [staged.new((*GOLD, "totals")), staged.changed(before["orders"])]

    def refuse(name: str) -> None:
        if name == "commit_table":
            raise BadRequestError("no such thing")

    catalog.calls.before = refuse
    [found] = refusal(catalog, changes, journal)
    assert found == ("FLOE-E732", "nothing was published: the catalog refuses: no such thing")
    assert rows(catalog) == OLD
    assert not journal.exists()


def test_a_crash_between_a_commit_and_the_journal_is_recognised(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    kept = journal.with_name("kept.json")

    def keep(name: str) -> None:
        if name == "commit_table" and not kept.exists():
            shutil.copy(journal, kept)  # as it is before the first commit

    catalog.calls.before = keep
    catalog.publish(changes, journal)
    assert not any(step["done"] for step in json.loads(kept.read_text())["steps"])
    kept.rename(journal)
    with catalog.raw() as raw:
        append(raw.load_table(LINES), [9])  # and somebody has gone on since
    done = catalog.resume(journal)
    assert done
    assert (len(done.before), done.now) == (3, ())
    assert rows(catalog) == {**NEW, "lines": [1, 2, 9]}
    assert not journal.exists()


def test_a_journal_that_cannot_be_read_is_never_nothing(catalog: SqliteCatalog, journal: Path) -> None:
    for content in ("{", "{}", '{"format": "floe-publication/2"}'):
        journal.parent.mkdir(exist_ok=True)
        journal.write_text(content)
        with pytest.raises(FloeError) as caught:
            catalog.resume(journal)
        assert caught.value.findings[0].code == "FLOE-E732"
        assert str(journal) in caught.value.findings[0].message


def test_a_metadata_file_that_is_gone_is_named(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    Path(changes[1].after.location.removeprefix("file://")).unlink()
    [(code, message)] = refusal(catalog, changes, journal)
    assert code == "FLOE-E732"
    assert message.startswith("sales.orders.gold.totals: a metadata file of this publication is gone: file:///")
    assert rows(catalog) == OLD


def test_a_view_is_refused_before_anything_is_published(
    catalog: SqliteCatalog, staged: Staged, changes: list[Change], journal: Path
) -> None:
    [found] = refusal(catalog, [*changes, staged.view((*GOLD, "v"), "SELECT 1 AS id")], journal)
    assert found == ("FLOE-E735", "sales.orders.gold.v is a view")
    assert rows(catalog) == OLD


def test_a_table_that_was_made_anew_is_refused(
    catalog: SqliteCatalog, staged: Staged, before: dict[str, Pointer], journal: Path
) -> None:
    other = staged.new((*GOLD, "other")).after
    anew = Change(before["orders"], Pointer(GOLD, "orders", other.kind, other.location))
    [(code, message)] = refusal(catalog, [anew], journal)
    assert code == "FLOE-E731"
    assert "dropped and created again" in message


def test_a_catalog_that_keeps_something_else_is_told_on(
    catalog: SqliteCatalog, changes: list[Change], journal: Path
) -> None:
    """As Nessie does that loses a column: it accepts the commit, and shows another schema."""

    def forget(name: str) -> None:
        if name == "commit_table":
            with catalog.raw() as raw, raw.load_table(LINES).update_schema() as update:
                update.delete_column("note")
            catalog.calls.after = str.strip

    catalog.calls.after = forget
    [found] = refusal(catalog, changes, journal)
    assert found == ("FLOE-E734", "sales.orders.gold.lines: it shows another schema")
    assert not journal.exists()
