"""The specification's PolicyEnforcer says what a compile says, because it is the same code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rule_context import context, model, read_context

from floe_core import DataProduct, DefaultPolicyEnforcer, Manifest, PolicyEnforcer, enforce
from floe_core.findings import Severity
from floe_core.project import Column

CASES = Path(__file__).parent / "rule_cases"
STRICT: dict[str, Any] = {"data_architecture": {"pattern": "medallion", "naming": {"enforcement": "strict"}}}


def test_the_interface_has_the_methods_of_the_specification() -> None:
    assert PolicyEnforcer.__abstractmethods__ == {
        "validate_data_product",
        "enforce_naming",
        "check_classification_compliance",
    }


@pytest.mark.parametrize("code", ["FLOE-E201", "FLOE-E210", "FLOE-E313"])
def test_a_product_of_files_gets_the_findings_of_a_compile_with_their_places(code: str) -> None:
    given = read_context(CASES / code / "bad")
    [manifest] = given.chain.manifests
    found = DefaultPolicyEnforcer(given).validate_data_product(given.product.document, manifest.document)
    assert found == enforce(given).findings
    assert {item.code for item in found} == {code}


def test_other_documents_are_judged_against_each_other() -> None:
    given = context(STRICT, nodes=(model("stg_a"),))
    lenient = Manifest.model_validate(
        {"apiVersion": "floe.dev/v1", "kind": "Manifest", "metadata": {"name": "x"}, "scope": "enterprise"}
    )
    enforcer = DefaultPolicyEnforcer(given)
    [strict] = [loaded.document for loaded in given.chain.manifests]
    product = given.product.document
    assert enforcer.validate_data_product(product, lenient) == []
    assert [item.code for item in enforcer.validate_data_product(product, strict)] == ["FLOE-E201"]


def test_an_enforcer_needs_no_files() -> None:
    product = {
        "apiVersion": "floe.dev/v1",
        "kind": "DataProduct",
        "metadata": {"name": "orders", "version": "1.0"},
        "platform": "acme",
        "ingestion": [{"type": "dlt", "source": "excel"}],
    }
    manifest = {
        "apiVersion": "floe.dev/v1",
        "kind": "Manifest",
        "metadata": {"name": "acme"},
        "scope": "enterprise",
        "approved_sources": ["crm"],
    }
    documents = DataProduct.model_validate(product), Manifest.model_validate(manifest)
    found = DefaultPolicyEnforcer.of(*documents).validate_data_product(*documents)
    assert [(item.code, str(item.place)) for item in found] == [("FLOE-E172", "floe.yaml:1:1")]


@pytest.mark.parametrize(
    ("name", "layer", "valid"),
    [
        ("bronze_a", "bronze", True),
        ("bronze_a", "", True),
        ("bronze_a", "gold", False),
        ("stg_a", "bronze", False),
        ("stg_a", "", False),
        ("bronze_a", "platinum", False),
    ],
)
def test_a_name_must_be_legal_and_of_its_layer(name: str, layer: str, valid: bool) -> None:
    result = DefaultPolicyEnforcer(context(STRICT)).enforce_naming(name, layer)
    assert result.valid is valid
    assert [item.code for item in result.findings] == ([] if valid else ["FLOE-E201"])
    assert all(item.severity is Severity.ERROR for item in result.findings)


def test_without_enforcement_every_name_is_legal() -> None:
    assert DefaultPolicyEnforcer(context({})).enforce_naming("anything", "gold").valid


def test_classification_is_checked_model_by_model() -> None:
    bad = model("a", columns={"id": Column("id", meta={"floe": {"classification": "secret"}})})
    good = model("b", columns={"id": Column("id", meta={"floe": {"classification": "pii"}})}, description="")
    tier = {"governance": {"quality_gates": {"require_descriptions": True}}}
    enforcer = DefaultPolicyEnforcer(context(tier, nodes=(bad, good)))
    assert [item.code for item in enforcer.check_classification_compliance(bad)] == ["FLOE-E240"]
    assert enforcer.check_classification_compliance(good) == []
