"""The product of these tests, and a run of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from floe_telemetry import (
    CheckType,
    Column,
    ContractChecked,
    Dataset,
    Event,
    Facts,
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

FACTS = Facts(
    product="customer-360",
    version="3.2.1",
    mode="mesh",
    namespace="sales.customer-360",
    floe_version="0.1.0",
    domain="sales",
    enterprise="acme",
)
START = datetime(2026, 1, 3, 10, 15, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Flags:
    """What the platform wants."""

    traces: bool = True
    metrics: bool = True
    lineage: bool = True


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


EMAIL = Column("email", "string", "Where to write to", classes=("pii",), pii_type="email")
ADDRESS = Column("address", "struct", fields=(Column("street", "string", classes=("confidential", "pii")),))
CUSTOMERS = Dataset("silver_customers", layer="silver", columns=(Column("customer_id", "long"), EMAIL, ADDRESS))
ACCOUNTS = Dataset("bronze_salesforce_accounts", layer="bronze", columns=(Column("Email", "string"),))
ORDERS = Dataset("gold_orders", namespace="sales.orders", columns=(Column("id", "long"),))

LOADING = Node("load", ingestion=Ingestion("dlt", "salesforce", "bronze_salesforce_accounts", "append"))
BRONZE = Node("bronze_salesforce_accounts", layer="bronze", materialization="view")
SILVER = Node("silver_customers", layer="silver", materialization="table")
GOLD = Node("gold_revenue", layer="gold", materialization="incremental")
LATE = Violation(
    ViolationType.FRESHNESS,
    ViolationSeverity.WARNING,
    "Data is 8 hours old, SLA is 6 hours",
    element="updated_at",
    expected="PT6H",
    actual="PT8H",
)


def silver_finished(tests: int = 2) -> NodeFinished:
    return NodeFinished(
        SILVER,
        at(120),
        at(420),
        rows=1_000,
        bytes=4_096,
        inputs=(ACCOUNTS, ORDERS),
        output=CUSTOMERS,
        column_lineage={
            "email": (Origin("bronze_salesforce_accounts", "Email"),),
            "customer_id": (Origin("gold_orders", "id", namespace="sales.orders", direct=False),),
        },
        coverage=92.0,
        tests=tests,
    )


def verdict(name: str, result: Result = Result.PASS, model: str = "silver_customers") -> TestFinished:
    return TestFinished(name, model, at(420), at(420.1), result, column="customer_id")


def fresh(actual: float = 2.5, *, violations: tuple[Violation, ...] = (), not_checked: str = "") -> ContractChecked:
    return ContractChecked(
        "sales-customers",
        "2.1.0",
        CheckType.FRESHNESS,
        at(600),
        at(600.25),
        threshold=6.0,
        actual=actual,
        dataset=CUSTOMERS,
        violations=violations,
        not_checked=not_checked,
    )


def whole_run(run_id: str = "run-abc123") -> Iterator[Event]:
    """A run with everything that a run can tell."""
    yield RunStarted(run_id, at(0), Trigger.SCHEDULED, "0 6 * * *")
    yield NodeFinished(LOADING, at(0), at(1), output=ACCOUNTS)
    yield NodeStarted(BRONZE, at(1))
    yield NodeFinished(BRONZE, at(1), at(120), output=ACCOUNTS, tests=1)
    yield verdict("not_null", model=BRONZE.name)
    yield silver_finished()
    yield verdict("not_null")
    yield verdict("unique", Result.WARN)
    yield NodeFinished(GOLD, at(420), at(600), Status.FAILED, "division by zero", inputs=(CUSTOMERS,))
    yield NodeFinished(Node("gold_after"), at(600), at(600), Status.SKIPPED)
    yield fresh()
    yield fresh(8.0, violations=(LATE,))
    yield fresh(not_checked="the catalog does not answer")
    yield RunFinished(at(630), Status.FAILED, "gold_revenue failed")
