"""What a check has to say: one finding, one report, one exit code."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from floe_core.codes import CODES, Code, Exit


class Severity(StrEnum):
    """How much a finding weighs; error and critical block."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def blocks(self) -> bool:
        return self in (Severity.ERROR, Severity.CRITICAL)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file, counted from one."""

    path: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: where, what, why, how to fix it."""

    code: str
    message: str
    place: Place
    severity: Severity = Severity.ERROR
    why: str = ""
    fix: str = ""
    expected: str | None = None
    actual: str | None = None
    related: tuple[Related, ...] = ()
    details: tuple[tuple[str, str | tuple[str, ...]], ...] = ()  # labelled lines for a terminal, in their order
    about: Code | None = field(default=None, repr=False)  # the row of a code that is not floe's own

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", self.why or self.row.why)
        object.__setattr__(self, "fix", self.fix or self.row.fix)

    @property
    def row(self) -> Code:
        return self.about or CODES[self.code]

    @property
    def path(self) -> str:
        return self.place.path

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def column(self) -> int:
        return self.place.column

    @property
    def blocks(self) -> bool:
        """Whether the command must fail: a blocking severity, or something that could not be checked."""
        return self.severity.blocks or self.row.exit > Exit.FINDINGS

    @property
    def fingerprint(self) -> str:
        """The same for the same problem, wherever in its file it moves."""
        text = "\0".join((self.code, self.path, self.message))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "why": self.why,
            "fix": self.fix,
            "expected": self.expected,
            "actual": self.actual,
            "docs": self.row.docs,
            "fingerprint": self.fingerprint,
            "related": [
                {
                    "path": item.place.path,
                    "line": item.place.line,
                    "column": item.place.column,
                    "message": item.message,
                }
                for item in self.related
            ],
        }


# The specification's four names for the same thing.
ValidationError = Finding
PolicyViolation = Finding
EnforcementViolation = Finding
ContractViolation = Finding


class FloeError(Exception):
    """Findings that leave nothing to go on with."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__("\n".join(f"{item.code} {item.place}  {item.message}" for item in findings))
        self.findings = findings


class PolicyViolationError(FloeError):
    """A child manifest weakens its parent; `findings` holds every weakening."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a command found, as every output format shows it."""

    command: str
    found: tuple[Finding, ...] = ()
    summary: dict[str, Any] = field(default_factory=dict)
    strict: bool = False
    limit: int | None = None  # how many are listed; counts and the exit code are of all

    @property
    def findings(self) -> list[Finding]:
        """What the input did wrong."""
        return sorted((item for item in self.found if item.row.exit <= Exit.FINDINGS), key=_by_place)

    @property
    def errors(self) -> list[Finding]:
        """What kept the command from checking."""
        return sorted((item for item in self.found if item.row.exit > Exit.FINDINGS), key=_by_place)

    @property
    def exit_code(self) -> int:
        blocking = (item.row.exit for item in self.found if self.fails(item))
        return int(max(blocking, default=Exit.CLEAN))

    @property
    def listed(self) -> list[Finding]:
        """What a format shows: errors first, and no more than the limit."""
        everything = [*self.errors, *self.findings]
        return everything if self.limit is None else everything[: self.limit]

    @property
    def left_out(self) -> int:
        """How many the limit hides."""
        return len(self.found) - len(self.listed)

    def counts(self) -> dict[str, int]:
        """How many were found of each severity, listed or not."""
        found = Counter(item.severity for item in self.found)
        return {severity.value: found[severity] for severity in Severity}

    def fails(self, item: Finding) -> bool:
        """Whether this finding makes the command fail."""
        return item.blocks or (self.strict and _warns(item))

    def to_json(self) -> dict[str, Any]:
        listed = self.listed
        return {
            "schema": "floe-report/1",
            "command": self.command,
            "exit_code": self.exit_code,
            "findings": [item.to_json() for item in listed if item.row.exit <= Exit.FINDINGS],
            "errors": [item.to_json() for item in listed if item.row.exit > Exit.FINDINGS],
            "summary": self.summary,
        }


def _by_place(item: Finding) -> tuple[Place, str, str]:
    return item.place, item.code, item.message


def _warns(item: Finding) -> bool:
    return item.severity is Severity.WARNING


def as_seen_from_here(place: Place) -> Place:
    """The same place, its path as a person in the working directory would write it."""
    if not os.path.isabs(place.path):  # noqa: PTH117 - a Path for each of many findings costs more than the rest
        return place
    return Place(_from(os.getcwd(), place.path), place.line, place.column)  # noqa: PTH109


@lru_cache(maxsize=1_000)
def _from(folder: str, path: str) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def relative_to_cwd(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same findings with paths relative to the working directory."""
    return tuple(
        replace(
            item,
            place=as_seen_from_here(item.place),
            related=tuple(replace(other, place=as_seen_from_here(other.place)) for other in item.related),
        )
        for item in findings
    )
