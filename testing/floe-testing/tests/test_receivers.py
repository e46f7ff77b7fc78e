"""The receivers of telemetry keep what they are sent, and refuse what a real one would refuse."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import TraceServiceStub

from floe_testing.services.lineage import FORBIDDEN, lineage_backend
from floe_testing.services.otlp import attributes, otlp_collector


def post(uri: str, body: bytes) -> int:
    request = urllib.request.Request(uri, body)  # noqa: S310 - our own server
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(request, timeout=60) as answer:
        return int(answer.status)


def one_span(name: str) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    part = request.resource_spans.add()
    said = part.resource.attributes.add()
    said.key, said.value.string_value = "service.name", "floe"
    part.scope_spans.add().spans.add().name = name
    return request


def test_spans_arrive_over_both_protocols(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector:
        assert post(f"{collector.http}/v1/traces", one_span("http").SerializeToString()) == 200
        with grpc.insecure_channel(collector.grpc.removeprefix("http://")) as channel:
            TraceServiceStub(channel).Export(one_span("grpc"), timeout=60)  # type: ignore[no-untyped-call] # generated
        assert [span["name"] for span in collector.spans()] == ["http", "grpc"]
        assert collector.resources() == [{"service.name": "floe"}] * 2
        assert collector.metrics() == []


def test_a_collector_knows_its_paths(tmp_path: Path) -> None:
    with otlp_collector(tmp_path) as collector, pytest.raises(HTTPError, match="404"):
        post(f"{collector.http}/v1/nothing", b"")


def test_a_lineage_backend_keeps_events_and_refuses_one_kind(tmp_path: Path) -> None:
    with lineage_backend(tmp_path) as backend:
        assert post(f"{backend.uri}/api/v1/lineage", json.dumps({"job": {"name": "a"}}).encode()) == 201
        with pytest.raises(HTTPError, match="422"):
            post(f"{backend.uri}/in", json.dumps({"job": {"name": FORBIDDEN}}).encode())
        assert [request["path"] for request in backend.requests()] == ["/api/v1/lineage", "/in"]
        assert [event["job"]["name"] for event in backend.events()] == ["a", FORBIDDEN]


def test_attributes_are_an_object() -> None:
    listed = [{"key": "a", "value": {"stringValue": "x"}}, {"key": "b", "value": {"intValue": "1"}}]
    assert attributes({"attributes": listed}) == {"a": "x", "b": "1"}
