"""The specification's own YAML: every example of manifest.yaml and floe.yaml loads, and means what the text says.

`spec_examples/N-*.yaml` are the examples of document N with their indentation restored: whole files as they are,
fragments without the keys that every file needs. `keys-*.yaml` are the two blocks of the key reference.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from floe_core import PolicyViolationError, load_manifest, load_product, merge_manifests
from floe_core.load import Loaded
from floe_core.resolve import resolve
from floe_core.schemas.data_product import Access, DataProduct, WriteDisposition
from floe_core.schemas.levels import (
    ClassificationLevel,
    ContractEnforcement,
    FieldClass,
    IdentityEnforcement,
    InitialDevelopment,
    NamingEnforcement,
    RegistrationMode,
    SchemaEvolution,
    SqlLinting,
    Widening,
)
from floe_core.schemas.manifest import Manifest, MonitoringMode, OverrideAction, Pattern, Scope, Standard
from floe_core.schemas.values import Block
from floe_core.settings import flatten, strategies

EXAMPLES = Path(__file__).parent / "spec_examples"
MINIMAL = "apiVersion: floe.dev/v1\nkind: Manifest\nmetadata:\n  name: acme\nscope: {scope}\n"

PLATFORM: dict[str, object] = {
    "metadata.name": "acme-data-platform",
    "metadata.version": "1.2.3",
    "scope": Scope.ENTERPRISE,
    "plugins.compute.type": "duckdb",
    "plugins.orchestrator.type": "dagster",
    "plugins.catalog.type": "polaris",
    "plugins.semantic_layer.type": "cube",
    "plugins.ingestion.type": "dlt",
    "data_architecture.pattern": Pattern.MEDALLION,
    "data_architecture.naming.enforcement": NamingEnforcement.STRICT,
    "governance.quality_gates.minimum_test_coverage": 80,
    "governance.quality_gates.block_on_failure": True,
}
CONTRACTS: dict[str, object] = {
    "data_contracts.enforcement": ContractEnforcement.ALERT_ONLY,
    "data_contracts.standard": Standard.ODCS_V3,
    "data_contracts.plugin.type": "odcs",
    "data_contracts.auto_generation.enabled": True,
    "data_contracts.auto_generation.from_ports": True,
    "data_contracts.auto_generation.from_dbt_manifest": True,
    "data_contracts.monitoring.enabled": True,
    "data_contracts.monitoring.mode": MonitoringMode.SCHEDULED,
    "data_contracts.monitoring.freshness.check_interval": timedelta(minutes=15),
    "data_contracts.monitoring.schema_drift.check_interval": timedelta(hours=1),
    "data_contracts.monitoring.quality.check_interval": timedelta(hours=6),
    "data_contracts.monitoring.availability": None,
    "data_contracts.alerting.openlineage_events": True,
    "data_contracts.alerting.prometheus_metrics": True,
}
REGISTRATION: dict[str, object] = {
    "identity.registration.max_attempts": 3,
    "identity.registration.initial_backoff": timedelta(seconds=1),
    "identity.registration.max_backoff": timedelta(seconds=10),
    "identity.registration.jitter": 0.2,
}
CUSTOMER_360: dict[str, object] = {
    "metadata.name": "customer-360",
    "metadata.version": "1.2.3",
    "metadata.owner": "sales-analytics@acme.com",
    "metadata.domain": "sales",
    "metadata.repository": "github.com/acme/sales-customer-360",
    "transforms": (),
}

MEANINGS: dict[str, dict[str, object]] = {
    "1-manifest.yaml": PLATFORM,
    "1-manifest-flat.yaml": PLATFORM,
    "1-product.yaml": {
        "metadata.name": "customer-analytics",
        "metadata.version": "1.0",
        "platform.ref": "oci://registry.acme.com/floe-platform:v1.2.3",
        "domain": None,
        "transforms.0.type": "dbt",
        "transforms.0.path": "models/",
        "schedule.cron": "0 6 * * *",
        "schedule.timezone": "UTC",
        "schedule.enabled": True,
    },
    "1-naming.yaml": {"data_architecture.naming.enforcement": NamingEnforcement.STRICT},
    "1-enterprise.yaml": {
        "scope": Scope.ENTERPRISE,
        "classification_levels": (ClassificationLevel.PUBLIC, ClassificationLevel.INTERNAL),
        "governance.quality_gates.threshold": 80,
        "approved_plugins.compute": ("duckdb", "snowflake", "bigquery"),
    },
    "1-domain.yaml": {
        "scope": Scope.DOMAIN,
        "parent.ref": "ref/enterprise-manifest/v1.2.3",
        "classification_levels": (ClassificationLevel.CONFIDENTIAL,),
        "governance.quality_gates.threshold": 90,
        "approved_plugins.compute": ("snowflake",),
    },
    "1-merged.yaml": {"governance.quality_gates.threshold": 90, "approved_plugins.compute": ("snowflake",)},
    "1-domain-too-weak.yaml": {"governance.quality_gates.threshold": 70},
    "1-data-contracts.yaml": CONTRACTS,
    "1-registration.yaml": REGISTRATION,
    "1-identity-product.yaml": CUSTOMER_360,
    "1-identity.yaml": {"identity.enforcement": IdentityEnforcement.ENFORCE, "identity.auto_register": True},
    "2-domain-manifest.yaml": {
        "kind": "Manifest",
        "scope": Scope.DOMAIN,
        "metadata.name": "sales",
        "governance.product_registration.mode": RegistrationMode.OPEN,
        "governance.product_registration.allowed_repositories": (("github.com/acme/sales-*",),),
        "governance.product_registration.registered_products.0.name": "customer_360",
        "governance.product_registration.registered_products.1.repository": (
            "github.com/acme/sales-order-analytics"
        ),
        "governance.product_registration.registered_products.1.registered_at": "2026-01-02T09:00:00Z",
    },
    "2-product.yaml": CUSTOMER_360,
    "2-identity.yaml": {"identity.enforcement": IdentityEnforcement.WARN, "identity.auto_register": True},
    "3-enforcement.yaml": {
        "data_contracts.enforcement": ContractEnforcement.ALERT_ONLY,
        "data_contracts.monitoring": None,
    },
    "3-data-contracts.yaml": CONTRACTS,
    "keys-manifest.yaml": {
        **CONTRACTS,
        **REGISTRATION,
        "metadata.owner": "platform@acme.com",
        "required_floe_version.release": (0, 1, 0),
        "approved_products": ("sales.customer_360",),
        "shared_services": {"lineage": {"url": "…"}},
        "data_architecture.layers.gold.minimum_coverage": 90,
        "data_architecture.layers.gold.required_tests": (),
        "data_architecture.layer_order": NamingEnforcement.STRICT,
        "naming_conventions.0.0.glob": "raw_*",
        "naming_conventions.0.1.regex": "…",
        "governance.quality_gates.require_descriptions": True,
        "governance.quality_gates.require_column_descriptions": False,
        "governance.classification.minimum": ClassificationLevel.INTERNAL,
        "governance.classification.coverage.pii": 100,
        "governance.classification.coverage.phi": None,
        "governance.sql_linting.enforcement": SqlLinting.WARN,
        "governance.custom_rules.0.required_tags": ("tested",),
        "governance.custom_rules.1.applies_to": "gold_*",
        "governance.custom_rules.2.min_columns": 1,
        "governance.policy_overrides.0.action": OverrideAction.DOWNGRADE,
        "governance.policy_overrides.0.expires": "2027-01-31",
        "governance.schedule.min_interval": timedelta(hours=1),
        "governance.schedule.allowed": (("* 0-6 * * *",),),
        "governance.schema_evolution": SchemaEvolution.ADDITIVE,
        "data_contracts.base": ("contracts/base.yaml",),
        "data_contracts.versioning.widening": Widening.MAJOR,
        "data_contracts.versioning.initial_development": InitialDevelopment.STRICT,
        "data_contracts.monitoring.availability": {"check_interval": "PT5M"},
        "sla_minimums.freshness": timedelta(hours=24),
        "sla_minimums.availability": 99.9,
        "sla_minimums.quality": 95,
        "secrets_backend.type": "k8s-secrets",
        "observability.namespace": "my-project",
        "artifacts.repository": "oci://registry.acme.com/floe-platform",
    },
    "keys-product.yaml": {
        "transforms.0.vars": {},
        "ingestion.0.script": "ingest/salesforce.py",
        "ingestion.0.write_disposition": WriteDisposition.APPEND,
        "input_ports.0.source.product": "sales.orders",
        "input_ports.0.source.version": "^1",
        "input_ports.0.freshness": timedelta(hours=6),
        "input_ports.1.source.ingestion": "salesforce",
        "output_ports.0.columns.0.name": "id",
        "output_ports.0.columns.0.primary_key": True,
        "output_ports.0.columns.0.classification": (FieldClass.PII,),
        "output_ports.0.sla.freshness": timedelta(hours=6),
        "output_ports.0.sla.availability": 99.9,
        "output_ports.0.classification": ClassificationLevel.CONFIDENTIAL,
        "output_ports.0.access.default": Access.DENY,
        "output_ports.0.access.grants": ("analysts",),
        "quality.minimum_coverage": 90,
    },
}


def completed(name: str) -> str:
    """The example as a file: a fragment gets the keys that every manifest needs."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    if "apiVersion:" in text:
        return text
    if text.startswith("naming:"):
        text = f"data_architecture:\n{textwrap.indent(text, '  ')}"
    return MINIMAL.format(scope="domain" if "domain" in name else "enterprise") + text


def load(name: str, folder: Path) -> Loaded[Manifest] | Loaded[DataProduct]:
    text = completed(name)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_product(path) if "kind: DataProduct" in text else load_manifest(path)


def load_tier(name: str, folder: Path) -> Manifest:
    document = load(name, folder).document
    assert isinstance(document, Manifest)
    return document


def value_at(document: Block, dotted: str) -> Any:
    value: Any = document
    for step in dotted.split("."):
        if isinstance(value, tuple):
            value = value[int(step)]
        else:
            value = value[step] if isinstance(value, dict) else getattr(value, step)
    return value


def as_written(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, Block) else value


def test_every_example_has_a_meaning() -> None:
    assert sorted(MEANINGS) == sorted(path.name for path in EXAMPLES.iterdir())


@pytest.mark.parametrize("name", MEANINGS)
def test_an_example_loads_and_means_what_the_text_says(name: str, tmp_path: Path) -> None:
    document = load(name, tmp_path).document
    found = {dotted: as_written(value_at(document, dotted)) for dotted in MEANINGS[name]}
    assert found == MEANINGS[name]


def test_the_enterprise_and_the_domain_of_the_specification_merge_to_its_result(tmp_path: Path) -> None:
    merged = merge_manifests(load_tier("1-enterprise.yaml", tmp_path), load_tier("1-domain.yaml", tmp_path))
    expected = load_tier("1-merged.yaml", tmp_path)
    shown = ("classification_levels", "governance", "approved_plugins")
    assert {name: getattr(merged, name) for name in shown} == {name: getattr(expected, name) for name in shown}


def test_the_weakening_of_the_specification_is_refused_with_both_values(tmp_path: Path) -> None:
    with pytest.raises(PolicyViolationError) as caught:
        merge_manifests(load_tier("1-enterprise.yaml", tmp_path), load_tier("1-domain-too-weak.yaml", tmp_path))
    assert [(item.code, item.expected, item.actual) for item in caught.value.findings] == [
        ("FLOE-E160", "at least 80", "70")
    ]


def test_a_product_without_references_stands_alone(tmp_path: Path) -> None:
    product = load("2-product.yaml", tmp_path)
    assert isinstance(product.document, DataProduct)
    chain = resolve(Loaded(product.document, product.source))
    assert (chain.mode, chain.product_id) == ("simple", "sales.customer_360")


def test_the_key_reference_states_every_setting_of_a_manifest(tmp_path: Path) -> None:
    """Except the plugin kinds and classes of which it shows one for all."""
    stated = set(flatten(load_tier("keys-manifest.yaml", tmp_path)).values)
    unstated = [path for path in strategies() if not any(_fits(path, other) for other in stated)]
    one_for_all = {("approved_plugins",): "compute", ("governance", "classification", "coverage"): "pii"}
    assert {path[:-1] for path in unstated} == set(one_for_all)
    assert all((*block, shown) in stated for block, shown in one_for_all.items())


def _fits(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return len(pattern) == len(path) and all(a in (b, "*") for a, b in zip(pattern, path, strict=True))


def test_the_key_reference_sets_every_key_of_a_product(tmp_path: Path) -> None:
    """Only the optional keys that a second entry of a list leaves out are unset."""
    unset = {f"input_ports.1.source.{name}" for name in ("product", "contract", "version")}
    unset |= {"input_ports.0.source.ingestion", "input_ports.1.freshness"}
    unset |= {"platform.version", "domain.version"}  # a range of versions, which only a registry knows
    assert set(_nothing_at(load("keys-product.yaml", tmp_path).document, "")) == unset


def _nothing_at(value: object, at: str) -> Iterator[str]:
    if value is None:
        yield at.strip(".")
    elif isinstance(value, Block):
        for name in type(value).model_fields:
            yield from _nothing_at(getattr(value, name), f"{at}.{name}")
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from _nothing_at(item, f"{at}.{number}")
