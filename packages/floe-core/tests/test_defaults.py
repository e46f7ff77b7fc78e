"""Defaults: what a tier means beyond what it says, whose they are, and that nothing below can weaken them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import architecture, as_strict, gates, laws, line_of, manifest, manifests, strategy_for, tier

from floe_core import Finding, Manifest
from floe_core.defaults import COVERAGE_BY_LAYER, DEFAULTS, TESTS_BY_LAYER
from floe_core.merge import Merged, merge_tiers
from floe_core.naming import LAYERS
from floe_core.order import show
from floe_core.schemas.levels import IdentityEnforcement, NamingEnforcement
from floe_core.schemas.parts import Plugin
from floe_core.settings import Settings, flatten, strategies

OFF, WARN, STRICT = NamingEnforcement
LAYER_ORDER = ("data_architecture", "layer_order")
NAMING = ("data_architecture", "naming", "enforcement")

FROM_THE_TOP = {
    "identity.enforcement": IdentityEnforcement.WARN,
    "identity.auto_register": True,
    "identity.registration.max_attempts": 3,
    "identity.registration.initial_backoff": timedelta(seconds=1),
    "identity.registration.max_backoff": timedelta(seconds=10),
    "identity.registration.jitter": 0.2,
}
PATTERN = {"data_architecture.layer_order": WARN, "data_architecture.naming.enforcement": WARN}
GATES = {"governance.quality_gates.block_on_failure": True}
CONTRACTS = {
    "data_contracts.standard": "odcs_v3",
    "data_contracts.plugin": Plugin(type="odcs"),
    "data_contracts.auto_generation.enabled": True,
    "data_contracts.auto_generation.from_ports": True,
    "data_contracts.auto_generation.from_dbt_manifest": True,
    "data_contracts.versioning.widening": "major",
    "data_contracts.versioning.initial_development": "strict",
}
MONITORING = {
    "data_contracts.monitoring.mode": "scheduled",
    "data_contracts.monitoring.freshness.check_interval": timedelta(minutes=15),
    "data_contracts.monitoring.schema_drift.check_interval": timedelta(hours=1),
    "data_contracts.monitoring.quality.check_interval": timedelta(hours=6),
    "data_contracts.monitoring.availability.check_interval": timedelta(minutes=5),
}


def merge(*documents: Manifest | Settings) -> tuple[Merged, list[Finding]]:
    names = ("enterprise", "domain", "product")
    return merge_tiers(tier(document, name) for document, name in zip(documents, names, strict=False))


def clean(*documents: Manifest | Settings) -> Merged:
    merged, findings = merge(*documents)
    assert findings == []
    return merged


def defaults_in(merged: Merged) -> dict[str, Any]:
    return {".".join(path): leaf.value for path, leaf in merged.leaves.items() if not leaf.is_stated}


def comparable(values: dict[str, Any]) -> dict[str, Any]:
    return {path: value if isinstance(value, Plugin | timedelta) else show(value) for path, value in values.items()}


@pytest.mark.parametrize(
    ("keys", "brought"),
    [
        ({}, {}),
        ({"data_contracts": {}}, CONTRACTS),
        ({"data_contracts": {"monitoring": {}}}, CONTRACTS | MONITORING),
        ({"data_contracts": {"monitoring": {"quality": {}}}}, CONTRACTS | MONITORING),
        ({"quality_gates": {}}, GATES),
        ({"quality_gates": {"threshold": 80}}, GATES),
        ({"data_architecture": {"pattern": "kimball"}}, PATTERN),
        ({"data_architecture": {"pattern": "custom"}, "quality_gates": {}}, PATTERN | GATES),
        ({"data_architecture": {"layers": {"gold": {}}}}, {}),
        ({"observability": {}, "sla_minimums": {}, "governance": {"classification": {}}}, {}),
    ],
)
def test_a_tier_brings_exactly_the_defaults_of_the_blocks_it_opens(
    keys: dict[str, Any], brought: dict[str, Any]
) -> None:
    merged = clean(manifest(**keys))
    assert comparable(defaults_in(merged)) == comparable(FROM_THE_TOP | brought)


@pytest.mark.parametrize(
    ("pattern", "tests"),
    [
        (
            "medallion",
            {
                "bronze": "not_null_pk",
                "silver": "not_null_pk unique_pk freshness",
                "gold": "not_null_pk unique_pk freshness documentation",
            },
        ),
        (
            "kimball",
            {
                "stg": "not_null_pk",
                "dim": "not_null_pk unique_pk scd_validation",
                "fact": "not_null_pk referential_integrity",
                "bridge": "not_null_pk referential_integrity",
            },
        ),
        (
            "data_vault",
            {
                "hub": "unique_business_key hash_key",
                "link": "referential_integrity",
                "sat": "load_date record_source",
            },
        ),
        ("custom", {}),
    ],
)
def test_gates_and_a_pattern_together_bring_the_tests_of_every_layer(pattern: str, tests: dict[str, str]) -> None:
    together = manifest(data_architecture={"pattern": pattern}, quality_gates={})
    apart = (architecture(pattern=pattern), gates())
    for merged in (clean(together), clean(*apart), clean(*reversed(apart))):
        assert {
            path[2]: " ".join(leaf.value)
            for path, leaf in merged.leaves.items()
            if path[:2] == ("data_architecture", "layers") and path[-1] == "required_tests"
        } == tests


MEDALLION: dict[str, Any] = {"pattern": "medallion"}


@pytest.mark.parametrize(
    ("quality_gates", "layers", "expected"),
    [
        ({}, {}, {"bronze": 50, "silver": 80, "gold": 100}),
        ({}, {"bronze": {"minimum_coverage": 0}}, {"bronze": 0, "silver": 80, "gold": 100}),
        ({"minimum_test_coverage": 10}, {}, {}),
        ({"minimum_test_coverage": 0}, {"gold": {"minimum_coverage": 90}}, {"gold": 90}),
    ],
)
def test_layers_have_their_own_coverage_unless_one_is_set_for_all(
    quality_gates: dict[str, Any], layers: dict[str, Any], expected: dict[str, float]
) -> None:
    merged = clean(manifest(data_architecture=MEDALLION | {"layers": layers}, quality_gates=quality_gates))
    assert {
        path[2]: leaf.value for path, leaf in merged.leaves.items() if path[-1] == "minimum_coverage"
    } == expected


def test_a_pattern_alone_brings_no_gates() -> None:
    assert not [path for path in clean(architecture(pattern="medallion")).leaves if "layers" in path]


@pytest.mark.parametrize(
    ("enterprise", "domain", "message", "requires"),
    [
        (
            manifest(),
            manifest(identity={"enforcement": "off"}),
            "identity.enforcement off is weaker than warn",
            "enterprise requires warn or register or enforce (by default)",
        ),
        (
            gates(),
            gates(block_on_failure=False),
            "block_on_failure false is weaker than true",
            "enterprise requires true (by default)",
        ),
        (
            architecture(pattern="custom"),
            architecture(naming={"enforcement": "off"}),
            "data_architecture.naming.enforcement off is weaker than warn",
            "enterprise requires warn or strict (by default)",
        ),
        (
            architecture(pattern="custom", naming={"enforcement": "strict"}),
            architecture(layer_order="warn"),
            "layer_order warn is weaker than strict",
            "enterprise requires strict (by default)",
        ),
        (
            manifest(data_architecture=MEDALLION, quality_gates={}),
            architecture(layers={"gold": {"minimum_coverage": 99}}),
            "data_architecture.layers.gold.minimum_coverage 99 is weaker than 100",
            "enterprise requires at least 100 (by default)",
        ),
        (
            manifest(data_contracts={}),
            manifest(data_contracts={"versioning": {"widening": "minor"}}),
            "widening minor is weaker than major",
            "enterprise requires major (by default)",
        ),
        (
            manifest(data_contracts={"monitoring": {}}),
            manifest(data_contracts={"monitoring": {"quality": {"check_interval": "7h"}}}),
            "data_contracts.monitoring.quality.check_interval PT7H is weaker than PT6H",
            "enterprise requires at most PT6H (by default)",
        ),
    ],
)
def test_a_default_of_the_enterprise_cannot_be_weakened_by_a_domain(
    enterprise: Manifest, domain: Manifest, message: str, requires: str
) -> None:
    _, findings = merge(enterprise, domain)
    assert [(item.message, [other.message for other in item.related]) for item in findings] == [
        (message, [requires])
    ]


@pytest.mark.parametrize(
    ("enterprise", "domain"),
    [
        (manifest(identity={"enforcement": "off"}), manifest(identity={"enforcement": "warn"})),
        (manifest(), gates(block_on_failure=False)),
        (manifest(), architecture(pattern="custom", naming={"enforcement": "off"})),
        (manifest(), manifest(data_contracts={"versioning": {"widening": "minor"}})),
        (architecture(**MEDALLION), gates(minimum_test_coverage=10)),
        (gates(), architecture(**MEDALLION, layers={"gold": {"minimum_coverage": 10, "required_tests": []}})),
    ],
)
def test_the_tier_that_brings_a_default_may_say_otherwise(enterprise: Manifest, domain: Manifest) -> None:
    merged = clean(enterprise, domain)
    assert {path: merged.get(path) for path in flatten(domain).values} == flatten(domain).values


def test_a_domain_adds_to_the_tests_that_a_layer_needs_by_default() -> None:
    enterprise = manifest(data_architecture=MEDALLION, quality_gates={})
    merged = clean(enterprise, architecture(layers={"bronze": {"required_tests": ["unique_pk"]}}))
    assert merged.get(("data_architecture", "layers", "bronze", "required_tests")) == ("not_null_pk", "unique_pk")


def test_layer_order_follows_naming_down_the_tiers() -> None:
    enterprise, domain = architecture(pattern="custom"), architecture(naming={"enforcement": "strict"})
    merged = clean(enterprise, domain)
    assert merged.get(LAYER_ORDER) is STRICT
    assert [(said.tier, said.value, said.default) for said in merged.leaves[LAYER_ORDER].statements] == [
        ("enterprise", WARN, True),
        ("domain", STRICT, True),
    ]


@pytest.mark.parametrize("stated", ["off", "warn"])
def test_layer_order_that_was_stated_stays_when_naming_rises(stated: str) -> None:
    enterprise = architecture(pattern="custom", layer_order=stated)
    merged = clean(enterprise, architecture(naming={"enforcement": "strict"}))
    assert (str(merged.get(LAYER_ORDER)), merged.get(NAMING)) == (stated, STRICT)
    assert len(merged.leaves[LAYER_ORDER].statements) == 1


def test_a_tier_may_raise_naming_and_leave_layer_order_off_at_once() -> None:
    merged = clean(architecture(pattern="custom", layer_order="off", naming={"enforcement": "strict"}))
    assert merged.get(LAYER_ORDER) is OFF


def test_naming_that_is_off_leaves_layer_order_off() -> None:
    merged = clean(architecture(pattern="custom", naming={"enforcement": "off"}))
    assert merged.get(LAYER_ORDER, OFF) is OFF


def test_a_default_belongs_to_the_tier_and_the_block_that_bring_it() -> None:
    at = ("data_architecture", "layers", "gold", "minimum_coverage")
    for documents, bringer, since in (
        ((architecture(**MEDALLION), gates()), "domain", ("governance", "quality_gates")),
        ((gates(), architecture(**MEDALLION)), "domain", ("data_architecture", "pattern")),
        (
            (manifest(data_architecture=MEDALLION, quality_gates={}), manifest()),
            "enterprise",
            ("governance", "quality_gates"),
        ),
    ):
        (said,) = clean(*documents).leaves[at].statements
        assert (said.tier, said.place.line, said.default) == (bringer, line_of(since), True)


def test_a_block_that_only_a_product_opens_brings_its_defaults_too() -> None:
    coverage = ("governance", "quality_gates", "minimum_test_coverage")
    product = Settings({coverage: 90}, frozenset({coverage[:1], coverage[:2]}))
    assert clean(manifest(), manifest(), product).get(("governance", "quality_gates", "block_on_failure")) is True


def test_every_default_is_a_setting_with_a_value_of_its_kind() -> None:
    assert {default.path for default in DEFAULTS} <= strategies().keys()
    assert TESTS_BY_LAYER.keys() == {layer for layers in LAYERS.values() for layer in layers}
    assert TESTS_BY_LAYER.keys() > COVERAGE_BY_LAYER.keys()


@laws
@given(st.tuples(manifests(), manifests()))
def test_defaults_only_ever_add_strictness(tiers: tuple[Manifest, Manifest]) -> None:
    bare, _ = merge_tiers(map(tier, tiers), defaults=False)
    full, _ = merge_tiers(map(tier, tiers))
    for path, leaf in bare.leaves.items():
        if leaf.strategy.ordered:
            assert as_strict(leaf.strategy, full.get(path), leaf.value), path
        else:
            assert full.get(path) == leaf.value


@laws
@given(manifests())
def test_what_a_tier_says_beats_its_own_defaults_and_is_handed_down_with_them(document: Manifest) -> None:
    alone = clean(document)
    said = flatten(document).values
    for path, leaf in alone.leaves.items():
        assert leaf.is_stated is (path in said or path == ("naming_conventions",)), path
        if path in said and path != ("naming_conventions",):
            assert leaf.value == said[path]
    below = clean(document, manifest())
    assert {path for path in alone.leaves if strategy_for(path).name != "own"} <= below.leaves.keys()
    for path, leaf in below.leaves.items():
        assert leaf.strategy.name == "own" or leaf == alone.leaves[path]
