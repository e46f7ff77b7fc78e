"""What the checks of a contract found: measured values, verdicts, and the quality score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from math import inf
from typing import Any

from floe_core.checks import Check, Source
from floe_core.contract import Contract
from floe_core.findings import Finding, Severity

_BY_DESIGN = ("text", "custom")  # for readers, and for other tools
_SEVERITIES = {
    **dict.fromkeys(("info", "trivial"), Severity.INFO),
    **dict.fromkeys(("warning", "warn", "low", "minor"), Severity.WARNING),
    **dict.fromkeys(("critical", "blocker"), Severity.CRITICAL),
}
_EXTREMES = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")


class Answered(StrEnum):
    """What a measured value was read from."""

    METADATA = "metadata"
    ADDED = "added files"
    MEMORY = "remembered"
    PASS = "pass"  # noqa: S105 - a pass over the table, not a password
    QUERY = "query"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Answer:
    """A measured value. `reason` says why there is none, and then it is not a value but the lack of one."""

    value: Any
    source: Answered
    seconds: float = 0.0  # of the step that answered; checks that were answered together share it
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check with its verdict. `passed` is None when it could not be measured, which is never a pass."""

    check: Check
    value: Any
    passed: bool | None
    reason: str
    source: Answered
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What the checks of a table cost, in seconds by step, and how much of the table was read."""

    metadata: float = 0.0
    scan: float = 0.0
    queries: float = 0.0
    read: str = "nothing"  # nothing, added files, all rows

    @property
    def seconds(self) -> float:
        return self.metadata + self.scan + self.queries


@dataclass(frozen=True, slots=True)
class TableVerdict:
    """What the checks of one contract say about one table, and how its columns differ from the promised ones."""

    contract: Contract
    table: str
    identifier: tuple[str, ...]
    results: tuple[CheckResult, ...]
    cost: Cost = Cost()
    drift: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for result in self.results for finding in _finding(self.contract, result))


@dataclass(frozen=True, slots=True)
class Score:
    """The weighted mean of passed checks, 0 to 100. `best` counts what could not be measured as passed."""

    value: float
    best: float
    checks: int


def score(verdicts: Iterable[TableVerdict]) -> Score | None:
    """The quality score of one contract; None when floe runs none of its checks."""
    run = [item for verdict in verdicts for item in verdict.results if item.check.source is not Source.NOBODY]
    total = sum(item.check.weight for item in run)
    if not total:
        return None
    passed = sum(item.check.weight for item in run if item.passed)
    unknown = sum(item.check.weight for item in run if item.passed is None)
    return Score(100 * passed / total, 100 * (passed + unknown) / total, len(run))


def judge_score(contract: Contract, found: Score | None, minimum: float) -> list[Finding]:
    """A finding when the score is below the minimum, whatever the checks without an answer would say."""
    if found is None or found.best >= minimum:
        return []
    path = next((sla.path for sla in contract.slas if sla.name == "quality"), ())
    message = f"Quality score of contract '{contract.name}' is {found.value:.1f}, below {minimum:g}"
    shown = f"{found.value:.1f}"
    return [Finding("FLOE-E742", message, contract.place(path), expected=f"≥ {minimum:g}", actual=shown)]


def judge(check: Check, answer: Answer | None) -> CheckResult:
    """The verdict about a measured value."""
    if check.source is Source.NOBODY or check.operator is None:
        return CheckResult(check, None, None, check.reason or "compared with nothing", Answered.NOBODY)
    if answer is None or answer.reason:
        reason = answer.reason if answer else "nobody could measure it"
        seconds = answer.seconds if answer else 0.0
        return CheckResult(check, None, None, reason, answer.source if answer else Answered.NOBODY, seconds)
    passed, reason = _holds(check, answer.value)
    return CheckResult(check, answer.value, passed, reason, answer.source, answer.seconds)


def _holds(check: Check, value: Any) -> tuple[bool | None, str]:
    assert check.operator is not None  # noqa: S101 - `judge` has looked
    if value is None:
        if check.metric in _EXTREMES:
            return True, "there is no value that could break it"
        if check.metric == "freshness":
            return False, "there is no value" if check.column else "nothing was ever written"
        return None, "the answer is NULL"
    if isinstance(value, float) and value != value:
        if check.metric not in _EXTREMES:
            return None, "the answer is not a number"
        value = inf  # as in Spark's order, where NaN is above every number
    try:
        threshold = check.threshold
        limits = tuple(_like(value, item) for item in (threshold if isinstance(threshold, tuple) else (threshold,)))
        return check.operator.holds(_plain(value), limits if isinstance(threshold, tuple) else limits[0]), ""
    except (TypeError, ValueError, InvalidOperation):
        return None, f"{show(value)} cannot be compared with {show(check.threshold)}"


def _plain(value: Any) -> Any:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value


def _like(value: Any, threshold: Any) -> Any:
    """A threshold as a value of the measured kind: decimals exactly as written, times in UTC."""
    if isinstance(value, datetime):
        return _plain(datetime.fromisoformat(str(threshold)))
    if isinstance(value, date):
        return date.fromisoformat(str(threshold)[:10])
    if isinstance(value, Decimal) and isinstance(threshold, float):
        return Decimal(str(threshold))
    if isinstance(value, int | float | Decimal) and isinstance(threshold, str):
        return Decimal(threshold)
    return threshold


def show(value: Any) -> str:
    """A measured value in few words."""
    if isinstance(value, float):
        return f"{value:.6g}" if value == value else "NaN"
    if isinstance(value, tuple):
        return " and ".join(map(show, value))
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _finding(contract: Contract, result: CheckResult) -> Iterator[Finding]:
    check = result.check
    place = contract.place(check.path)
    asked = f"{check.operator.value} {show(check.threshold)}" if check.operator else ""
    unit = "%" if check.percent else ""
    if result.passed is False:
        yield Finding(
            "FLOE-E740",
            f"{subject(check)} is {_value(result)}{unit}, {asked}{unit} ({check.origin})",
            place,
            _SEVERITIES.get(check.severity.strip().casefold(), Severity.ERROR),
            expected=f"{asked}{unit}",
            actual=f"{_value(result)}{unit}",
        )
    elif result.passed is None and check.source is not Source.NOBODY:
        yield Finding("FLOE-E741", f"{subject(check)} could not be measured: {result.reason}", place)
    elif result.passed is None and check.table and check.metric not in _BY_DESIGN:
        yield Finding("FLOE-E743", f"{subject(check)} is not run: {check.reason}", place, Severity.WARNING)


def _value(result: CheckResult) -> str:
    if result.value is None:
        return result.reason
    return f"{show(result.value)} seconds" if result.check.metric == "freshness" else show(result.value)


def subject(check: Check) -> str:
    """Table, column and metric of a check."""
    columns: Sequence[str] = dict(check.arguments).get("properties", ())
    named = check.column or ", ".join(map(str, columns))
    return f"{check.metric} of {check.table}.{named}" if named else f"{check.metric} of {check.table}"
