"""floe's own facets of lineage events. The schema of each is the JSON file beside this one that it names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from floe_telemetry.events import Column, ContractChecked, Result, RunStarted, TestFinished, Violation
from floe_telemetry.facts import Facts

Json = dict[str, Any]

HOME: Final = "https://floe.dev/schemas/facets"
FLOE: Final = f"{HOME}/floe-facet.json"
CLASSIFICATION: Final = f"{HOME}/classification-facet.json"
QUALITY: Final = f"{HOME}/quality-facet.json"
VIOLATION: Final = f"{HOME}/contract-violation-facet.json"
STATUS: Final = f"{HOME}/contract-status-facet.json"

SENSITIVITY: Final = {
    **dict.fromkeys(("pii", "phi", "sensitive", "restricted"), "high"),
    "confidential": "medium",
}


def said(**fields: Any) -> Json:
    """The fields that have something to say; NaN and infinities say nothing, and are not JSON."""
    return {name: value for name, value in fields.items() if value not in (None, "") and not _endless(value)}


def _endless(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def facet(producer: str, schema: str, **fields: Any) -> Json:
    return {"_producer": producer, "_schemaURL": schema, **said(**fields)}


def written(at: datetime) -> str:
    """A time as events write it."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def floe(facts: Facts, layer: str = "", run: RunStarted | None = None) -> Json:
    """Which product a run or a dataset belongs to."""
    pipeline = run and said(run_id=run.run_id, trigger=run.trigger.value, schedule=run.schedule)
    return facet(
        facts.producer,
        FLOE,
        version=facts.floe_version,
        mode=facts.mode,
        namespace=facts.namespace,
        product={"name": facts.product, "version": facts.version},
        domain=facts.domain,
        enterprise=facts.enterprise,
        layer=layer,
        pipeline=pipeline,
    )


def classification(producer: str, columns: Sequence[Column]) -> Json | None:
    """Which columns are classified; None when none is."""
    rows = list(_classified(columns))
    return facet(producer, CLASSIFICATION, columns=rows) if rows else None


def _classified(columns: Sequence[Column], at: str = "") -> Iterator[Json]:
    for column in columns:
        name = f"{at}{column.name}"
        for one in column.classes:
            kind = column.pii_type if one == "pii" else ""
            yield said(name=name, classification=one, pii_type=kind, sensitivity=SENSITIVITY.get(one))
        yield from _classified(column.fields, f"{name}.")


def quality(producer: str, tests: Sequence[TestFinished], coverage: float | None) -> Json | None:
    """What the tests of a dataset said; None when there is nothing to say."""
    if not tests and coverage is None:
        return None
    rows = [said(name=test.name, column=test.column, status=test.result.value) for test in tests]
    return facet(producer, QUALITY, tests=rows, coverage=coverage)


def contract_violation(producer: str, check: ContractChecked, violation: Violation) -> Json:
    """How a contract is broken."""
    return facet(
        producer,
        VIOLATION,
        contractName=check.contract,
        contractVersion=check.version,
        violationType=violation.type.value,
        severity=violation.severity.value,
        message=violation.message or violation.type.value,
        element=violation.element,
        expectedValue=violation.expected,
        actualValue=violation.actual,
        timestamp=written(check.ended),
    )


def contract_status(producer: str, check: ContractChecked) -> Json:
    """That a contract is kept."""
    return facet(
        producer,
        STATUS,
        contractName=check.contract,
        contractVersion=check.version,
        checkType=check.check.value,
        status=Result.PASS.value,
        threshold=check.threshold,
        actualValue=check.actual,
        checkedAt=written(check.ended),
    )
