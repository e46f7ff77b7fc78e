"""An Iceberg table that answers checks from its metadata: exactly, or not at all.

Row counts, null counts and the bounds of numbers and times stand in the manifests, which are read once for all
checks. Where delete files hide rows, where a writer left metrics out, and where bounds are cut, there is no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cached_property
from struct import error as StructError  # noqa: N812 - a class, whatever its module calls it
from typing import Any

from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile, ManifestContent, ManifestEntry, ManifestFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.snapshots import Snapshot as TableSnapshot
from pyiceberg.types import (
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    TimestampType,
    TimestamptzType,
)
from pyiceberg.utils.datetime import days_to_date, micros_to_timestamp, micros_to_timestamptz

from floe_core.checks import Check, CheckPlan, Snapshot, Source
from floe_core.table import Column
from floe_iceberg.columns import read_columns

_EXACT = (IntegerType, LongType, DecimalType, DateType, TimestampType, TimestamptzType)
_TIMES = (DateType, TimestampType, TimestamptzType)
UNKNOWN = object()
TOTAL_ROWS = "total-records"


@dataclass(slots=True)
class _Metrics:
    """What all data files of a table say about one column; None where one of them is silent."""

    nulls: int | None = 0
    lower: Any = None
    upper: Any = None
    bounded: bool = True

    def meets(self, other: _Metrics) -> bool:
        """Whether a value can be in both."""
        if not other.bounded:
            return True
        if self.lower is None or other.lower is None:
            return False
        return bool(self.lower <= other.upper and other.lower <= self.upper)


@dataclass(frozen=True)
class IcebergSource:
    """One table of an open catalog as a `TableSource`; `now` is the moment that ages are counted to."""

    table: Table
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def schema(self) -> tuple[Column, ...]:
        return read_columns(self.table.schema())

    def snapshot(self) -> Snapshot:
        """When the table last changed, and its rows; None for what metadata does not know."""
        return Snapshot(self._changed_at, self._rows)

    def aggregate(self, plan: CheckPlan) -> Mapping[str, Any]:
        """The value of each check of this table that metadata knows exactly; all others are left out."""
        name = self.table.name()[-1]
        mine = [check for check in plan.of(Source.METADATA) if check.table == name]
        return self.measure(mine)

    def measure(self, checks: Iterable[Check]) -> dict[str, Any]:
        """The same for checks of which the caller knows that they are about this table."""
        answers = ((check.id, self._answer(check)) for check in checks if check.source is Source.METADATA)
        return {name: value for name, value in answers if value is not UNKNOWN}

    def _answer(self, check: Check) -> Any:
        match check.metric:
            case "availability":
                return 1
            case "rowCount":
                return UNKNOWN if self._rows is None else self._rows
            case "freshness" if not check.column:
                return self._age(self._changed_at) if self._knows_change else UNKNOWN
            case "nullValues" | "missingValues":
                return self._nulls(check)
            case "minimum" | "maximum" | "freshness":
                return self._bound(check)
        return UNKNOWN

    def _age(self, moment: datetime | None) -> float | None:
        return None if moment is None else (self.now - moment).total_seconds()

    @cached_property
    def _current(self) -> TableSnapshot | None:
        return self.table.metadata.current_snapshot()

    @cached_property
    def _last_change(self) -> tuple[bool, datetime | None]:
        """Whether history tells when the rows last changed, and when. Compaction changes no row."""
        snapshot = self._current
        while snapshot is not None:
            if snapshot.summary is None or snapshot.summary.operation is not Operation.REPLACE:
                return True, datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
            if snapshot.parent_snapshot_id is None:
                return True, None
            snapshot = self.table.metadata.snapshot_by_id(snapshot.parent_snapshot_id)
            if snapshot is None:  # expired
                return False, None
        return True, None

    @property
    def _knows_change(self) -> bool:
        return self._last_change[0]

    @property
    def _changed_at(self) -> datetime | None:
        return self._last_change[1]

    @cached_property
    def _manifests(self) -> list[ManifestFile]:
        return self._current.manifests(self.table.io) if self._current else []

    @cached_property
    def has_deletes(self) -> bool:
        """Whether a delete file hides rows, or may: then counts are not exact."""
        deletes = (item for item in self._manifests if item.content is ManifestContent.DELETES)
        return any(_live(item) != 0 for item in deletes)

    @cached_property
    def _entries(self) -> list[ManifestEntry]:
        data = (item for item in self._manifests if item.content is ManifestContent.DATA and _live(item) != 0)
        return [entry for item in data for entry in item.fetch_manifest_entry(self.table.io)]

    @cached_property
    def _files(self) -> list[DataFile]:
        return [entry.data_file for entry in self._entries]

    def is_apart(self, name: str, snapshot: int) -> bool:
        """Whether the files that appends have added since a snapshot surely share no value with those before."""
        column, since = self._field(name), self._since(snapshot)
        kind = column.field_type if column else None
        if column is None or not isinstance(kind, PrimitiveType) or not isinstance(kind, _EXACT) or not since:
            return False
        added = _Metrics()
        old = []
        for entry in self._entries:
            metrics = added if entry.snapshot_id in since else _Metrics()
            _add(metrics, entry.data_file, column.field_id, kind)
            if metrics is not added:
                old.append(metrics)
        return added.bounded and not any(added.meets(metrics) for metrics in old)

    def _since(self, snapshot: int) -> set[int]:
        """The snapshots after an earlier one; none when history does not lead back to it."""
        since = set()
        current = self._current
        while current is not None and current.snapshot_id != snapshot:
            since.add(current.snapshot_id)
            parent = current.parent_snapshot_id
            current = None if parent is None else self.table.metadata.snapshot_by_id(parent)
        return since if current else set()

    @cached_property
    def _rows(self) -> int | None:
        if self._current is None:
            return 0
        if self.has_deletes:
            return None
        told = self._current.summary.additional_properties.get(TOTAL_ROWS) if self._current.summary else None
        return (
            int(told) if told is not None and told.isdecimal() else sum(file.record_count for file in self._files)
        )

    def _field(self, name: str) -> NestedField | None:
        return next((item for item in self.table.schema().fields if item.name == name), None)

    @cached_property
    def _known(self) -> dict[int, _Metrics]:
        return {}

    def _metrics(self, column: NestedField, kind: PrimitiveType) -> _Metrics:
        found = self._known.get(column.field_id)
        if found is None:
            found = self._known[column.field_id] = _Metrics()
            for file in self._files:
                _add(found, file, column.field_id, kind)
        return found

    def _nulls(self, check: Check) -> Any:
        column = self._field(check.column)
        if column is None or not isinstance(column.field_type, PrimitiveType):
            return UNKNOWN
        nulls = self._metrics(column, column.field_type).nulls
        if nulls is None or (nulls and self.has_deletes):
            return UNKNOWN
        if not check.percent:
            return nulls
        if nulls == 0:
            return 0.0
        return UNKNOWN if not self._rows else 100 * nulls / self._rows

    def _bound(self, check: Check) -> Any:
        column = self._field(check.column)
        kind = column.field_type if column else None
        exact = _TIMES if check.metric == "freshness" else _EXACT
        if column is None or not isinstance(kind, PrimitiveType) or not isinstance(kind, exact) or self.has_deletes:
            return UNKNOWN
        metrics = self._metrics(column, kind)
        if not metrics.bounded:
            return UNKNOWN
        if check.metric == "minimum":
            return metrics.lower
        return metrics.upper if check.metric == "maximum" else self._age(as_moment(metrics.upper))


def _live(manifest: ManifestFile) -> int | None:
    """Files of a manifest that are still in the table; None where it does not say."""
    added, existing = manifest.added_files_count, manifest.existing_files_count
    return None if added is None or existing is None else added + existing


def _add(metrics: _Metrics, file: DataFile, column: int, kind: PrimitiveType) -> None:
    if not file.record_count:
        return
    nulls = (file.null_value_counts or {}).get(column)
    metrics.nulls = None if nulls is None or metrics.nulls is None else metrics.nulls + nulls
    if nulls is not None and nulls == file.record_count:
        return
    if not isinstance(kind, _EXACT):
        metrics.bounded = False
        return
    lower = _value(kind, (file.lower_bounds or {}).get(column))
    upper = _value(kind, (file.upper_bounds or {}).get(column))
    if lower is None or upper is None:
        metrics.bounded = False
        return
    metrics.lower = lower if metrics.lower is None else min(metrics.lower, lower)
    metrics.upper = upper if metrics.upper is None else max(metrics.upper, upper)


def _value(kind: PrimitiveType, bound: bytes | None) -> int | Decimal | date | datetime | None:
    if not bound:
        return None
    try:
        raw: Any = from_bytes(kind, bound)
        if isinstance(kind, DateType):
            return days_to_date(raw)
        if isinstance(kind, TimestampType):
            return micros_to_timestamp(raw)
        if isinstance(kind, TimestamptzType):
            return micros_to_timestamptz(raw)
    except (StructError, OverflowError, ValueError):  # of a promoted type, or beyond the year 9999
        return None
    return raw if isinstance(raw, int | Decimal) else None


def as_moment(value: date | datetime | None) -> datetime | None:
    """A time on the clock of UTC; of a day its first moment."""
    if value is None:
        return None
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
