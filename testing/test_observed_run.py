"""What observers get of a real run of the example: lineage, spans and metrics, at real receivers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from floe_core.findings import FloeError
from floe_spark.jars import JARS, ensure_jars
from floe_testing.lineage import demand_valid, own_schemas
from floe_testing.services.lineage import lineage_backend
from floe_testing.services.otlp import Collector, attributes, otlp_collector

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("observed")]  # one run for all of them
ROOT = Path(__file__).resolve().parents[1]
MESH = ROOT / "docs" / "examples" / "mesh"
OBSERVED = "observability: {traces: true, metrics: true, lineage: true}\n"
TERMINAL = {"COMPLETE", "FAIL", "ABORT"}
MODELS = {
    "bronze_crm_customers",
    "bronze_shop_orders",
    "gold_customers",
    "gold_revenue_by_month",
    "silver_customer_history",
    "silver_customers",
    "silver_orders",
}

Json = dict[str, Any]


@dataclass(frozen=True)
class Observed:
    """A run, and what its observers were told."""

    code: int
    record: Json
    events: list[Json]
    collector: Collector

    def of(self, job: str) -> list[Json]:
        return [event for event in self.events if event["job"]["name"] == job]

    @cached_property
    def spans(self) -> dict[str, list[Json]]:
        spans: dict[str, list[Json]] = {}
        for span in self.collector.spans():
            spans.setdefault(span["name"], []).append(span)
        return spans


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    """The example with a promise about revenue that one customer breaks; it is published all the same."""
    try:
        ensure_jars(JARS)
    except FloeError as exc:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"Spark's jars cannot be had: {exc}")
    folder = tmp_path_factory.mktemp("observed")
    mesh = folder / "mesh"
    shutil.copytree(MESH, mesh, ignore=shutil.ignore_patterns("target", "logs", ".floe"))
    manifest = mesh / "enterprise" / "manifest.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + OBSERVED, encoding="utf-8")
    (mesh / "customer-360" / "datacontract.yaml").write_text(CONTRACT, encoding="utf-8")
    with lineage_backend(folder) as lineage, otlp_collector(folder) as collector:
        done = subprocess.run(
            [Path(sys.executable).with_name("floe"), "run", "customer-360", "--format", "json", *ASKED],
            cwd=mesh,
            env={
                **os.environ,
                "OPENLINEAGE_URL": lineage.uri,
                "OTEL_EXPORTER_OTLP_ENDPOINT": collector.http,
                "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            },
            capture_output=True,
            encoding="utf-8",
        )
        record = json.loads((mesh / "customer-360" / "target" / "floe" / "run_results.json").read_text())
        assert done.returncode == record["exit_code"], done.stderr
        yield Observed(done.returncode, record, lineage.events(), collector)


ASKED = ("--trigger", "scheduled")
CONTRACT = """\
apiVersion: v3.1.0
kind: DataContract
id: customers
name: customers
version: 1.0.0
status: active
team: {name: sales, members: [{username: sales-analytics@acme.com, role: owner}]}
schema:
  - name: customers
    physicalName: gold_customers
    properties:
      - name: revenue
        logicalType: number
        logicalTypeOptions: {maximum: 100}
"""


def test_the_run_is_published_and_says_what_broke(observed: Observed) -> None:
    assert observed.code == 0
    assert observed.record["publication"]["status"] == "published"
    assert [(item["code"], item["severity"]) for item in observed.record["findings"]] == [("FLOE-E740", "warning")]


def test_every_job_has_one_start_and_one_end(observed: Observed) -> None:
    runs: dict[str, Counter[str]] = {}
    for event in observed.events:
        kind = "end" if event["eventType"] in TERMINAL else event["eventType"]
        runs.setdefault(event["run"]["runId"], Counter())[kind] += 1
    assert all(found == {"START": 1, "end": 1} for found in runs.values()), runs
    assert {event["job"]["name"] for event in observed.events} == {
        *MODELS,
        "customer-360",
        "contract_check.customers",
    }
    assert {event["job"]["namespace"] for event in observed.events} == {"sales.customer-360"}


def test_every_event_is_valid_and_every_facet_is_used(observed: Observed) -> None:
    told = [facet["_schemaURL"].rpartition("/")[2] for event in observed.events for facet in facets(event)]
    assert own_schemas().keys() <= set(told)
    demand_valid(observed.events)


def facets(event: Json) -> Iterator[Json]:
    places = [event["run"], event["job"], *event.get("inputs", ()), *event.get("outputs", ())]
    for place in places:
        for kind in ("facets", "inputFacets", "outputFacets"):
            yield from place.get(kind, {}).values()


def test_a_model_tells_what_it_read_and_what_each_column_is_made_of(observed: Observed) -> None:
    [end] = [event for event in observed.of("gold_customers") if event["eventType"] == "COMPLETE"]
    assert sorted(item["name"] for item in end["inputs"]) == ["silver_customers", "silver_orders"]
    [output] = end["outputs"]
    assert [field["name"] for field in output["facets"]["schema"]["fields"]] == [
        "customer_id",
        "email",
        "order_count",
        "revenue",
    ]
    lineage = output["facets"]["columnLineage"]["fields"]
    assert [(item["name"], item["field"]) for item in lineage["email"]["inputFields"]] == [
        ("silver_customers", "email")
    ]
    classified = {
        item["name"]: item["classification"] for item in output["facets"]["dataClassification"]["columns"]
    }
    assert classified["email"] == "pii"
    assert output["outputFacets"]["outputStatistics"]["rowCount"] == 3
    assert {item["status"] for item in output["facets"]["quality"]["tests"]} == {"pass"}
    assert output["facets"]["quality"]["coverage"] == 100


def test_the_broken_promise_is_a_failed_check_and_the_kept_ones_are_told(observed: Observed) -> None:
    failed = [event for event in observed.of("contract_check.customers") if event["eventType"] == "FAIL"]
    [violation] = [event["run"]["facets"]["contractViolation"] for event in failed]
    assert (violation["violationType"], violation["element"], violation["contractVersion"]) == (
        "quality_violation",
        "revenue",
        "1.0.0",
    )
    kept = [event for event in observed.of("contract_check.customers") if event["eventType"] == "COMPLETE"]
    assert {event["run"]["facets"]["contractStatus"]["checkType"] for event in kept} == {
        "freshness",
        "availability",
        "schema_drift",
    }


def test_the_spans_are_a_tree_under_one_resource(observed: Observed) -> None:
    [pipeline] = observed.spans["floe.pipeline.run"]
    models = observed.spans["floe.transform.execute"]
    assert {attributes(span)["floe.transform.model"] for span in models} == MODELS
    assert {span["parentSpanId"] for span in models} == {pipeline["spanId"]}
    tests = observed.spans["floe.quality.test"]
    assert {span["parentSpanId"] for span in tests} <= {span["spanId"] for span in models}
    assert len(tests) == sum(node["kind"] == "test" for node in observed.record["nodes"])
    told = attributes(pipeline)
    assert (told["floe.pipeline.run_id"], told["floe.pipeline.trigger"]) == (observed.record["run_id"], "scheduled")
    resource = observed.collector.resources()[0]
    expected = {
        "floe.namespace": "sales.customer-360",
        "floe.product.name": "customer-360",
        "floe.mode": "mesh",
        "floe.domain": "sales",
        "floe.enterprise": "acme-data-platform",
    }
    assert expected.items() <= resource.items()


def test_the_metrics_have_the_names_of_the_specification(observed: Observed) -> None:
    assert {metric["name"] for metric in observed.collector.metrics()} >= {
        "floe.pipeline.duration",
        "floe.pipeline.runs",
        "floe.transform.duration",
        "floe.transform.rows_affected",
        "floe.transform.bytes_processed",
        "floe.quality.tests_total",
        "floe.quality.tests_passed",
        "floe.quality.coverage",
        "floe.contract.violations_total",
        "floe.contract.check_duration_seconds",
        "floe.contract.quality_score",
    }
