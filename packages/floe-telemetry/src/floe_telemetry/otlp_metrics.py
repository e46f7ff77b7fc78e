"""Metrics of a run, with the types, units and labels of `floe_telemetry.metrics`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from opentelemetry.metrics import Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

from floe_telemetry import metrics
from floe_telemetry.events import (
    CheckType,
    ContractChecked,
    Event,
    EventsDropped,
    NodeFinished,
    Result,
    RunFinished,
    RunStarted,
    Status,
    TestFinished,
)
from floe_telemetry.facts import Facts
from floe_telemetry.metrics import Metric, MetricKind
from floe_telemetry.otlp import closed, exporter, resource
from floe_telemetry.outcome import Outcome
from floe_telemetry.settings import Collector
from floe_telemetry.watched import WatchedMetrics


def open_sink(target: Collector, facts: Facts, environ: Mapping[str, str]) -> Metrics:
    return Metrics(target, facts, environ)


class Metrics:
    """Turns what a run tells into measurements."""

    def __init__(self, target: Collector, facts: Facts, environ: Mapping[str, str]) -> None:
        self._target = target
        self._exporter = WatchedMetrics(exporter(target))
        self._provider = MeterProvider(
            [PeriodicExportingMetricReader(self._exporter)], resource(facts, environ), shutdown_on_exit=False
        )
        meter = self._provider.get_meter("floe", facts.floe_version)
        self._instruments = {metric: _instrument(meter, metric) for metric in metrics.METRICS}
        self._run: RunStarted | None = None

    def record(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._run = event
            case NodeFinished() if event.status is not Status.SKIPPED:
                self._node(event)
            case TestFinished():
                self._test(event)
            case ContractChecked():
                self._check(event)
            case RunFinished():
                self._finish(event)
            case EventsDropped():
                for what, count in (("status", event.statuses), ("event", event.others)):
                    if count:
                        self._say(metrics.DROPPED, count, what)

    def dropped(self) -> EventsDropped:
        return EventsDropped(0, 0)

    def close(self, deadline: float) -> Outcome:
        if self._run:
            self._finish(RunFinished(datetime.now(self._run.at.tzinfo), Status.FAILED))
        return closed(self._target, self._exporter, self._provider.shutdown, deadline)

    def _say(self, metric: Metric, value: float | None, *labels: str) -> None:
        """One measurement; the labels in the metric's order."""
        if value is None or not math.isfinite(value):
            return
        about = {name: label for name, label in zip(metric.labels, labels, strict=True) if label}
        instrument = self._instruments[metric]
        match metric.kind:
            case MetricKind.COUNTER:
                instrument.add(value, about)
            case MetricKind.HISTOGRAM:
                instrument.record(value, about)
            case MetricKind.GAUGE:
                instrument.set(value, about)

    def _node(self, event: NodeFinished) -> None:
        if event.node.ingestion:
            return
        about = (event.node.name, event.node.layer)
        self._say(metrics.TRANSFORM_DURATION, _seconds(event.started, event.ended), *about)
        self._say(metrics.TRANSFORM_ROWS, event.rows, *about)
        self._say(metrics.TRANSFORM_BYTES, event.bytes, *about)
        self._say(metrics.COVERAGE, event.coverage, event.node.name)

    def _test(self, event: TestFinished) -> None:
        self._say(metrics.TESTS_TOTAL, 1, event.model)
        self._say(metrics.TESTS_PASSED, int(event.result is Result.PASS), event.model)
        self._say(metrics.TESTS_FAILED, int(event.result is Result.FAIL), event.model)  # a zero begins the series

    def _check(self, event: ContractChecked) -> None:
        contract, kept = event.contract, not event.violations
        self._say(metrics.CHECK_DURATION, _seconds(event.started, event.ended), contract, event.check.value)
        for one in event.violations:
            self._say(metrics.VIOLATIONS, 1, contract, one.type.value, one.severity.value)
        if event.not_checked:
            return
        match event.check:
            case CheckType.FRESHNESS:
                self._say(metrics.FRESHNESS, event.actual, contract)
            case CheckType.QUALITY:
                self._say(metrics.QUALITY_SCORE, event.actual, contract)
            case CheckType.AVAILABILITY:
                self._say(metrics.AVAILABILITY, int(kept), contract)
            case CheckType.SCHEMA_DRIFT:
                self._say(metrics.SCHEMA_DRIFT, int(not kept), contract)

    def _finish(self, event: RunFinished) -> None:
        if self._run is None:
            return
        trigger = self._run.trigger.value
        self._say(metrics.PIPELINE_RUNS, 1, trigger)
        self._say(metrics.PIPELINE_DURATION, _seconds(self._run.at, event.at), trigger)
        self._say(metrics.PIPELINE_FAILURES, int(event.status is not Status.SUCCESS), trigger)
        self._run = None


def _instrument(meter: Meter, metric: Metric) -> Any:
    makers: dict[MetricKind, Callable[[str, str, str], Any]] = {
        MetricKind.COUNTER: meter.create_counter,
        MetricKind.HISTOGRAM: meter.create_histogram,
        MetricKind.GAUGE: meter.create_gauge,
    }
    return makers[metric.kind](metric.name, metric.unit, metric.description)


def _seconds(started: datetime, ended: datetime) -> float:
    return (ended - started).total_seconds()
