"""The specification's own tables and examples: merge strategies, policy types, asserts, the Data Mesh merge."""

from __future__ import annotations

from datetime import timedelta
from functools import reduce
from typing import Any

import pytest
from manifests import manifest

from floe_core import (
    ClassificationLevel,
    ContractEnforcement,
    Manifest,
    Policy,
    PolicyViolationError,
    SqlLinting,
    merge_manifests,
    validate_policy_inheritance,
)
from floe_core.order import Ladder
from floe_core.schemas.parts import NamePattern

PUBLIC, INTERNAL, CONFIDENTIAL, RESTRICTED = ClassificationLevel

# Field, what the parent writes, what the child writes, where the result stands, the result.
MERGE_TABLE: list[tuple[str, Any, Any, str, Any]] = [
    ("plugins", {"compute": "duckdb"}, {"compute": "snowflake"}, "plugins.compute.type", "snowflake"),
    (
        "classification_levels",
        ["PUBLIC", "INTERNAL"],
        ["CONFIDENTIAL"],
        "classification_levels",
        (PUBLIC, INTERNAL, CONFIDENTIAL),
    ),
    ("quality_gates", {"threshold": 80}, {"threshold": 90}, "governance.quality_gates.threshold", 90),
    (
        "naming_conventions",
        ["raw_*"],
        ["raw_v2_*"],
        "naming_conventions",
        ((NamePattern(glob="raw_*"),), (NamePattern(glob="raw_v2_*"),)),  # a group per tier: a name matches both
    ),
    (
        "approved_plugins",
        {"compute": ["duckdb", "snowflake"]},
        {"compute": ["snowflake"]},
        "approved_plugins.compute",
        ("snowflake",),
    ),
    ("test_coverage", {"min": "70%"}, {"min": "80%"}, "governance.quality_gates.minimum_test_coverage", 80),
    ("secrets_backend", "k8s-secrets", "infisical", "secrets_backend.type", "infisical"),
    ("data_contracts", {"standard": "odcs_v3"}, {"validators": ["v"]}, "data_contracts.standard.value", "odcs_v3"),
    ("data_contracts", {"standard": "odcs_v3"}, {"validators": ["v"]}, "data_contracts.validators", ("v",)),
    ("sla_minimums", {"freshness": "24h"}, {"freshness": "12h"}, "sla_minimums.freshness", timedelta(hours=12)),
]


def at(merged: Manifest, path: str) -> Any:
    return reduce(getattr, path.split("."), merged)


@pytest.mark.parametrize(("field", "parent", "child", "path", "result"), MERGE_TABLE)
def test_merge_table(field: str, parent: Any, child: Any, path: str, result: Any) -> None:
    assert at(merge_manifests(manifest(**{field: parent}), manifest(**{field: child})), path) == result


def test_merge_table_has_the_nine_rows_of_the_specification() -> None:
    assert list(dict.fromkeys(row[0] for row in MERGE_TABLE)) == [
        "plugins",
        "classification_levels",
        "quality_gates",
        "naming_conventions",
        "approved_plugins",
        "test_coverage",
        "secrets_backend",
        "data_contracts",
        "sla_minimums",
    ]


@pytest.mark.parametrize(
    ("field", "parent", "child", "code", "message"),
    [
        ("quality_gates", {"threshold": 80}, {"threshold": 70}, "FLOE-E160", "threshold 70 is weaker than 80"),
        (
            "approved_plugins",
            {"compute": ["duckdb", "snowflake"]},
            {"compute": ["snowflake", "bigquery"]},
            "FLOE-E161",
            "approved_plugins.compute [bigquery] is not approved by the parent",
        ),
        (
            "test_coverage",
            {"min": "80%"},
            {"min": "70%"},
            "FLOE-E160",
            "minimum_test_coverage 70 is weaker than 80",
        ),
        (
            "sla_minimums",
            {"freshness": "12h"},
            {"freshness": "24h"},
            "FLOE-E160",
            "freshness P1D is weaker than PT12H",
        ),
        (
            "sla_minimums",
            {"availability": "99.9%"},
            {"availability": "99.5%"},
            "FLOE-E160",
            "availability 99.5 is weaker than 99.9",
        ),
    ],
)
def test_merge_table_rejects_the_other_direction(
    field: str, parent: Any, child: Any, code: str, message: str
) -> None:
    with pytest.raises(PolicyViolationError) as caught:
        merge_manifests(manifest(**{field: parent}), manifest(**{field: child}))
    assert [(item.code, item.message) for item in caught.value.findings] == [(code, message)]


@pytest.mark.parametrize(
    ("kind", "attribute", "parent", "valid", "invalid"),
    [
        ("classification", "level", INTERNAL, CONFIDENTIAL, PUBLIC),
        ("quality_gate", "threshold", 80, 90, 70),
        ("test_coverage", "minimum_pct", 70, 80, 60),
        ("sql_linting", "enforcement", SqlLinting.WARN, SqlLinting.ERROR, SqlLinting.DISABLED),
        (
            "contract_enforcement",
            "enforcement",
            ContractEnforcement.WARN,
            ContractEnforcement.BLOCK,
            ContractEnforcement.OFF,
        ),
    ],
)
def test_policy_table(kind: str, attribute: str, parent: Any, valid: Any, invalid: Any) -> None:
    above, stricter, weaker = (Policy(type=kind, **{attribute: value}) for value in (parent, valid, invalid))
    assert validate_policy_inheritance(above, stricter) is True
    assert validate_policy_inheritance(above, above) is True
    assert validate_policy_inheritance(above, weaker) is False


@pytest.mark.parametrize(
    ("ladder", "order"),
    [
        (ClassificationLevel, "PUBLIC < INTERNAL < CONFIDENTIAL < RESTRICTED"),
        (SqlLinting, "DISABLED < WARN < ERROR"),
        (ContractEnforcement, "OFF < WARN < ALERT_ONLY < BLOCK"),
    ],
)
def test_orderings_of_the_policy_table(ladder: type[Ladder], order: str) -> None:
    assert " < ".join(level.name for level in sorted(ladder)) == order


def test_the_specifications_asserts_run_as_they_are_written() -> None:
    # ✅ VALID - Child strengthens parent
    parent = Policy(type="classification", level=INTERNAL)
    child = Policy(type="classification", level=CONFIDENTIAL)
    assert validate_policy_inheritance(parent, child) == True  # noqa: E712 - verbatim
    # ❌ INVALID - Child weakens parent
    parent = Policy(type="quality_gate", threshold=80)
    child = Policy(type="quality_gate", threshold=70)
    assert validate_policy_inheritance(parent, child) == False  # noqa: E712 - verbatim
    # ✅ VALID - Child matches parent (allowed)
    parent = Policy(type="test_coverage", minimum_pct=70)
    child = Policy(type="test_coverage", minimum_pct=70)
    assert validate_policy_inheritance(parent, child) == True  # noqa: E712 - verbatim


def test_an_unknown_policy_type_is_an_error() -> None:
    policy = Policy(type="retention", threshold=80)
    with pytest.raises(ValueError, match=r"^Unknown policy type: retention$"):
        validate_policy_inheritance(policy, policy)


ENTERPRISE = {
    "classification_levels": ["PUBLIC", "INTERNAL"],
    "quality_gates": {"threshold": 80},
    "approved_plugins": {"compute": ["duckdb", "snowflake", "bigquery"]},
}
DOMAIN = {
    "parent": "ref/enterprise-manifest/v1.2.3",
    "classification_levels": ["CONFIDENTIAL"],
    "quality_gates": {"threshold": 90},
    "approved_plugins": {"compute": ["snowflake"]},
}
MERGED = {
    "classification_levels": ["PUBLIC", "INTERNAL", "CONFIDENTIAL"],
    "quality_gates": {"threshold": 90},
    "approved_plugins": {"compute": ["snowflake"]},
}


def test_data_mesh_example_merges_to_the_specifications_result() -> None:
    merged = merge_manifests(manifest(**ENTERPRISE), manifest(**DOMAIN))
    assert merged == manifest(parent="ref/enterprise-manifest/v1.2.3", **MERGED)


def test_invalid_weakening_example_is_refused_with_its_finding() -> None:
    with pytest.raises(PolicyViolationError, match=r"threshold 70 is weaker than 80") as caught:
        merge_manifests(manifest(**ENTERPRISE), manifest(**DOMAIN | {"quality_gates": {"threshold": 70}}))
    (finding,) = caught.value.findings
    assert (finding.code, finding.expected, finding.actual) == ("FLOE-E160", "at least 80", "70")


def test_sla_example_tightens_from_24_to_6_to_4_hours_and_never_back() -> None:
    enterprise, domain, product = (manifest(sla_minimums={"freshness": value}) for value in ("24h", "6h", "4h"))
    merged = merge_manifests(merge_manifests(enterprise, domain), product)
    assert at(merged, "sla_minimums.freshness") == timedelta(hours=4)
    for parent, child in ((domain, enterprise), (product, domain), (product, enterprise)):
        with pytest.raises(PolicyViolationError):
            merge_manifests(parent, child)
