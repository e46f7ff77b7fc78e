"""A manifest as a flat table: nothing is lost on the way, and every leaf has the strategy that KEYS.md gives it."""

from __future__ import annotations

from typing import Annotated

import pytest
from hypothesis import given
from manifests import laws, manifest, manifests

from floe_core import Manifest
from floe_core.order import AtLeast, Ladder, Override
from floe_core.schemas.values import Block, Percent
from floe_core.settings import Settings, flatten, leaves, strategies, strategy_at, unflatten

# Every leaf of manifest.yaml, as KEYS.md writes it. What it does not mark is override; apiVersion and kind are own,
# and naming_conventions ("extend: OR inside a tier, AND across tiers") is what it elsewhere calls all-of.
STRATEGIES = {
    "apiVersion": "own",
    "kind": "own",
    "metadata.name": "own",
    "metadata.version": "own",
    "metadata.owner": "own",
    "metadata.description": "own",
    "metadata.labels": "own",
    "scope": "own",
    "parent": "own",
    "required_floe_version": "≥",
    "plugins.compute": "override",
    "plugins.catalog": "override",
    "plugins.orchestrator": "override",
    "plugins.semantic_layer": "override",
    "plugins.ingestion": "override",
    "approved_plugins.compute": "subset",
    "approved_plugins.catalog": "subset",
    "approved_plugins.orchestrator": "subset",
    "approved_plugins.semantic_layer": "subset",
    "approved_plugins.ingestion": "subset",
    "approved_products": "own",
    "approved_sources": "subset",
    "catalog_namespace": "own",
    "shared_services.*": "override",
    "data_architecture.pattern": "equal",
    "data_architecture.layers.*.required_tests": "require-set",
    "data_architecture.layers.*.minimum_coverage": "≥",
    "data_architecture.layer_order": "ladder",
    "data_architecture.naming.enforcement": "ladder",
    "naming_conventions": "all-of",
    "classification_levels": "extend",
    "governance.quality_gates.threshold": "≥",
    "governance.quality_gates.minimum_test_coverage": "≥",
    "governance.quality_gates.require_descriptions": "false<true",
    "governance.quality_gates.require_column_descriptions": "false<true",
    "governance.quality_gates.block_on_failure": "false<true",
    "governance.classification.minimum": "ladder",
    "governance.classification.coverage.public": "≥",
    "governance.classification.coverage.internal": "≥",
    "governance.classification.coverage.identifier": "≥",
    "governance.classification.coverage.confidential": "≥",
    "governance.classification.coverage.pii": "≥",
    "governance.classification.coverage.phi": "≥",
    "governance.classification.coverage.sensitive": "≥",
    "governance.classification.coverage.restricted": "≥",
    "governance.sql_linting.enforcement": "ladder",
    "governance.custom_rules": "extend",
    "governance.policy_overrides": "extend",
    "governance.product_registration.mode": "ladder",
    "governance.product_registration.allowed_repositories": "all-of",
    "governance.product_registration.registered_products": "extend",
    "governance.schedule.min_interval": "≥",
    "governance.schedule.allowed": "all-of",
    "governance.schema_evolution": "ladder",
    "data_contracts.enforcement": "ladder",
    "data_contracts.standard": "equal",
    "data_contracts.plugin": "override",
    "data_contracts.base": "extend",
    "data_contracts.validators": "extend",
    "data_contracts.auto_generation.enabled": "override",
    "data_contracts.auto_generation.from_ports": "override",
    "data_contracts.auto_generation.from_dbt_manifest": "override",
    "data_contracts.versioning.widening": "ladder",
    "data_contracts.versioning.initial_development": "ladder",
    "data_contracts.monitoring.enabled": "false<true",
    "data_contracts.monitoring.mode": "override",
    "data_contracts.monitoring.freshness.check_interval": "≤",
    "data_contracts.monitoring.schema_drift.check_interval": "≤",
    "data_contracts.monitoring.quality.check_interval": "≤",
    "data_contracts.monitoring.availability.check_interval": "≤",
    "data_contracts.alerting.openlineage_events": "false<true",
    "data_contracts.alerting.prometheus_metrics": "false<true",
    "identity.enforcement": "ladder",
    "identity.auto_register": "override",
    "identity.registration.max_attempts": "override",
    "identity.registration.initial_backoff": "override",
    "identity.registration.max_backoff": "override",
    "identity.registration.jitter": "override",
    "sla_minimums.freshness": "≤",
    "sla_minimums.availability": "≥",
    "sla_minimums.quality": "≥",
    "secrets_backend": "override",
    "observability.traces": "false<true",
    "observability.metrics": "false<true",
    "observability.lineage": "false<true",
    "observability.namespace": "override",
    "artifacts.repository": "own",
}


def test_every_leaf_has_the_strategy_that_the_keys_page_gives_it() -> None:
    assert {".".join(path): strategy.name for path, strategy in strategies().items()} == STRATEGIES


LADDERS = [
    ("data_architecture.layer_order", "off < warn < strict"),
    ("data_architecture.naming.enforcement", "off < warn < strict"),
    ("governance.classification.minimum", "PUBLIC < INTERNAL < CONFIDENTIAL < RESTRICTED"),
    ("governance.sql_linting.enforcement", "DISABLED < WARN < ERROR"),
    ("governance.product_registration.mode", "open < approval_required"),
    ("governance.schema_evolution", "any < additive < strict"),
    ("data_contracts.enforcement", "off < warn < alert_only < block"),
    ("data_contracts.versioning.widening", "minor < major"),
    ("data_contracts.versioning.initial_development", "free < strict"),
    ("identity.enforcement", "off < warn < register < enforce"),
]


@pytest.mark.parametrize(("ladder", "order"), LADDERS)
def test_every_ladder_climbs_as_the_keys_page_says(ladder: str, order: str) -> None:
    words, strategy = order.split(" < "), strategy_at(tuple(ladder.split(".")))
    rungs = [rung_of(ladder, word) for word in words]
    assert [rung.value for rung in type(rungs[0])] == words
    for number, rung in enumerate(rungs):
        assert [parent for parent in rungs if strategy.holds(rung, parent)] == rungs[: number + 1]


def test_every_ladder_is_in_the_table_above() -> None:
    climbs = {name for name, strategy in STRATEGIES.items() if strategy == "ladder"}
    assert climbs == {row[0] for row in LADDERS}


def rung_of(path: str, word: str) -> Ladder:
    """The value of a setting whose YAML is `word`."""
    keys, base = tuple(path.split(".")), flatten(manifest())
    read = flatten(unflatten(Settings({**base.values, keys: word}, base.blocks))).values[keys]
    assert isinstance(read, Ladder)
    return read


@laws
@given(manifests())
def test_a_manifest_survives_being_flattened(document: Manifest) -> None:
    said = flatten(document)
    assert unflatten(said) == document
    assert flatten(unflatten(said)) == said


@laws
@given(manifests())
def test_a_manifest_sets_its_values_and_blocks_and_what_lies_above_them(document: Manifest) -> None:
    said = flatten(document)
    for path in (*said.values, *said.blocks):
        assert all(said.sets(path[:length]) for length in range(1, len(path) + 1))
    assert not said.sets(("no", "such", "block"))
    assert not said.sets(("govern",))


@pytest.mark.parametrize(
    ("keys", "block"),
    [
        ({"governance": {"quality_gates": {}}}, ("governance", "quality_gates")),
        ({"data_architecture": {"layers": {}}}, ("data_architecture", "layers")),
        ({"data_architecture": {"layers": {"gold": {}}}}, ("data_architecture", "layers", "gold")),
        ({"shared_services": {}}, ("shared_services",)),
    ],
)
def test_a_block_that_is_opened_and_left_empty_is_remembered(
    keys: dict[str, object], block: tuple[str, ...]
) -> None:
    document = manifest(**keys)
    assert flatten(document).sets(block)
    assert unflatten(flatten(document)) == document


def test_a_map_of_values_is_merged_key_by_key_and_an_own_one_as_a_whole() -> None:
    document = manifest(
        shared_services={"lineage": {"url": "a"}, "metrics": None},
        metadata={"name": "acme", "labels": {"tier": "gold"}},
    )
    values = flatten(document).values
    assert values["shared_services", "lineage"] == {"url": "a"}
    assert values["shared_services", "metrics"] is None
    assert values["metadata", "labels"] == {"tier": "gold"}


class Undeclared(Block):
    """A schema whose author forgot a strategy."""

    threshold: Annotated[Percent | None, AtLeast()] = None
    forgotten: Percent | None = None


class Outer(Block):
    """The same, one block down and inside a map."""

    inner: dict[str, Undeclared] | None = None


def test_a_field_without_a_strategy_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match=r"^forgotten declares no merge strategy$"):
        list(leaves(Undeclared))
    with pytest.raises(TypeError, match=r"^inner\.\*\.forgotten declares no merge strategy$"):
        list(leaves(Outer))


class Declared(Block):
    """A schema with a leaf, a map of leaves and a block."""

    services: Annotated[dict[str, str] | None, Override()] = None
    gates: Undeclared | None = None


def test_leaves_are_found_in_order_until_one_is_missing() -> None:
    found = leaves(Declared)
    assert [next(found)[:2] for _ in range(2)] == [
        (("services", "*"), Override()),
        (("gates", "threshold"), AtLeast()),
    ]


def test_a_setting_that_does_not_exist_has_no_strategy() -> None:
    with pytest.raises(KeyError, match=r"governance\.quality_gates\.forgotten"):
        strategy_at(("governance", "quality_gates", "forgotten"))
