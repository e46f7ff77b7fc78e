"""A table or view that is measured on Spark: which rows are read, and what is done when a query fails."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # py4j has no types
from pyiceberg.table import Table
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Row, SparkSession

from floe_spark.checks import sql
from floe_spark.checks.measures import Additive, Duplicates, Measure

FAILED = (PySparkException, Py4JJavaError)
PATIENCE = 6  # failing passes over the rows, before what is left counts as failed too


def why(error: Exception) -> str:
    """The first line of what Spark says."""
    if isinstance(error, Py4JJavaError):
        return str(error.java_exception).partition("\n")[0][:200]
    return (str(error).strip().partition("\n")[0] or type(error).__name__)[:200]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a measure has no value."""

    reason: str


@dataclass(slots=True)
class Relation:
    """A relation of the session. A table is read at the snapshot that its metadata was read at."""

    session: SparkSession
    parts: tuple[str, ...]
    table: Table | None
    patience: int = field(default=PATIENCE, init=False)

    @property
    def name(self) -> str:
        return sql.name(*self.parts)

    @property
    def rows(self) -> str:
        """All rows, for FROM."""
        current = self.table.metadata.current_snapshot() if self.table else None
        if self.table is None or current is None or current.schema_id != self.table.metadata.current_schema_id:
            return self.name  # a column that came after the snapshot would be missing in it
        return f"{self.name} VERSION AS OF {current.snapshot_id}"

    def at(self, snapshot: int) -> str:
        """The rows of an earlier snapshot, for FROM."""
        return f"{self.name} VERSION AS OF {snapshot}"

    def refresh(self) -> None:
        """Let Spark forget what it remembers of a table."""
        if self.table is not None:
            self.session.sql(f"REFRESH TABLE {self.name}")

    @contextmanager
    def added_since(self, snapshot: int) -> Iterator[str]:
        """The rows that appends have added since a snapshot, for FROM."""
        assert self.table is not None  # noqa: S101 - only a table has snapshots
        current = self.table.metadata.current_snapshot()
        assert current is not None  # noqa: S101 - there was one before
        view = f"floe_added_{secrets.token_hex(6)}"
        frame = (
            self.session.read.option("start-snapshot-id", snapshot)
            .option("end-snapshot-id", current.snapshot_id)
            .table(self.name)
        )
        frame.createOrReplaceTempView(view)
        try:
            yield sql.name(view)
        finally:
            self.session.catalog.dropTempView(view)

    def aggregate(self, measures: Sequence[Additive], rows: str) -> dict[Measure, Any]:
        """Every measure in one pass; what makes the pass fail is found and left out."""
        found: dict[Measure, Any] = {}
        for group in ([item for item in measures if not item.slow], [item for item in measures if item.slow]):
            found |= self._split(group, lambda items: self._aggregate(items, rows))
        return found

    def _aggregate(self, measures: Sequence[Measure], rows: str) -> dict[Measure, Any]:
        additive = [item for item in measures if isinstance(item, Additive)]
        listed = ", ".join(f"{item.sql} AS m{number}" for number, item in enumerate(additive))
        [row] = self.session.sql(f"SELECT {listed} FROM {rows}").collect()  # noqa: S608 - names are quoted
        return {item: item.read(value) for item, value in zip(additive, row, strict=True)}

    def duplicates(self, measures: Sequence[Duplicates], rows: str) -> dict[Measure, Any]:
        """How many keys stand in more than one row, for all keys in one query."""
        return self._split(measures, lambda items: self._count(items, lambda key: _repeated(key, rows)))

    def new_duplicates(
        self, measures: Sequence[Duplicates], rows: str, old: str, ranges: Mapping[Duplicates, str]
    ) -> dict[Measure, Any]:
        """How many keys became repeated by the rows that were added to old ones."""

        def query(key: Duplicates) -> str:
            return _newly(key, rows, old, ranges.get(key, ""))

        return self._split(measures, lambda items: self._count(items, query))

    def _count(self, measures: Sequence[Measure], query: Callable[[Duplicates], str]) -> dict[Measure, Any]:
        keys = [item for item in measures if isinstance(item, Duplicates)]
        numbered = (f"SELECT {number} AS i, n FROM ({query(key)})" for number, key in enumerate(keys))  # noqa: S608
        found: list[Row] = self.session.sql(" UNION ALL ".join(numbered)).collect()
        return {keys[row["i"]]: row["n"] for row in found}

    def _split(
        self, measures: Sequence[Measure], run: Callable[[Sequence[Measure]], dict[Measure, Any]]
    ) -> dict[Measure, Any]:
        if not measures:
            return {}
        try:
            return run(measures)
        except FAILED as exc:
            if not isinstance(exc, AnalysisException):
                self.patience -= 1
            if len(measures) == 1 or self.patience <= 0:
                return dict.fromkeys(measures, Failure(why(exc)))
        half = len(measures) // 2
        return {**self._split(measures[:half], run), **self._split(measures[half:], run)}


def _present(measure: Duplicates) -> str:
    return " AND ".join(f"{column} IS NOT NULL" for column in measure.columns)


def _repeated(measure: Duplicates, rows: str) -> str:
    keys = f"SELECT 1 FROM {rows} WHERE {_present(measure)} GROUP BY {measure.sql} HAVING count(1) > 1"  # noqa: S608
    return f"SELECT count(1) AS n FROM ({keys})"  # noqa: S608


def _newly(measure: Duplicates, rows: str, old: str, within: str) -> str:
    """Keys of added rows that now stand in several rows, and stood in at most one before."""
    keys = [f"k{number}" for number in range(len(measure.columns))]
    named = ", ".join(f"{column} AS {key}" for column, key in zip(measure.columns, keys, strict=True))
    same = " AND ".join(f"a.{key} = b.{key}" for key in keys)
    group = ", ".join(keys)
    new = f"SELECT {named} FROM {rows} WHERE {_present(measure)}"  # noqa: S608 - names are quoted
    added = f"SELECT {group}, count(1) AS n FROM ({new}) GROUP BY {group}"  # noqa: S608
    there = f"SELECT {named} FROM {old} WHERE {_present(measure)}{within}"  # noqa: S608
    before = (
        f"SELECT {group}, count(1) AS n FROM ({there}) a "  # noqa: S608
        f"LEFT SEMI JOIN ({added}) b ON {same} GROUP BY {group}"
    )
    return (
        f"SELECT count(1) AS n FROM ({added}) a LEFT JOIN ({before}) b ON {same} "  # noqa: S608
        "WHERE coalesce(b.n, 0) <= 1 AND a.n + coalesce(b.n, 0) > 1"
    )
