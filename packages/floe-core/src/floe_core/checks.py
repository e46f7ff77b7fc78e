"""Checks without an engine: what a contract asks of its data, and who can answer it.

A contract compiles to a `CheckPlan`; an engine or a catalog answers it through a `TableSource`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

from floe_core.source import KeyPath
from floe_core.table import Column

Arguments: TypeAlias = tuple[tuple[str, Any], ...]


class Operator(StrEnum):
    """How a measured value is compared with the threshold of a rule."""

    EQUAL = "mustBe"
    NOT_EQUAL = "mustNotBe"
    GREATER = "mustBeGreaterThan"
    AT_LEAST = "mustBeGreaterOrEqualTo"
    LESS = "mustBeLessThan"
    AT_MOST = "mustBeLessOrEqualTo"
    BETWEEN = "mustBeBetween"
    NOT_BETWEEN = "mustNotBeBetween"

    def holds(self, value: Any, threshold: Any) -> bool:
        """Whether the value is legal. Bounds of `between` belong to it."""
        match self:
            case Operator.EQUAL:
                return bool(value == threshold)
            case Operator.NOT_EQUAL:
                return bool(value != threshold)
            case Operator.GREATER:
                return bool(value > threshold)
            case Operator.AT_LEAST:
                return bool(value >= threshold)
            case Operator.LESS:
                return bool(value < threshold)
            case Operator.AT_MOST:
                return bool(value <= threshold)
            case Operator.BETWEEN:
                return bool(threshold[0] <= value <= threshold[1])
            case Operator.NOT_BETWEEN:
                return not threshold[0] <= value <= threshold[1]


class RuleKind(StrEnum):
    """Who can run a quality rule: the library of metrics, a query, another tool, or a reader."""

    LIBRARY = "library"
    SQL = "sql"
    CUSTOM = "custom"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Rule:
    """A quality rule of a contract, on a table or on one of its columns."""

    kind: RuleKind
    column: str = ""
    name: str = ""
    metric: str = ""
    arguments: Arguments = ()
    operator: Operator | None = None
    threshold: Any = None
    unit: str = ""
    query: str = ""
    engine: str = ""
    implementation: str = ""
    severity: str = ""
    weight: float = 1.0
    description: str = ""
    path: KeyPath = ()

    @property
    def label(self) -> str:
        """The rule in few words."""
        told = self.metric or self.name or self.engine or self.kind.value
        if self.operator is None:
            return told
        return f"{told} {self.operator.value} {self.threshold}"


class Source(StrEnum):
    """The cheapest place where a check finds an exact answer, cheapest first."""

    METADATA = "metadata"
    PASS = "pass"  # noqa: S105 - one pass over the table, not a password
    QUERY = "query"
    NOBODY = "not run"


@dataclass(frozen=True, slots=True)
class Check:
    """One question about a table, and which answer is legal."""

    id: str
    table: str
    column: str
    metric: str
    source: Source
    operator: Operator | None
    threshold: Any
    arguments: Arguments = ()
    percent: bool = False
    query: str = ""
    severity: str = ""
    weight: float = 1.0
    origin: str = ""  # what in the contract asks for it
    reason: str = ""  # why it is not run, when it is not
    path: KeyPath = ()  # where the contract asks for it


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Every check of a contract, each with the cheapest source that answers it exactly."""

    contract: str
    checks: tuple[Check, ...] = ()

    def of(self, source: Source, table: str | None = None) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.source is source and table in (None, check.table))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a table's metadata knows: when it changed, and how many rows it has."""

    changed_at: datetime | None
    rows: int | None = None


class TableSource(Protocol):
    """A table that can be asked. Iceberg answers from metadata and files, Spark by running SQL."""

    def schema(self) -> tuple[Column, ...]:
        """The columns the table has."""

    def snapshot(self) -> Snapshot:
        """What is known without reading data."""

    def aggregate(self, plan: CheckPlan) -> Mapping[str, Any]:
        """The measured value of each check by its id; a check that could not be measured is left out."""
