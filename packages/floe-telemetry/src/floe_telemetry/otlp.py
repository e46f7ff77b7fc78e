"""Exporters over OTLP that a run can leave at any time, and what spans and metrics share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final, Protocol

from opentelemetry.sdk.resources import Resource

from floe_telemetry.facts import Facts
from floe_telemetry.outcome import Outcome
from floe_telemetry.settings import GRPC, HTTP, Collector, service

MODULES: Final = {GRPC: "grpc", HTTP: "http"}
EXPORTERS: Final = {
    "traces": ("trace_exporter", "OTLPSpanExporter"),
    "metrics": ("metric_exporter", "OTLPMetricExporter"),
}


def resource(facts: Facts, environ: Mapping[str, str]) -> Resource:
    """Who reports. What OTEL_RESOURCE_ATTRIBUTES adds is kept; what floe knows better is not overwritten."""
    return Resource.create({**facts.attributes(), "service.name": service(environ)})


def exporter(target: Collector) -> Any:
    """The SDK's exporter for a signal; ValueError for a protocol that it does not have."""
    if target.protocol not in MODULES:
        raise ValueError(f"the OTLP protocol {target.protocol} is none of {', '.join(MODULES)}")
    module, name = EXPORTERS[target.signal]
    found = import_module(f"opentelemetry.exporter.otlp.proto.{MODULES[target.protocol]}.{module}")
    options: dict[str, Any] = {"endpoint": target.endpoint}
    if target.timeout is not None:
        options["timeout"] = target.timeout
    return getattr(found, name)(**options)


class Exporter(Protocol):
    """What of an exporter matters when it is left."""

    failed: bool

    def shutdown(self) -> None: ...


def closed(target: Collector, exporter: Exporter, finish: Callable[[], object], deadline: float) -> Outcome:
    """What became of a signal whose provider was shut down, or left at the deadline."""
    problem = _hang_up(target, finish, exporter.shutdown, deadline)
    if not problem and exporter.failed:
        problem = "the collector did not take all of them"
    return Outcome(problems=(f"{target.signal}: {problem}",) if problem else ())


def _hang_up(target: Collector, finish: Callable[[], object], abort: Callable[[], object], deadline: float) -> str:
    """Send the rest until the deadline, then let go of whatever still tries; why something was not sent, or ""."""
    finished = threading.Event()

    def run() -> None:
        finish()
        finished.set()

    threading.Thread(target=run, name=f"floe-{target.signal}", daemon=True).start()
    if finished.wait(max(0.0, deadline - time.monotonic())):
        return ""
    threading.Thread(target=abort, name=f"floe-{target.signal}-abort", daemon=True).start()
    return "no answer in time from the collector"
