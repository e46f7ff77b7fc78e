"""Attributes and spans are spelt as the specification spells them."""

from __future__ import annotations

from floe_telemetry import names

ATTRIBUTES = [
    "floe.namespace",
    "floe.product.name",
    "floe.product.version",
    "floe.mode",
    "floe.version",
    "floe.domain",
    "floe.enterprise",
    "floe.pipeline.run_id",
    "floe.pipeline.schedule",
    "floe.pipeline.trigger",
    "floe.transform.type",
    "floe.transform.model",
    "floe.transform.layer",
    "floe.transform.materialization",
    "floe.ingestion.type",
    "floe.ingestion.source",
    "floe.ingestion.destination",
    "floe.ingestion.write_disposition",
    "floe.quality.test_name",
    "floe.quality.model",
    "floe.quality.column",
    "floe.quality.result",
]


def test_attributes_are_those_of_the_specification_in_its_order() -> None:
    defined = [*names.RESOURCE, *(attribute for span in names.SPANS for attribute in span.attributes)]
    assert [attribute.name for attribute in defined] == ATTRIBUTES


def test_only_a_mesh_has_a_domain_and_an_enterprise() -> None:
    assert [item.name for item in names.RESOURCE if item.mesh_only] == ["floe.domain", "floe.enterprise"]


def test_spans_have_constant_names() -> None:
    assert [span.name for span in names.SPANS] == [
        "floe.pipeline.run",
        "floe.transform.execute",
        "floe.ingestion.execute",
        "floe.quality.test",
    ]
