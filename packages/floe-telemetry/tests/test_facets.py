"""The schemas that are shipped are those that events name, and allow what events can say."""

from __future__ import annotations

import jsonschema_rs
import pytest
from customer_run import FACTS, LATE, fresh

from floe_core.schemas.levels import FieldClass
from floe_telemetry import CheckType, Column, ViolationSeverity, ViolationType, facets
from floe_testing.lineage import own_schemas

SCHEMAS = own_schemas()


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_and_called_like_its_file(name: str) -> None:
    jsonschema_rs.meta.validate(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"https://floe.dev/schemas/facets/{name}"
    assert SCHEMAS[name]["properties"]["_schemaURL"]["const"] == SCHEMAS[name]["$id"]


def test_every_schema_that_events_name_is_shipped() -> None:
    named = {facets.FLOE, facets.CLASSIFICATION, facets.QUALITY, facets.VIOLATION, facets.STATUS}
    assert named == {schema["$id"] for schema in SCHEMAS.values()}


@pytest.mark.parametrize(
    ("file", "field", "words"),
    [
        ("contract-violation-facet.json", "violationType", ViolationType),
        ("contract-violation-facet.json", "severity", ViolationSeverity),
        ("contract-status-facet.json", "checkType", CheckType),
    ],
)
def test_vocabularies_are_those_of_the_events(file: str, field: str, words: type[ViolationType]) -> None:
    assert SCHEMAS[file]["properties"][field]["enum"] == [word.value for word in words]


def test_classes_are_those_of_columns() -> None:
    columns = SCHEMAS["classification-facet.json"]["properties"]["columns"]["items"]["properties"]
    assert columns["classification"]["enum"] == [one.value for one in FieldClass]


def test_a_violation_says_what_the_specification_says() -> None:
    assert facets.contract_violation("p", fresh(violations=(LATE,)), LATE) == {
        "_producer": "p",
        "_schemaURL": "https://floe.dev/schemas/facets/contract-violation-facet.json",
        "contractName": "sales-customers",
        "contractVersion": "2.1.0",
        "violationType": "freshness_violation",
        "severity": "warning",
        "message": "Data is 8 hours old, SLA is 6 hours",
        "element": "updated_at",
        "expectedValue": "PT6H",
        "actualValue": "PT8H",
        "timestamp": "2026-01-03T10:25:00.250Z",
    }


def test_a_status_says_what_the_specification_says() -> None:
    assert facets.contract_status("p", fresh()) == {
        "_producer": "p",
        "_schemaURL": "https://floe.dev/schemas/facets/contract-status-facet.json",
        "contractName": "sales-customers",
        "contractVersion": "2.1.0",
        "checkType": "freshness",
        "status": "pass",
        "threshold": 6.0,
        "actualValue": 2.5,
        "checkedAt": "2026-01-03T10:25:00.250Z",
    }


def test_the_floe_facet_says_what_the_specification_says() -> None:
    assert facets.floe(FACTS, "gold") == {
        "_producer": "https://floe.dev/floe/0.1.0",
        "_schemaURL": "https://floe.dev/schemas/facets/floe-facet.json",
        "version": "0.1.0",
        "mode": "mesh",
        "namespace": "sales.customer-360",
        "product": {"name": "customer-360", "version": "3.2.1"},
        "domain": "sales",
        "enterprise": "acme",
        "layer": "gold",
    }


def test_a_column_of_two_classes_has_two_entries_and_a_field_has_its_path() -> None:
    street = Column("street", "string", classes=("identifier", "pii"), pii_type="address")
    found = facets.classification("p", [Column("id", "long"), Column("home", "struct", fields=(street,))])
    assert found
    assert found["columns"] == [
        {"name": "home.street", "classification": "identifier"},
        {"name": "home.street", "classification": "pii", "pii_type": "address", "sensitivity": "high"},
    ]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_a_number_is_not_said(value: float) -> None:
    assert "actualValue" not in facets.contract_status("p", fresh(value))


def test_without_classes_there_is_no_classification() -> None:
    assert facets.classification("p", [Column("id", "long")]) is None
