"""One relation as a `TableSource`: metadata where it is exact, one pass for the rest, queries where asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from time import perf_counter
from typing import Any

from pyiceberg.exceptions import RESTError
from pyspark.sql import SparkSession
from pyspark.sql.types import NumericType

from floe_contracts.sql import refusal, render
from floe_core.checks import Check, CheckPlan, Snapshot, Source
from floe_core.table import Column
from floe_core.verdicts import Answer, Answered, Cost
from floe_iceberg.measures import IcebergSource
from floe_spark.checks import sql
from floe_spark.checks.columns import UnmeasurableError, read_columns
from floe_spark.checks.measures import Additive, Duplicates, Measure, Question, question
from floe_spark.checks.memory import Memory, Recalled
from floe_spark.checks.relation import FAILED, Failure, Relation, why

Answers = dict[str, Answer]


@dataclass
class SparkSource:
    """A table or view of a session. Without `iceberg` it is a view, of which there is no metadata."""

    session: SparkSession
    parts: tuple[str, ...]  # catalog, namespace, name
    iceberg: IcebergSource | None = None
    memory: Memory | None = None
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    cost: Cost = field(default_factory=Cost, init=False)

    def schema(self) -> tuple[Column, ...]:
        if self.iceberg:
            return self.iceberg.schema()
        with sql.as_written(self.session):
            return read_columns(self.session.table(self._relation.name).schema)

    def snapshot(self) -> Snapshot:
        return self.iceberg.snapshot() if self.iceberg else Snapshot(None)

    def aggregate(self, plan: CheckPlan) -> Mapping[str, Any]:
        found = self.answers([check for check in plan.checks if check.table == self.parts[-1]])
        return {name: answer.value for name, answer in found.items() if not answer.reason}

    @property
    def _relation(self) -> Relation:
        return Relation(self.session, self.parts, self.iceberg.table if self.iceberg else None)

    def answers(self, checks: Sequence[Check]) -> Answers:
        """An answer to every check that floe runs."""
        with sql.as_written(self.session):
            return self._answers(checks)

    def _answers(self, checks: Sequence[Check]) -> Answers:
        started = perf_counter()
        found = self._from_metadata(checks)
        metadata = perf_counter() - started
        passing = [
            item for item in checks if item.source in (Source.METADATA, Source.PASS) and item.id not in found
        ]
        queries = [item for item in checks if item.source is Source.QUERY]
        scanned, read = self._scan(passing) if passing else ({}, "nothing")
        scan = perf_counter() - started - metadata
        found |= scanned
        found |= {check.id: self._query(check) for check in queries}
        self.cost = Cost(metadata, scan, perf_counter() - started - metadata - scan, read)
        return found

    def _from_metadata(self, checks: Sequence[Check]) -> Answers:
        started = perf_counter()
        if self.iceberg is None:
            there = [check for check in checks if check.metric == "availability"]
            return {check.id: self._view_is_there() for check in there}
        try:
            found = self.iceberg.measure(checks)
        except (OSError, RESTError, ValueError):  # a manifest that cannot be read: Spark will say so
            return {}
        seconds = perf_counter() - started
        return {name: Answer(value, Answered.METADATA, seconds) for name, value in found.items()}

    def _view_is_there(self) -> Answer:
        try:
            self.schema()
        except FAILED:
            return Answer(0, Answered.PASS)
        return Answer(1, Answered.PASS)

    def _scan(self, checks: Sequence[Check]) -> tuple[Answers, str]:
        """Everything that needs rows, in as few passes as there are; and which rows were read."""
        started = perf_counter()
        relation = self._relation
        try:
            relation.refresh()
            schema = self.session.table(relation.name).schema
        except FAILED as exc:
            return {check.id: Answer(None, Answered.PASS, reason=why(exc)) for check in checks}, "nothing"
        asked: list[Question] = []
        found: Answers = {}
        for check in checks:
            try:
                asked.append(question(self.session, schema, check, self.now))
            except UnmeasurableError as exc:
                found[check.id] = Answer(None, Answered.PASS, reason=str(exc))
        measures = list(dict.fromkeys(measure for item in asked for measure in item.needs))
        values, source, read = self._measure(relation, measures)
        seconds = perf_counter() - started
        for item in asked:
            found[item.check.id] = _answer(item, values, source, seconds)
        return found, read

    def _measure(self, relation: Relation, measures: Sequence[Measure]) -> tuple[dict[Measure, Any], Answered, str]:
        table = relation.table
        if not measures:
            return {}, Answered.PASS, "nothing"
        if table is None or self.memory is None or self.iceberg is None:
            return _all(relation, measures), Answered.PASS, "all rows"
        recalled = None if self.iceberg.has_deletes else self.memory.recall(table, measures)
        current = table.metadata.current_snapshot()
        if recalled and current and recalled.snapshot == current.snapshot_id:
            return dict(recalled.values), Answered.MEMORY, "nothing"
        values = _added(relation, measures, recalled, self.iceberg) if recalled else None
        source, read = (Answered.ADDED, "added files") if values is not None else (Answered.PASS, "all rows")
        values = values if values is not None else _all(relation, measures)
        if not self.iceberg.has_deletes:
            self.memory.remember(table, {key: it for key, it in values.items() if not isinstance(it, Failure)})
        return values, source, read

    def _query(self, check: Check) -> Answer:
        """A query that a user wrote: proven once more as it will run, and worth one number."""
        started = perf_counter()
        try:
            value = self._number(render(check.query, self.parts, check.column))
        except UnmeasurableError as exc:
            return Answer(None, Answered.QUERY, perf_counter() - started, str(exc))
        except FAILED as exc:
            return Answer(None, Answered.QUERY, perf_counter() - started, why(exc))
        return Answer(value, Answered.QUERY, perf_counter() - started)

    def _number(self, query: str) -> int | float | Decimal:
        if reason := refusal(query):
            raise UnmeasurableError(f"the query {reason}")
        frame = self.session.sql(query)
        if len(frame.schema.fields) != 1 or not isinstance(frame.schema.fields[0].dataType, NumericType):
            raise UnmeasurableError("the query does not give one number")
        rows = frame.take(2)
        if len(rows) != 1:
            raise UnmeasurableError(f"the query gives {'no row' if not rows else 'several rows'}")
        value = rows[0][0]
        if not isinstance(value, int | float | Decimal):
            raise UnmeasurableError("the query gives NULL")
        return value


def _answer(item: Question, values: Mapping[Measure, Any], source: Answered, seconds: float) -> Answer:
    failed = next((found for need in item.needs if isinstance(found := values[need], Failure)), None)
    if failed:
        return Answer(None, source, seconds, failed.reason)
    return Answer(item.finish(values), source, seconds)


def _kinds(measures: Sequence[Measure]) -> tuple[list[Additive], list[Duplicates]]:
    return (
        [item for item in measures if isinstance(item, Additive)],
        [item for item in measures if isinstance(item, Duplicates)],
    )


def _all(relation: Relation, measures: Sequence[Measure]) -> dict[Measure, Any]:
    additive, keys = _kinds(measures)
    return {**relation.aggregate(additive, relation.rows), **relation.duplicates(keys, relation.rows)}


def _added(
    relation: Relation, measures: Sequence[Measure], old: Recalled, iceberg: IcebergSource
) -> dict[Measure, Any] | None:
    """Old values and added rows together; None when anything fails, for then all rows are read."""
    additive, keys = _kinds(measures)
    try:
        new_keys = [key for key in keys if any(iceberg.is_apart(name, old.snapshot) for name in key.names)]
        mixed = [key for key in keys if key not in new_keys]
        edges = {item: _edges(item) for item in mixed if item.ranges}
        with relation.added_since(old.snapshot) as rows:
            asked = list(dict.fromkeys([*additive, *(edge for pair in edges.values() for edge in pair)]))
            new = relation.aggregate(asked, rows)
            ranges = {item: _within(item, new[least], new[most]) for item, (least, most) in edges.items()}
            new |= relation.duplicates(new_keys, rows)
            new |= relation.new_duplicates(mixed, rows, relation.at(old.snapshot), ranges)
    except (*FAILED, OSError, RESTError, ValueError):
        return None
    if any(isinstance(value, Failure) for value in new.values()):
        return None
    try:
        combined: dict[Measure, Any] = {item: item.combine(old.values[item], new[item]) for item in additive}
    except TypeError:  # what was remembered is of another kind
        return None
    return combined | {item: old.values[item] + new[item] for item in keys}


def _edges(key: Duplicates) -> tuple[Additive, Additive]:
    [column] = key.columns
    return Additive("min", column), Additive("max", column)


def _within(key: Duplicates, least: Any, most: Any) -> str:
    """Old rows can only repeat a new key between the least and the greatest of them: files outside are not read."""
    if not isinstance(least, int | Decimal | str | date) or isinstance(least, bool | datetime):
        return ""
    [column] = key.columns
    return f" AND {column} BETWEEN {_literal(least)} AND {_literal(most)}"


def _literal(value: int | Decimal | str | date) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}BD"
    return sql.text(value) if isinstance(value, str) else f"DATE '{value.isoformat()}'"
