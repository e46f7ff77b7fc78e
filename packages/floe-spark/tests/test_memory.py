"""What is remembered of a table, and when it still counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import StringType

from floe_spark.checks.measures import ROWS, Additive, Duplicates
from floe_spark.checks.memory import KEPT, Memory

LEAST, GREATEST, KEYS = Additive("min", "`a`"), Additive("max", "`a`"), Duplicates(("`a`",), True)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    catalog = SqlCatalog("floe", uri=f"sqlite:///{tmp_path}/c.db", warehouse=(tmp_path / "w").as_uri())
    catalog.create_namespace("s")
    made = catalog.create_table("s.t", some(1).schema)
    made.append(some(1, 2))
    return made


def some(*numbers: int) -> pa.Table:
    return pa.table({"a": pa.array(numbers, pa.int64())})


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "memory")


def snapshot_of(table: Table) -> int:
    current = table.current_snapshot()
    assert current is not None
    return current.snapshot_id


@pytest.mark.parametrize(
    "value",
    [
        0,
        -(2**70),
        None,
        1.5,
        float("inf"),
        Decimal("1.20"),
        date(2026, 1, 2),
        datetime(2026, 1, 2, 3, 4, 5, 6, UTC),
    ],
)
def test_values_come_back_as_they_were(table: Table, memory: Memory, value: Any) -> None:
    memory.remember(table, {LEAST: value})
    found = memory.recall(table, [LEAST])
    assert found is not None
    assert (found.snapshot, found.values[LEAST]) == (snapshot_of(table), value)
    assert type(found.values[LEAST]) is type(value)


def test_nan_comes_back_as_nan(table: Table, memory: Memory) -> None:
    memory.remember(table, {GREATEST: float("nan")})
    found = memory.recall(table, [GREATEST])
    assert found is not None
    assert found.values[GREATEST] != found.values[GREATEST]


def test_appends_leave_it_standing(table: Table, memory: Memory) -> None:
    memory.remember(table, {ROWS: 2, KEYS: 0})
    known = snapshot_of(table)
    table.append(some(3))
    table.append(some(4))
    found = memory.recall(table, [KEYS, ROWS])
    assert found is not None
    assert (found.snapshot, dict(found.values)) == (known, {KEYS: 0, ROWS: 2})


def widen(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column("b", StringType())


CHANGES: dict[str, Callable[[Table], object]] = {
    "overwrite": lambda table: table.overwrite(some(5)),
    "delete": lambda table: table.delete("a = 1"),
    "schema": widen,
}


@pytest.mark.parametrize("change", CHANGES)
def test_anything_else_ends_it(table: Table, memory: Memory, change: str) -> None:
    memory.remember(table, {ROWS: 2})
    CHANGES[change](table)
    assert memory.recall(table, [ROWS]) is None
    if change in ("overwrite", "delete"):
        table.append(some(6))
        assert memory.recall(table, [ROWS]) is None


def test_one_unknown_measure_makes_all_unknown(table: Table, memory: Memory) -> None:
    memory.remember(table, {ROWS: 2})
    assert memory.recall(table, [ROWS, LEAST]) is None
    memory.remember(table, {LEAST: 1})
    assert memory.recall(table, [ROWS, LEAST]) is not None


def test_another_table_of_the_same_name_is_another_table(table: Table, memory: Memory) -> None:
    memory.remember(table, {ROWS: 2})
    table.catalog.drop_table("s.t")
    again = table.catalog.create_table("s.t", some(1).schema)
    again.append(some(1))
    assert memory.recall(again, [ROWS]) is None


def test_a_withheld_snapshot_does_not_push_out_the_published_one(table: Table, memory: Memory) -> None:
    published = snapshot_of(table)
    memory.remember(table, {ROWS: 2})
    table.append(some(3))
    memory.remember(table, {ROWS: 3})
    table.manage_snapshots().rollback_to_snapshot(published).commit()
    assert snapshot_of(table) == published
    found = memory.recall(table, [ROWS])
    assert found is not None
    assert found.snapshot == snapshot_of(table)


def test_only_a_few_snapshots_are_kept(table: Table, memory: Memory) -> None:
    for number in range(KEPT + 2):
        memory.remember(table, {ROWS: number})
        table.append(some(number))
    [file] = memory.folder.iterdir()
    assert len(json.loads(file.read_text())["snapshots"]) == KEPT


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"{}",
        b'{"form": "floe-measures/1"}',
        b"[" * 100_000,
        b'{"form": "x", "table": 1, "shape": 2}',
    ],
)
def test_a_file_that_is_none_of_ours_is_as_good_as_none(table: Table, memory: Memory, content: bytes) -> None:
    memory.remember(table, {ROWS: 2})
    [file] = memory.folder.iterdir()
    file.write_bytes(content)
    assert memory.recall(table, [ROWS]) is None
    memory.remember(table, {ROWS: 2})
    assert memory.recall(table, [ROWS]) is not None
    assert list(memory.folder.iterdir()) == [file]


@pytest.mark.parametrize(
    "value", [True, [], {}, {"float": "x"}, {"decimal": "x"}, {"day": 1}, {"no": "1"}, "text", None]
)
def test_a_value_that_is_none_is_unknown(table: Table, memory: Memory, value: Any) -> None:
    memory.remember(table, {ROWS: 2})
    [file] = memory.folder.iterdir()
    document = json.loads(file.read_text())
    [snapshot] = document["snapshots"]
    snapshot["values"] = dict.fromkeys(snapshot["values"], value)
    file.write_text(json.dumps(document))
    assert memory.recall(table, [ROWS]) is None


def test_a_folder_that_cannot_be_written_costs_no_verdict(table: Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    Memory(tmp_path / "file").remember(table, {ROWS: 2})
    assert Memory(tmp_path / "file").recall(table, [ROWS]) is None


@pytest.mark.parametrize(
    ("how", "old", "new", "both"),
    [
        ("sum", 2, 3, 5),
        ("min", None, 3, 3),
        ("min", 2.0, float("nan"), 2.0),
        ("max", Decimal(2), None, Decimal(2)),
        ("max", 7, 3, 7),
    ],
)
def test_old_and_new_rows_add_up(how: str, old: Any, new: Any, both: Any) -> None:
    assert Additive(how, "x").combine(old, new) == both


def test_nan_is_the_greatest_of_all() -> None:
    assert str(Additive("max", "x").combine(float("inf"), float("nan"))) == "nan"
    assert str(Additive("max", "x").combine(float("nan"), 1.0)) == "nan"
