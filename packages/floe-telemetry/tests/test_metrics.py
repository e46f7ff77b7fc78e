"""Metrics have the names, types, units and labels of the specification, for OpenTelemetry and for Prometheus."""

from __future__ import annotations

from floe_telemetry.metrics import LABELS, METRICS

RUN = {
    "floe.pipeline.duration": ("histogram", "seconds", "floe_pipeline_duration_seconds"),
    "floe.pipeline.runs": ("counter", "count", "floe_pipeline_runs_total"),
    "floe.pipeline.failures": ("counter", "count", "floe_pipeline_failures_total"),
    "floe.transform.duration": ("histogram", "seconds", "floe_transform_duration_seconds"),
    "floe.transform.rows_affected": ("gauge", "count", "floe_transform_rows_affected"),
    "floe.transform.bytes_processed": ("gauge", "bytes", "floe_transform_bytes_processed"),
    "floe.quality.tests_total": ("counter", "count", "floe_quality_tests_total"),
    "floe.quality.tests_passed": ("counter", "count", "floe_quality_tests_passed_total"),
    "floe.quality.tests_failed": ("counter", "count", "floe_quality_tests_failed_total"),
    "floe.quality.coverage": ("gauge", "percent", "floe_quality_coverage_percent"),
    "floe.lineage.events_dropped": ("counter", "count", "floe_lineage_events_dropped_total"),
}
CONTRACT = {
    "floe.contract.violations_total": ("counter", ("contract", "type", "severity")),
    "floe.contract.check_duration_seconds": ("histogram", ("contract", "check_type")),
    "floe.contract.freshness_hours": ("gauge", ("contract",)),
    "floe.contract.availability_up": ("gauge", ("contract",)),
    "floe.contract.quality_score": ("gauge", ("contract",)),
    "floe.contract.schema_drift_detected": ("gauge", ("contract",)),
}


def test_metrics_of_a_run() -> None:
    found = {
        metric.name: (metric.kind.value, metric.unit, metric.prometheus)
        for metric in METRICS
        if not metric.name.startswith("floe.contract.")
    }
    assert found == RUN


def test_metrics_of_contracts() -> None:
    metrics = [metric for metric in METRICS if metric.name.startswith("floe.contract.")]
    assert {metric.name: (metric.kind.value, metric.labels) for metric in metrics} == CONTRACT
    assert [metric.prometheus for metric in metrics] == [name.replace(".", "_") for name in CONTRACT]


def test_labels_of_prometheus_have_no_dots() -> None:
    assert not [metric for metric in METRICS if any("." in label for label in metric.prometheus_labels)]


def test_every_label_is_explained_or_is_an_attribute() -> None:
    assert {label for metric in METRICS for label in metric.labels if not label.startswith("floe.")} == set(LABELS)
