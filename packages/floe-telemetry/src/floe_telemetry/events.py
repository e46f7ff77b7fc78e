"""What a run tells about itself, in words of its own: neither dbt's, Spark's, OpenTelemetry's nor OpenLineage's.

Every time is an aware `datetime`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Trigger(StrEnum):
    """What started a run."""

    SCHEDULED = "scheduled"
    MANUAL = "manual"
    SENSOR = "sensor"


class Status(StrEnum):
    """How a run or a node ended. What was skipped never began, and nothing is reported about it."""

    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"


class Result(StrEnum):
    """How a test ended."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    WARN = "warn"


class CheckType(StrEnum):
    """What a contract check looks at."""

    FRESHNESS = "freshness"
    SCHEMA_DRIFT = "schema_drift"
    QUALITY = "quality"
    AVAILABILITY = "availability"
    LIFECYCLE = "lifecycle"


class ViolationType(StrEnum):
    """How a contract is broken."""

    SCHEMA_MISMATCH = "schema_mismatch"
    SCHEMA_DRIFT = "schema_drift"
    FRESHNESS = "freshness_violation"
    AVAILABILITY = "availability_violation"
    QUALITY = "quality_violation"
    BREAKING_CHANGE = "breaking_change"
    DEPRECATION_WARNING = "deprecation_warning"
    DEPRECATION_ERROR = "deprecation_error"


class ViolationSeverity(StrEnum):
    """How bad that is."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a dataset, or a field inside one."""

    name: str
    type: str = ""
    description: str = ""
    classes: tuple[str, ...] = ()
    pii_type: str = ""
    fields: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table as lineage names it; without a namespace it is in that of this product."""

    name: str
    namespace: str = ""
    layer: str = ""
    columns: tuple[Column, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """A column that another one is made of; one that is not direct only steers it: it is counted, or sorted by."""

    dataset: str
    column: str
    namespace: str = ""
    direct: bool = True


@dataclass(frozen=True, slots=True)
class Ingestion:
    """What makes a node the loading of a source."""

    type: str
    source: str
    destination: str
    write_disposition: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """A model, seed or snapshot, or with `ingestion` the loading of a source."""

    name: str
    layer: str = ""
    materialization: str = ""
    kind: str = "model"
    type: str = "dbt"
    ingestion: Ingestion | None = None


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins; `run_id` is unique among all runs."""

    run_id: str
    at: datetime
    trigger: Trigger = Trigger.MANUAL
    schedule: str = ""


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """A node begins. Without this event its start is reported when it ends."""

    node: Node
    at: datetime


@dataclass(frozen=True, slots=True)
class NodeFinished:
    """A node ended. `tests` is how many `TestFinished` about it follow: its end waits for them in lineage."""

    node: Node
    started: datetime
    ended: datetime
    status: Status = Status.SUCCESS
    message: str = ""
    rows: int | None = None
    bytes: int | None = None
    inputs: tuple[Dataset, ...] = ()
    output: Dataset | None = None
    column_lineage: Mapping[str, tuple[Origin, ...]] = field(default_factory=dict)
    coverage: float | None = None
    tests: int = 0


@dataclass(frozen=True, slots=True)
class TestFinished:
    """A test ended."""

    name: str
    model: str
    started: datetime
    ended: datetime
    result: Result
    column: str = ""
    message: str = ""

    __test__ = False  # not for pytest


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a check found a contract broken."""

    type: ViolationType
    severity: ViolationSeverity
    message: str
    element: str = ""
    expected: str = ""
    actual: str = ""


@dataclass(frozen=True, slots=True)
class ContractChecked:
    """A contract was checked. No violation means that it is kept, unless it could not be checked.

    `threshold` and `actual` are hours for freshness, a score for quality, 1 or 0 for availability.
    """

    contract: str
    version: str
    check: CheckType
    started: datetime
    ended: datetime
    threshold: float | None = None
    actual: float | None = None
    dataset: Dataset | None = None
    violations: tuple[Violation, ...] = ()
    not_checked: str = ""  # why it could not be


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The run ended."""

    at: datetime
    status: Status = Status.SUCCESS
    message: str = ""


@dataclass(frozen=True, slots=True)
class EventsDropped:
    """The spool was full: how many contract statuses and how many other events were given up."""

    statuses: int
    others: int


Event = RunStarted | NodeStarted | NodeFinished | TestFinished | ContractChecked | RunFinished | EventsDropped
