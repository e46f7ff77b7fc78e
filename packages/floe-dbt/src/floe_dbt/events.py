"""What a run reports while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a node ended."""

    SUCCESS = "success"
    PASS = "pass"  # noqa: S105 - dbt's word for a test without failures
    WARN = "warn"
    FAIL = "fail"
    ERROR = "error"
    SKIPPED = "skipped"
    RUNTIME_ERROR = "runtime error"  # of a freshness check
    PARTIAL = "partial success"  # some batches of a microbatch model
    NO_OP = "no-op"

    @property
    def bad(self) -> bool:
        return self in (Status.FAIL, Status.ERROR, Status.RUNTIME_ERROR, Status.PARTIAL)


@dataclass(frozen=True, slots=True)
class NodeStarted:
    """dbt begins with a model, seed, snapshot, test or hook."""

    unique_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class NodeFinished:
    """dbt is done with it; `path` and `line` are in the user's project."""

    unique_id: str
    name: str
    kind: str
    status: Status
    seconds: float
    message: str
    path: str
    line: int = 1
    failures: int | None = None  # rows that a test found
    ended: float = 0.0  # seconds since 1970
    test: str = ""  # of a test: what it tests (not_null), …
    model: str = ""  # … the name of the model, seed, snapshot or source
    column: str = ""  # … and its column


Event = NodeStarted | NodeFinished
OnEvent = Callable[[Event], None]
