"""Spans and metrics arrive at a real collector, over both protocols."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from customer_run import FACTS, START, Flags, fresh, whole_run

from floe_telemetry import CheckType, ContractChecked, RunStarted, Telemetry
from floe_telemetry.events import EventsDropped
from floe_telemetry.metrics import METRICS
from floe_testing.services.otlp import Collector, attributes

Json = dict[str, Any]
PATIENCE = 60.0
GRPC, HTTP = "grpc", "http/protobuf"


def environment(collector: Collector, protocol: str = GRPC) -> dict[str, str]:
    endpoint = collector.grpc if protocol == GRPC else collector.http
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}


def report(collector: Collector, spool: Path, protocol: str = GRPC, flags: Flags | None = None) -> None:
    telemetry = Telemetry.of(FACTS, flags or Flags(lineage=False), environment(collector, protocol), spool)
    for event in whole_run():
        telemetry.record(event)
    assert telemetry.close(PATIENCE).problems == ()


def nanoseconds(seconds: float) -> str:
    return str(int((START.timestamp() + seconds) * 1e9))


@pytest.mark.parametrize("protocol", [GRPC, HTTP])
def test_spans_and_metrics_arrive(collector: Collector, tmp_path: Path, protocol: str) -> None:
    report(collector, tmp_path, protocol)
    assert len(collector.spans()) == 8
    assert {metric["name"] for metric in collector.metrics()} == {
        metric.name
        for metric in METRICS
        if metric.name
        not in (
            "floe.lineage.events_dropped",
            "floe.contract.availability_up",
            "floe.contract.quality_score",
            "floe.contract.schema_drift_detected",
        )
    }


def test_spans_are_a_tree_with_the_times_of_the_run(collector: Collector, tmp_path: Path) -> None:
    report(collector, tmp_path)
    spans = collector.spans()
    children = defaultdict(list)
    for span in spans:
        children[span.get("parentSpanId", "")].append(span)
    [root] = children[""]
    assert root["name"] == "floe.pipeline.run"
    assert attributes(root) == {
        "floe.pipeline.run_id": "run-abc123",
        "floe.pipeline.schedule": "0 6 * * *",
        "floe.pipeline.trigger": "scheduled",
    }
    assert (root["startTimeUnixNano"], root["endTimeUnixNano"]) == (nanoseconds(0), nanoseconds(630))
    assert root["status"] == {"message": "gold_revenue failed", "code": "STATUS_CODE_ERROR"}
    nodes = children[root["spanId"]]
    assert [span["name"] for span in nodes] == ["floe.ingestion.execute", *["floe.transform.execute"] * 3]
    assert attributes(nodes[0]) == {
        "floe.ingestion.type": "dlt",
        "floe.ingestion.source": "salesforce",
        "floe.ingestion.destination": "bronze_salesforce_accounts",
        "floe.ingestion.write_disposition": "append",
    }
    assert attributes(nodes[2]) == {
        "floe.transform.type": "dbt",
        "floe.transform.model": "silver_customers",
        "floe.transform.layer": "silver",
        "floe.transform.materialization": "table",
    }
    tests = children[nodes[2]["spanId"]]
    assert [span["name"] for span in tests] == ["floe.quality.test"] * 2
    assert attributes(tests[1]) == {
        "floe.quality.test_name": "unique",
        "floe.quality.model": "silver_customers",
        "floe.quality.column": "customer_id",
        "floe.quality.result": "warn",
    }
    assert len({span["traceId"] for span in spans}) == 1


@pytest.mark.parametrize("protocol", [GRPC, HTTP])
def test_the_resource_says_who_reports(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    said = "team=crm,floe.product.name=other"
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", said)  # the SDK reads it where it always does
    report(collector, tmp_path, protocol)
    for resource in collector.resources():
        assert FACTS.attributes().items() <= resource.items()
        assert (resource["team"], resource["service.name"]) == ("crm", "floe")


def points(collector: Collector, name: str) -> list[tuple[Json, Any]]:
    """Labels and value of each measurement; of a histogram the sum."""
    [metric] = [metric for metric in collector.metrics() if metric["name"] == name]
    [data] = [metric[kind] for kind in ("sum", "gauge", "histogram") if kind in metric]
    return [
        (attributes(point), point.get("asInt", point.get("asDouble", point.get("sum"))))
        for point in data["dataPoints"]
    ]


def test_measurements_have_their_values_and_labels(collector: Collector, tmp_path: Path) -> None:
    report(collector, tmp_path)
    silver = {"floe.transform.model": "silver_customers", "floe.transform.layer": "silver"}
    assert (silver, 300.0) in points(collector, "floe.transform.duration")
    assert points(collector, "floe.transform.rows_affected") == [(silver, "1000")]
    assert points(collector, "floe.transform.bytes_processed") == [(silver, "4096")]
    assert points(collector, "floe.quality.coverage") == [({"floe.quality.model": "silver_customers"}, 92.0)]
    assert ({"floe.quality.model": "silver_customers"}, "2") in points(collector, "floe.quality.tests_total")
    assert points(collector, "floe.pipeline.duration") == [({"floe.pipeline.trigger": "scheduled"}, 630.0)]
    assert points(collector, "floe.pipeline.runs") == [({"floe.pipeline.trigger": "scheduled"}, "1")]
    assert points(collector, "floe.pipeline.failures") == [({"floe.pipeline.trigger": "scheduled"}, "1")]
    contract = {"contract": "sales-customers"}
    assert points(collector, "floe.contract.violations_total") == [
        ({**contract, "type": "freshness_violation", "severity": "warning"}, "1")
    ]
    assert points(collector, "floe.contract.check_duration_seconds") == [
        ({**contract, "check_type": "freshness"}, 0.75)
    ]
    assert points(collector, "floe.contract.freshness_hours") == [(contract, 8.0)]


def test_every_kind_of_check_has_its_gauge(collector: Collector, tmp_path: Path) -> None:
    telemetry = Telemetry.of(FACTS, Flags(traces=False), environment(collector), tmp_path)
    moment = fresh().started
    for kind, actual in ((CheckType.QUALITY, 97.5), (CheckType.AVAILABILITY, None), (CheckType.SCHEMA_DRIFT, None)):
        telemetry.record(ContractChecked("c", "1.0.0", kind, moment, moment, actual=actual))
    telemetry.record(EventsDropped(statuses=3, others=0))
    assert telemetry.close(PATIENCE).problems == ()
    assert points(collector, "floe.contract.quality_score") == [({"contract": "c"}, 97.5)]
    assert points(collector, "floe.contract.availability_up") == [({"contract": "c"}, "1")]
    assert points(collector, "floe.contract.schema_drift_detected") == [({"contract": "c"}, "0")]
    assert points(collector, "floe.lineage.events_dropped") == [({"event": "status"}, "3")]


def test_units_are_those_of_the_definition(collector: Collector, tmp_path: Path) -> None:
    report(collector, tmp_path)
    units = {metric.name: metric.unit for metric in METRICS}
    for metric in collector.metrics():
        assert metric.get("unit", "") == units[metric["name"]]


def test_only_what_the_platform_wants_is_sent(collector: Collector, tmp_path: Path) -> None:
    report(collector, tmp_path, flags=Flags(metrics=False, lineage=False))
    assert len(collector.spans()) == 8
    assert collector.metrics() == []


def test_a_run_that_ends_early_is_reported_as_failed(collector: Collector, tmp_path: Path) -> None:
    with Telemetry.of(FACTS, Flags(lineage=False), environment(collector), tmp_path) as telemetry:
        telemetry.record(RunStarted("r", START))
    [span] = collector.spans()
    assert span["status"] == {"message": "the run ended early", "code": "STATUS_CODE_ERROR"}


GLOBAL = """
    import json, sys
    from pathlib import Path
    from customer_run import FACTS, Flags, whole_run
    from floe_telemetry import Telemetry
    from opentelemetry import metrics, trace
    telemetry = Telemetry.of(FACTS, Flags(lineage=False), json.loads(sys.argv[1]), Path("spool"))
    for event in whole_run(): telemetry.record(event)
    telemetry.close(60)
    print(type(trace.get_tracer_provider()).__name__, type(metrics.get_meter_provider()).__name__)
"""


def test_the_providers_of_the_process_are_not_touched(collector: Collector, tmp_path: Path) -> None:
    code = "\n".join(line.strip() for line in GLOBAL.splitlines())
    here = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    command = [sys.executable, "-c", here + code, json.dumps(environment(collector))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "ProxyTracerProvider _ProxyMeterProvider\n"
    assert done.stderr == ""
