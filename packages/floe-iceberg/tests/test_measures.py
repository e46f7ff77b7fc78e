"""Checks answered from an Iceberg table's metadata: equal to a scan, or not answered."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import LongType

from floe_core.checks import Check, CheckPlan, Operator, Source
from floe_iceberg.measures import IcebergSource

NOW = datetime(2026, 6, 1, tzinfo=UTC)
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def warehouse(tmp_path: Path) -> SqlCatalog:
    catalog = SqlCatalog("floe", uri=f"sqlite:///{tmp_path}/c.db", warehouse=(tmp_path / "w").as_uri())
    catalog.create_namespace("s")
    return catalog


def rows(first: int, count: int, **more: Any) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int64()),
            "amount": pa.array([Decimal(number) / 10 for number in numbers], pa.decimal128(10, 2)),
            "day": pa.array([date(2026, 1, 1) + timedelta(days=number) for number in numbers], pa.date32()),
            "at": pa.array([MOMENT + timedelta(hours=number) for number in numbers], pa.timestamp("us", "UTC")),
            "name": pa.array([None if number % 3 == 0 else "x" * 40 for number in numbers], pa.string()),
            "share": pa.array([math.nan if number == 2 else float(number) for number in numbers], pa.float64()),
            **more,
        }
    )


def made(catalog: SqlCatalog, *parts: pa.Table, **properties: str) -> Table:
    table = catalog.create_table("s.t", parts[0].schema, properties=properties)
    for part in parts:
        table.append(part)
    return table


def measured(table: Table, metric: str, column: str = "", **more: Any) -> Any:
    check = Check("it", "t", column, metric, Source.METADATA, Operator.EQUAL, 0, **more)
    return IcebergSource(table, NOW).aggregate(CheckPlan("c", (check,))).get("it", "no answer")


def test_every_exact_metric_is_that_of_all_files(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 4), rows(10, 5))
    assert measured(table, "rowCount") == 9
    assert measured(table, "nullValues", "name") == 3
    assert measured(table, "nullValues", "name", percent=True) == pytest.approx(100 * 3 / 9)
    assert measured(table, "minimum", "id") == 0
    assert measured(table, "maximum", "amount") == Decimal("1.40")
    assert measured(table, "minimum", "day") == date(2026, 1, 1)
    assert measured(table, "maximum", "at") == MOMENT + timedelta(hours=14)
    assert measured(table, "freshness", "at") == (NOW - MOMENT - timedelta(hours=14)).total_seconds()
    assert measured(table, "availability") == 1


@pytest.mark.parametrize(("metric", "column"), [("maximum", "share"), ("minimum", "name"), ("maximum", "name")])
def test_bounds_that_are_cut_or_hide_nan_are_no_answer(warehouse: SqlCatalog, metric: str, column: str) -> None:
    assert measured(made(warehouse, rows(0, 4)), metric, column) == "no answer"


def test_metrics_that_were_not_written_are_no_answer(warehouse: SqlCatalog) -> None:
    table = made(
        warehouse,
        rows(0, 4),
        **{"write.metadata.metrics.default": "none", "write.metadata.metrics.column.id": "counts"},
    )
    assert measured(table, "nullValues", "name") == "no answer"
    assert measured(table, "nullValues", "id") == 0
    assert measured(table, "minimum", "id") == "no answer"
    assert measured(table, "rowCount") == 4


def test_a_file_from_before_a_column_says_nothing_about_it(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 4))
    with table.update_schema() as update:
        update.add_column("late", table.schema().find_type("id"))
    assert measured(table, "nullValues", "late") == "no answer"
    assert measured(table, "minimum", "late") == "no answer"


def test_columns_that_are_all_null_have_no_bounds(warehouse: SqlCatalog) -> None:
    part = rows(0, 2, none=pa.array([None, None], pa.int32()))
    table = made(warehouse, part)
    assert measured(table, "nullValues", "none") == 2
    assert measured(table, "minimum", "none") is None
    table.append(rows(2, 1, none=pa.array([7], pa.int32())))
    assert measured(table, "minimum", "none") == 7


def test_a_table_without_rows_is_known_exactly(warehouse: SqlCatalog) -> None:
    table = warehouse.create_table("s.t", rows(0, 1).schema)
    assert measured(table, "rowCount") == 0
    assert measured(table, "nullValues", "id") == 0
    assert measured(table, "maximum", "id") is None
    assert measured(table, "freshness") is None
    assert IcebergSource(table, NOW).snapshot().changed_at is None


def test_a_promoted_column_keeps_its_old_bounds(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 1, n=pa.array([5], pa.int32())))
    with table.update_schema() as update:
        update.update_column("n", LongType())
    table.append(rows(1, 1, n=pa.array([2**40], pa.int64())))
    assert (measured(table, "minimum", "n"), measured(table, "maximum", "n")) == (5, 2**40)


def test_a_table_is_as_old_as_its_last_snapshot_not_as_its_metadata(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 4))
    snapshot = table.current_snapshot()
    assert snapshot is not None
    with table.transaction() as transaction:
        transaction.set_properties(note="later")
    written = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
    assert measured(table, "freshness") == (NOW - written).total_seconds()
    assert IcebergSource(table, NOW).snapshot().rows == 4


def test_other_columns_and_fields_inside_are_no_answer(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 2, a=pa.array([{"b": 1}, None])))
    assert measured(table, "nullValues", "a") == "no answer"
    assert measured(table, "nullValues", "a.b") == "no answer"
    assert measured(table, "nullValues", "gone") == "no answer"


def apart(table: Table, *columns: str) -> list[str]:
    """The columns whose values since the first snapshot surely are none of before."""
    first = table.metadata.snapshots[0].snapshot_id
    source = IcebergSource(table, NOW)
    return [name for name in columns if source.is_apart(name, first)]


def test_files_whose_bounds_do_not_meet_share_no_value(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(10, 5), rows(20, 5), rows(30, 5))
    assert apart(table, "id", "amount", "day", "at") == ["id", "amount", "day", "at"]
    assert apart(table, "name", "share", "nowhere") == []  # bounds that are cut, or hide NaN, prove nothing
    table.append(rows(14, 2))
    assert apart(table, "id", "amount", "day", "at") == []


def test_only_rows_of_a_known_history_are_told_apart(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 5))
    assert apart(table, "id") == []  # nothing was added
    table.append(rows(20, 5))
    assert apart(table, "id") == ["id"]
    assert not IcebergSource(table, NOW).is_apart("id", 1)


def test_files_without_bounds_may_share_any_value(warehouse: SqlCatalog) -> None:
    silent = {"write.metadata.metrics.column.id": "counts"}
    table = made(warehouse, rows(0, 5), **silent)
    with table.transaction() as change:
        change.remove_properties(*silent)
    table.append(rows(20, 5))
    assert apart(table, "id", "day") == ["day"]


def test_columns_that_are_all_null_share_no_value(warehouse: SqlCatalog) -> None:
    table = made(warehouse, rows(0, 5), rows(0, 3, id=pa.nulls(3, pa.int64())))
    assert apart(table, "id", "day") == ["id"]
