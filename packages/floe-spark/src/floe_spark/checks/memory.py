"""Measured values by snapshot: what is known of old rows need not be measured again.

One small JSON file for each table, named by the table's uuid. A file that cannot be read, or that is not one of
these, is as good as none.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation

from floe_spark.checks.measures import Additive, Measure, fingerprint

FORM = "floe-measures/1"
KEPT = 3  # snapshots of a table: the published one, and those of runs that were withheld
MAX_BYTES = 4_000_000
_TAGS: dict[str, type] = {"float": float, "decimal": Decimal}


@dataclass(frozen=True, slots=True)
class State:
    """The table that is measured, as far as it decides whether what is remembered still counts."""

    uuid: str
    snapshot: int
    shape: str  # format version and schema

    @classmethod
    def of(cls, table: Table) -> State | None:
        """None: a table without rows has nothing to remember."""
        current = table.metadata.current_snapshot()
        if current is None:
            return None
        shape = f"{table.metadata.format_version}/{table.metadata.current_schema_id}/{current.schema_id}"
        return cls(str(table.metadata.table_uuid), current.snapshot_id, shape)


@dataclass(frozen=True, slots=True)
class Recalled:
    """Values of an earlier snapshot of which only appends have happened since; of this one when nothing has."""

    snapshot: int
    values: Mapping[Measure, Any]


@dataclass(frozen=True, slots=True)
class Memory:
    """A folder of remembered measures."""

    folder: Path

    def recall(self, table: Table, measures: Collection[Measure]) -> Recalled | None:
        """The newest snapshot of which every measure is known; None when the whole table must be read."""
        state = State.of(table)
        if state is None:
            return None
        known = self._read(state)
        for snapshot in _appended_to(table):
            values = known.get(snapshot, {})
            with suppress(KeyError, TypeError, ValueError, InvalidOperation):
                return Recalled(snapshot, {item: _recalled(item, values[fingerprint(item)]) for item in measures})
        return None

    def remember(self, table: Table, values: Mapping[Measure, Any]) -> None:
        """Keep values of the current snapshot, beside those of the few before it."""
        state = State.of(table)
        if state is None or not values:
            return
        known = self._read(state)
        new = {fingerprint(item): _encode(value) for item, value in values.items()}
        merged = {**known.pop(state.snapshot, {}), **new}
        kept = dict([*known.items(), (state.snapshot, merged)][-KEPT:])
        document = {
            "form": FORM,
            "table": state.uuid,
            "shape": state.shape,
            "snapshots": [{"id": number, "values": found} for number, found in kept.items()],
        }
        with suppress(OSError):  # a memory that cannot be kept costs time, no more
            self._write(state, json.dumps(document, indent=1))

    def _path(self, state: State) -> Path:
        return self.folder / f"{state.uuid}.json"

    def _write(self, state: State, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(state)
        new = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
        try:
            new.write_text(text, encoding="utf-8")
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)

    def _read(self, state: State) -> dict[int, dict[str, Any]]:
        try:
            path = self._path(state)
            if path.stat().st_size > MAX_BYTES:
                return {}
            found = json.loads(path.read_text(encoding="utf-8"))
            if (found["form"], found["table"], found["shape"]) != (FORM, state.uuid, state.shape):
                return {}
            return {int(item["id"]): dict(item["values"]) for item in found["snapshots"]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return {}


def _appended_to(table: Table) -> Iterable[int]:
    """The current snapshot, and those before it from which it differs by nothing but appended rows."""
    snapshot = table.metadata.current_snapshot()
    schema = table.metadata.current_schema_id
    while snapshot is not None:
        if snapshot.schema_id != schema:
            return
        yield snapshot.snapshot_id
        if snapshot.summary is None or snapshot.summary.operation is not Operation.APPEND:
            return
        if snapshot.parent_snapshot_id is None:
            return
        snapshot = table.metadata.snapshot_by_id(snapshot.parent_snapshot_id)


def _encode(value: Any) -> Any:
    match value:
        case bool() | None | int():
            return value
        case float():
            return {"float": repr(value)}
        case Decimal():
            return {"decimal": str(value)}
        case datetime():
            return {"moment": value.isoformat()}
        case date():
            return {"day": value.isoformat()}
    raise TypeError(f"{type(value).__name__} cannot be remembered")


def _recalled(measure: Measure, value: Any) -> Any:
    is_extreme = isinstance(measure, Additive) and measure.how != "sum"
    if not is_extreme and not isinstance(value, int):
        raise TypeError("a count is a whole number")
    return _decode(value)


def _decode(value: Any) -> Any:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if not isinstance(value, dict):
        raise TypeError("no value of ours")
    [(tag, written)] = value.items()
    if tag == "moment":
        return datetime.fromisoformat(written)
    return date.fromisoformat(written) if tag == "day" else _TAGS[tag](written)
