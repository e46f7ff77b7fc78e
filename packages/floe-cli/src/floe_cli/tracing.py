"""A span for each stage of a compile, when OpenTelemetry is configured; otherwise nothing of it is imported."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from floe_core.line import no_span

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
TIMEOUT = 2  # seconds for a collector that does not answer; a compile does not wait longer for its telemetry

Span = Callable[[str], AbstractContextManager[object]]


def spans() -> tuple[Span, Callable[[], None], str]:
    """What opens a span, what sends them at the end, and why nothing will be sent ("" when it will)."""
    if not any(os.environ.get(name) for name in ENDPOINTS) or os.environ.get("OTEL_SDK_DISABLED") == "true":
        return no_span, _nothing, ""
    try:
        provider = _provider()
    except ImportError as exc:
        return (
            no_span,
            _nothing,
            f"no spans: OTLP is configured, and {exc.name or 'opentelemetry'} is not installed",
        )
    return provider.get_tracer("floe").start_as_current_span, provider.shutdown, ""


def _provider() -> Any:
    """A tracer provider of our own, so that nothing else in the process is touched."""
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    module = "grpc" if protocol == "grpc" else "http"
    trace = import_module("opentelemetry.sdk.trace")
    export = import_module("opentelemetry.sdk.trace.export")
    exporter = import_module(f"opentelemetry.exporter.otlp.proto.{module}.trace_exporter").OTLPSpanExporter
    resource = import_module("opentelemetry.sdk.resources").Resource.create({"service.name": _service()})
    provider = trace.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(exporter(timeout=TIMEOUT)))
    return provider


def _service() -> str:
    return os.environ.get("OTEL_SERVICE_NAME", "floe")


def _nothing() -> None:
    pass
