"""What a run tells observers: dbt's events, contract checks and its own end, in the words of floe-telemetry."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from floe_core.checks import Source
from floe_core.findings import Finding, Severity
from floe_core.table import Column
from floe_core.verdicts import CheckResult, TableVerdict, score, show, subject
from floe_dbt.events import Event, NodeFinished, NodeStarted, Status
from floe_spark.ledger import Ledger, Written
from floe_spark.lineage import Lineage
from floe_spark.product import Options, Product
from floe_telemetry import events
from floe_telemetry.events import CheckType, ViolationSeverity, ViolationType
from floe_telemetry.facts import Facts
from floe_telemetry.telemetry import Telemetry

BUILT = ("model", "seed", "snapshot")
TESTS = ("test", "unit_test")
SECONDS_IN_HOUR = 3600
BACKEND = ("shared_services", "lineage")
_RESULTS = {Status.PASS: events.Result.PASS, Status.WARN: events.Result.WARN}


@dataclass(frozen=True, slots=True)
class Observers:
    """Whoever watches one run. `lineage` is None when nobody does, and then nothing is derived for them."""

    telemetry: Telemetry
    lineage: Lineage | None

    def node(self, event: Event, written: Written | None = None, columns: Sequence[Column] = ()) -> None:
        """What dbt has just begun or ended."""
        if self.lineage is None:
            return
        if isinstance(event, NodeStarted) and event.kind in BUILT:
            node = self.lineage.node(event.name, event.kind)
            self.telemetry.record(events.NodeStarted(node, datetime.now(UTC)))
        elif isinstance(event, NodeFinished) and event.kind in BUILT:
            self.telemetry.record(self._built(self.lineage, event, written or Written(), columns))
        elif isinstance(event, NodeFinished) and event.kind in TESTS and event.status is not Status.SKIPPED:
            self.telemetry.record(_tested(event))

    def _built(
        self, lineage: Lineage, event: NodeFinished, written: Written, columns: Sequence[Column]
    ) -> events.NodeFinished:
        started, ended = _times(event)
        known = lineage.nodes.get(event.unique_id)
        is_good = not event.status.bad and event.status is not Status.SKIPPED
        return events.NodeFinished(
            lineage.node(event.name, event.kind),
            started,
            ended,
            _status(event),
            event.message if event.status.bad else "",
            written.rows,
            written.bytes,
            lineage.inputs(event.unique_id) if known else (),
            lineage.output(event.unique_id, columns) if is_good else None,
            lineage.origins(event.unique_id) if is_good else {},
            lineage.coverage(event.unique_id),
            lineage.tests(event.unique_id) if is_good else 0,
        )

    def checks(self, ledger: Ledger, verdicts: Sequence[TableVerdict], began: datetime) -> None:
        """How every contract fared."""
        if self.lineage is None:
            return
        ended = datetime.now(UTC)
        for contract in dict.fromkeys(verdict.contract.id for verdict in verdicts):
            mine = [verdict for verdict in verdicts if verdict.contract.id == contract]
            for event in _contract(mine, began, ended, self.lineage, ledger):
                self.telemetry.record(event)


@contextmanager
def observed(product: Product, options: Options, ledger: Ledger, lineage: Lineage) -> Iterator[Observers]:
    """Tell whoever wants to know that the run began, and, however it ends, that it ended."""
    assert ledger.artifacts  # noqa: S101 - the run has them before it tells of itself
    artifacts = ledger.artifacts
    services = product.spec.merged.get(BACKEND) or {}
    platform = services.get("url", "") if isinstance(services, dict) else ""
    spool = product.home / "spool"
    telemetry = Telemetry.of(Facts.of(artifacts), artifacts.observability, os.environ, spool, platform)
    observers = Observers(telemetry, lineage if telemetry.active else None)
    schedule = artifacts.schedule.cron if artifacts.schedule else ""
    trigger = events.Trigger(options.trigger)
    telemetry.record(events.RunStarted(ledger.run_id, ledger.began, trigger, schedule or ""))
    is_whole = False
    try:
        yield observers
        is_whole = not any(item.blocks for item in ledger.findings)
    finally:
        status = events.Status.SUCCESS if is_whole else events.Status.FAILED
        why = ledger.reasons[0] if ledger.reasons else ""
        telemetry.record(events.RunFinished(datetime.now(UTC), status, "" if is_whole else why))
        with ledger.phase("telemetry"):
            outcome = telemetry.close()
        ledger.telemetry += outcome.problems


def _status(event: NodeFinished) -> events.Status:
    if event.status is Status.SKIPPED:
        return events.Status.SKIPPED
    return events.Status.FAILED if event.status.bad else events.Status.SUCCESS


def _times(event: NodeFinished) -> tuple[datetime, datetime]:
    ended = datetime.fromtimestamp(event.ended, UTC)
    return ended - timedelta(seconds=event.seconds), ended


def _tested(event: NodeFinished) -> events.TestFinished:
    started, ended = _times(event)
    result = _RESULTS.get(event.status, events.Result.FAIL)
    message = event.message if result is not events.Result.PASS else ""
    return events.TestFinished(event.test or event.name, event.model, started, ended, result, event.column, message)


def _contract(
    verdicts: Sequence[TableVerdict], began: datetime, ended: datetime, lineage: Lineage, ledger: Ledger
) -> Iterator[events.ContractChecked]:
    """One event for each kind of check, with everything that broke the contract."""
    contract = verdicts[0].contract
    for verdict in verdicts:
        dataset = lineage.dataset(verdict.identifier[-1] if verdict.identifier else verdict.table)
        drifted = [item for item in verdict.drift if item.severity.blocks]
        yield events.ContractChecked(
            contract.name,
            contract.version,
            CheckType.SCHEMA_DRIFT,
            began,
            ended,
            dataset=dataset,
            violations=tuple(_drifted(item) for item in drifted),
        )
        for kind in (CheckType.FRESHNESS, CheckType.AVAILABILITY):
            for result in verdict.results:
                if result.check.metric == kind.value and result.check.source is not Source.NOBODY:
                    yield _single(verdict, result, kind, began, ended, dataset)
    quality = [
        item
        for verdict in verdicts
        for item in verdict.results
        if item.check.metric not in ("freshness", "availability") and item.check.source is not Source.NOBODY
    ]
    if quality:
        scored = next((item for item in ledger.scores if item.name == contract.name), None)
        yield _quality(verdicts, quality, scored.minimum if scored else None, began, ended)


def _single(
    verdict: TableVerdict,
    result: CheckResult,
    kind: CheckType,
    began: datetime,
    ended: datetime,
    dataset: events.Dataset,
) -> events.ContractChecked:
    scale = SECONDS_IN_HOUR if kind is CheckType.FRESHNESS else 1
    violation = ViolationType.FRESHNESS if kind is CheckType.FRESHNESS else ViolationType.AVAILABILITY
    return events.ContractChecked(
        verdict.contract.name,
        verdict.contract.version,
        kind,
        began,
        ended,
        _number(result.check.threshold, scale),
        _number(result.value, scale),
        dataset,
        (_violation(result, violation),) if result.passed is False else (),
        result.reason if result.passed is None else "",
    )


def _quality(
    verdicts: Sequence[TableVerdict],
    results: Sequence[CheckResult],
    minimum: float | None,
    began: datetime,
    ended: datetime,
) -> events.ContractChecked:
    contract, found = verdicts[0].contract, score(verdicts)
    unknown = next((item.reason for item in results if item.passed is None), "")
    return events.ContractChecked(
        contract.name,
        contract.version,
        CheckType.QUALITY,
        began,
        ended,
        minimum,
        found.value if found else None,
        violations=tuple(_violation(item, ViolationType.QUALITY) for item in results if item.passed is False),
        not_checked=unknown,
    )


def _violation(result: CheckResult, kind: ViolationType) -> events.Violation:
    check = result.check
    legal = f"{check.operator.value} {show(check.threshold)}" if check.operator else ""
    value = show(result.value)
    return events.Violation(
        kind,
        ViolationSeverity.WARNING,
        f"{subject(check)} is {value}, {legal}",
        check.column,
        legal,
        value,
    )


def _drifted(item: Finding) -> events.Violation:
    severity = ViolationSeverity.CRITICAL if item.severity is Severity.CRITICAL else ViolationSeverity.ERROR
    kind = ViolationType.SCHEMA_MISMATCH
    return events.Violation(kind, severity, item.message, "", item.expected or "", item.actual or "")


def _number(value: object, scale: float) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) / scale if is_number else None  # type: ignore[arg-type] # it is a number
