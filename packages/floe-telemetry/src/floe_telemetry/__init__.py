"""floe-telemetry: what a run reports to OpenTelemetry and OpenLineage, named once, delivered without a wait."""

from floe_telemetry.events import (
    CheckType,
    Column,
    ContractChecked,
    Dataset,
    Event,
    Ingestion,
    Node,
    NodeFinished,
    NodeStarted,
    Origin,
    Result,
    RunFinished,
    RunStarted,
    Status,
    TestFinished,
    Trigger,
    Violation,
    ViolationSeverity,
    ViolationType,
)
from floe_telemetry.facts import Facts
from floe_telemetry.outcome import Outcome
from floe_telemetry.telemetry import Telemetry

__version__ = "0.1.0"

__all__ = [
    "CheckType",
    "Column",
    "ContractChecked",
    "Dataset",
    "Event",
    "Facts",
    "Ingestion",
    "Node",
    "NodeFinished",
    "NodeStarted",
    "Origin",
    "Outcome",
    "Result",
    "RunFinished",
    "RunStarted",
    "Status",
    "Telemetry",
    "TestFinished",
    "Trigger",
    "Violation",
    "ViolationSeverity",
    "ViolationType",
    "__version__",
]
