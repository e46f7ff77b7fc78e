"""Every metric that floe reports, defined once: for OpenTelemetry and, spelt its way, for Prometheus."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from floe_telemetry import names


class MetricKind(StrEnum):
    """How values of a metric add up."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. The unit is empty where the name says it."""

    name: str
    kind: MetricKind
    unit: str
    description: str
    labels: tuple[str, ...] = ()

    @property
    def prometheus(self) -> str:
        """Underscores for dots, the unit at the end unless the name has it, `_total` behind a counter."""
        name = self.name.replace(".", "_")
        if self.unit and self.unit != COUNT and self.unit not in name:
            name += f"_{self.unit}"
        return f"{name}_total" if self.kind is MetricKind.COUNTER and not name.endswith("_total") else name

    @property
    def prometheus_labels(self) -> tuple[str, ...]:
        return tuple(label.replace(".", "_") for label in self.labels)


COUNT: Final = "count"
SECONDS: Final = "seconds"
BYTES: Final = "bytes"
PERCENT: Final = "percent"

CONTRACT: Final = "contract"
TYPE: Final = "type"
SEVERITY: Final = "severity"
CHECK_TYPE: Final = "check_type"
EVENT: Final = "event"

LABELS: Final = {
    CONTRACT: ("Name of the contract", "sales-customers"),
    TYPE: ("Type of the violation", "freshness_violation"),
    SEVERITY: ("Severity of the violation", "warning"),
    CHECK_TYPE: ("Type of the check", "freshness"),
    EVENT: ("What was dropped: `status` or `event`", "status"),
}

_TRIGGER = (names.TRIGGER.name,)
_MODEL = (names.MODEL.name, names.LAYER.name)
_TESTED = (names.TESTED_MODEL.name,)
_COUNTER, _GAUGE, _HISTOGRAM = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

PIPELINE_DURATION: Final = Metric(
    "floe.pipeline.duration", _HISTOGRAM, SECONDS, "Duration of a pipeline run", _TRIGGER
)
PIPELINE_RUNS: Final = Metric("floe.pipeline.runs", _COUNTER, COUNT, "Number of pipeline runs", _TRIGGER)
PIPELINE_FAILURES: Final = Metric("floe.pipeline.failures", _COUNTER, COUNT, "Number of failed runs", _TRIGGER)

TRANSFORM_DURATION: Final = Metric(
    "floe.transform.duration", _HISTOGRAM, SECONDS, "Execution time of a transform", _MODEL
)
TRANSFORM_ROWS: Final = Metric("floe.transform.rows_affected", _GAUGE, COUNT, "Rows inserted or updated", _MODEL)
TRANSFORM_BYTES: Final = Metric("floe.transform.bytes_processed", _GAUGE, BYTES, "Data processed", _MODEL)

TESTS_TOTAL: Final = Metric("floe.quality.tests_total", _COUNTER, COUNT, "Tests executed", _TESTED)
TESTS_PASSED: Final = Metric("floe.quality.tests_passed", _COUNTER, COUNT, "Tests passed", _TESTED)
TESTS_FAILED: Final = Metric("floe.quality.tests_failed", _COUNTER, COUNT, "Tests failed", _TESTED)
COVERAGE: Final = Metric("floe.quality.coverage", _GAUGE, PERCENT, "Test coverage", _TESTED)

VIOLATIONS: Final = Metric(
    "floe.contract.violations_total", _COUNTER, "", "Contract violations", (CONTRACT, TYPE, SEVERITY)
)
CHECK_DURATION: Final = Metric(
    "floe.contract.check_duration_seconds",
    _HISTOGRAM,
    "",
    "How long a contract check took",
    (CONTRACT, CHECK_TYPE),
)
FRESHNESS: Final = Metric(
    "floe.contract.freshness_hours", _GAUGE, "", "Hours since the data was updated", (CONTRACT,)
)
AVAILABILITY: Final = Metric(
    "floe.contract.availability_up", _GAUGE, "", "1 if the data is available, 0 if not", (CONTRACT,)
)
QUALITY_SCORE: Final = Metric("floe.contract.quality_score", _GAUGE, "", "Quality score, 0 to 100", (CONTRACT,))
SCHEMA_DRIFT: Final = Metric(
    "floe.contract.schema_drift_detected", _GAUGE, "", "1 if the schema drifted, 0 if not", (CONTRACT,)
)

DROPPED: Final = Metric(
    "floe.lineage.events_dropped", _COUNTER, COUNT, "Lineage events dropped because the spool was full", (EVENT,)
)

METRICS: Final = (
    PIPELINE_DURATION,
    PIPELINE_RUNS,
    PIPELINE_FAILURES,
    TRANSFORM_DURATION,
    TRANSFORM_ROWS,
    TRANSFORM_BYTES,
    TESTS_TOTAL,
    TESTS_PASSED,
    TESTS_FAILED,
    COVERAGE,
    VIOLATIONS,
    CHECK_DURATION,
    FRESHNESS,
    AVAILABILITY,
    QUALITY_SCORE,
    SCHEMA_DRIFT,
    DROPPED,
)
