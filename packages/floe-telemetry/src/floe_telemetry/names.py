"""Every attribute and span that floe reports to OpenTelemetry, defined once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a resource or of a span; all of them are strings."""

    name: str
    description: str
    examples: tuple[str, ...]
    mesh_only: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A span: its name never changes, what it is about is in its attributes."""

    name: str
    description: str
    attributes: tuple[Attribute, ...]


NAMESPACE: Final = Attribute("floe.namespace", "Lineage namespace", ("my-project",))
PRODUCT_NAME: Final = Attribute("floe.product.name", "Name of the data product", ("customer-analytics",))
PRODUCT_VERSION: Final = Attribute("floe.product.version", "Version of the data product", ("1.0.0",))
MODE: Final = Attribute("floe.mode", "Deployment mode", ("simple", "centralized", "mesh"))
FLOE_VERSION: Final = Attribute("floe.version", "Version of floe", ("0.1.0",))
DOMAIN: Final = Attribute("floe.domain", "Name of the domain", ("sales",), mesh_only=True)
ENTERPRISE: Final = Attribute("floe.enterprise", "Name of the enterprise", ("acme",), mesh_only=True)

RESOURCE: Final = (NAMESPACE, PRODUCT_NAME, PRODUCT_VERSION, MODE, FLOE_VERSION, DOMAIN, ENTERPRISE)

RUN_ID: Final = Attribute("floe.pipeline.run_id", "Unique identifier of the run", ("run-abc123",))
SCHEDULE: Final = Attribute("floe.pipeline.schedule", "Cron expression", ("0 6 * * *",))
TRIGGER: Final = Attribute("floe.pipeline.trigger", "What started the run", ("scheduled", "manual", "sensor"))

TRANSFORM_TYPE: Final = Attribute("floe.transform.type", "Type of the transform", ("dbt",))
MODEL: Final = Attribute("floe.transform.model", "Name of the model", ("silver_customers",))
LAYER: Final = Attribute("floe.transform.layer", "Layer of the model", ("bronze", "silver", "gold"))
MATERIALIZATION: Final = Attribute(
    "floe.transform.materialization", "dbt's materialization", ("table", "view", "incremental")
)

INGESTION_TYPE: Final = Attribute("floe.ingestion.type", "Ingestion plugin", ("dlt",))
SOURCE: Final = Attribute("floe.ingestion.source", "Source system", ("salesforce",))
DESTINATION: Final = Attribute(
    "floe.ingestion.destination", "Table that is written", ("bronze.salesforce_accounts",)
)
WRITE_DISPOSITION: Final = Attribute(
    "floe.ingestion.write_disposition", "How it is written", ("append", "replace", "merge")
)

TEST_NAME: Final = Attribute("floe.quality.test_name", "Name of the test", ("not_null",))
TESTED_MODEL: Final = Attribute("floe.quality.model", "Model that is tested", ("silver_customers",))
TESTED_COLUMN: Final = Attribute("floe.quality.column", "Column that is tested", ("customer_id",))
RESULT: Final = Attribute("floe.quality.result", "Result of the test", ("pass", "fail", "warn"))

PIPELINE: Final = Span("floe.pipeline.run", "A run, from its start to its end", (RUN_ID, SCHEDULE, TRIGGER))
TRANSFORM: Final = Span(
    "floe.transform.execute",
    "A model, seed or snapshot, inside the run",
    (TRANSFORM_TYPE, MODEL, LAYER, MATERIALIZATION),
)
INGESTION: Final = Span(
    "floe.ingestion.execute",
    "The loading of a source, inside the run",
    (INGESTION_TYPE, SOURCE, DESTINATION, WRITE_DISPOSITION),
)
TEST: Final = Span(
    "floe.quality.test",
    "A test, inside the model that it tests",
    (TEST_NAME, TESTED_MODEL, TESTED_COLUMN, RESULT),
)

SPANS: Final = (PIPELINE, TRANSFORM, INGESTION, TEST)
