"""Spans of a run: one for the run, inside it one for each node, inside that one for each test."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from floe_telemetry import names
from floe_telemetry.events import (
    Event,
    EventsDropped,
    Node,
    NodeFinished,
    Result,
    RunFinished,
    RunStarted,
    Status,
    TestFinished,
)
from floe_telemetry.facts import Facts
from floe_telemetry.otlp import closed, exporter, resource
from floe_telemetry.outcome import Outcome
from floe_telemetry.settings import Collector
from floe_telemetry.watched import Watched

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def open_sink(target: Collector, facts: Facts, environ: Mapping[str, str]) -> Traces:
    return Traces(target, facts, environ)


class Traces:
    """Turns what a run tells into spans with the times that it tells."""

    def __init__(self, target: Collector, facts: Facts, environ: Mapping[str, str]) -> None:
        self._target = target
        self._exporter = Watched(exporter(target))
        self._provider = TracerProvider(resource=resource(facts, environ), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(self._exporter))
        self._tracer = self._provider.get_tracer("floe", facts.floe_version)
        self._run: trace.Span | None = None
        self._nodes: dict[str, Context] = {}

    def record(self, event: Event) -> None:
        match event:
            case RunStarted():
                about = {names.RUN_ID: event.run_id, names.SCHEDULE: event.schedule, names.TRIGGER: event.trigger}
                self._run = self._start(names.PIPELINE, about, event.at, Context())
            case NodeFinished() if event.status is not Status.SKIPPED:
                span = self._start(*_about(event.node), event.started, self._inside())
                self._nodes[event.node.name] = trace.set_span_in_context(span, Context())
                _end(span, event.ended, failed=event.status is Status.FAILED, message=event.message)
            case TestFinished():
                inside = self._nodes.get(event.model) or self._inside()
                span = self._start(names.TEST, _tested(event), event.started, inside)
                _end(span, event.ended, failed=event.result is Result.FAIL, message=event.message)
            case RunFinished():
                self._finish(event)

    def dropped(self) -> EventsDropped:
        return EventsDropped(0, 0)

    def close(self, deadline: float) -> Outcome:
        if self._run:
            self._finish(RunFinished(datetime.now(EPOCH.tzinfo), Status.FAILED, "the run ended early"))
        return closed(self._target, self._exporter, self._provider.shutdown, deadline)

    def _finish(self, event: RunFinished) -> None:
        if self._run:
            _end(self._run, event.at, failed=event.status is not Status.SUCCESS, message=event.message)
        self._run = None
        self._nodes.clear()

    def _inside(self) -> Context:
        return trace.set_span_in_context(self._run, Context()) if self._run else Context()

    def _start(
        self, span: names.Span, about: Mapping[names.Attribute, str], at: datetime, inside: Context
    ) -> trace.Span:
        attributes = {attribute.name: value for attribute, value in about.items() if value}
        return self._tracer.start_span(span.name, inside, attributes=attributes, start_time=_nanoseconds(at))


def _about(node: Node) -> tuple[names.Span, Mapping[names.Attribute, str]]:
    if ingestion := node.ingestion:
        return names.INGESTION, {
            names.INGESTION_TYPE: ingestion.type,
            names.SOURCE: ingestion.source,
            names.DESTINATION: ingestion.destination,
            names.WRITE_DISPOSITION: ingestion.write_disposition,
        }
    return names.TRANSFORM, {
        names.TRANSFORM_TYPE: node.type,
        names.MODEL: node.name,
        names.LAYER: node.layer,
        names.MATERIALIZATION: node.materialization,
    }


def _tested(test: TestFinished) -> Mapping[names.Attribute, str]:
    return {
        names.TEST_NAME: test.name,
        names.TESTED_MODEL: test.model,
        names.TESTED_COLUMN: test.column,
        names.RESULT: test.result.value,
    }


def _end(span: trace.Span, at: datetime, *, failed: bool, message: str) -> None:
    if failed:
        span.set_status(trace.StatusCode.ERROR, message or None)
    span.end(_nanoseconds(at))


def _nanoseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(microseconds=1) * 1000
