"""What a tier means beyond what it says: the defaults that its settings bring with them.

A default belongs to the first tier that makes it apply, so a tier below can strengthen it and cannot weaken it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from floe_core.naming import LAYERS, prefixes
from floe_core.order import unique
from floe_core.schemas.levels import (
    IdentityEnforcement,
    InitialDevelopment,
    NamingEnforcement,
    Widening,
)
from floe_core.schemas.manifest import MonitoringMode, Pattern, Standard
from floe_core.schemas.parts import Plugin
from floe_core.settings import SettingPath, Settings

IDENTITY = ("identity",)
CONTRACTS = ("data_contracts",)
GATES = ("governance", "quality_gates")
MONITORING = ("data_contracts", "monitoring")
PATTERN = ("data_architecture", "pattern")
NAMING = ("data_architecture", "naming", "enforcement")
LAYER_ORDER = ("data_architecture", "layer_order")
CONVENTIONS = ("naming_conventions",)
COVERAGE = (*GATES, "minimum_test_coverage")


@dataclass(frozen=True, slots=True)
class Default:
    """A value that applies once some tier has opened the block `since`; () applies from the top."""

    path: SettingPath
    value: Any
    since: SettingPath


DEFAULTS: tuple[Default, ...] = (
    Default((*IDENTITY, "enforcement"), IdentityEnforcement.WARN, ()),
    Default((*IDENTITY, "auto_register"), True, ()),
    Default((*IDENTITY, "registration", "max_attempts"), 3, ()),
    Default((*IDENTITY, "registration", "initial_backoff"), timedelta(seconds=1), ()),
    Default((*IDENTITY, "registration", "max_backoff"), timedelta(seconds=10), ()),
    Default((*IDENTITY, "registration", "jitter"), 0.2, ()),
    Default((*GATES, "block_on_failure"), True, GATES),
    Default(NAMING, NamingEnforcement.WARN, PATTERN),
    Default(NAMING, NamingEnforcement.WARN, CONVENTIONS),
    Default((*CONTRACTS, "standard"), Standard.ODCS_V3, CONTRACTS),
    Default((*CONTRACTS, "plugin"), Plugin.model_construct(type="odcs"), CONTRACTS),
    Default((*CONTRACTS, "auto_generation", "enabled"), True, CONTRACTS),
    Default((*CONTRACTS, "auto_generation", "from_ports"), True, CONTRACTS),
    Default((*CONTRACTS, "auto_generation", "from_dbt_manifest"), True, CONTRACTS),
    Default((*CONTRACTS, "versioning", "widening"), Widening.MAJOR, CONTRACTS),
    Default((*CONTRACTS, "versioning", "initial_development"), InitialDevelopment.STRICT, CONTRACTS),
    Default((*MONITORING, "mode"), MonitoringMode.SCHEDULED, MONITORING),
    Default((*MONITORING, "freshness", "check_interval"), timedelta(minutes=15), MONITORING),
    Default((*MONITORING, "schema_drift", "check_interval"), timedelta(hours=1), MONITORING),
    Default((*MONITORING, "quality", "check_interval"), timedelta(hours=6), MONITORING),
    Default((*MONITORING, "availability", "check_interval"), timedelta(minutes=5), MONITORING),
)

COVERAGE_BY_LAYER = {"bronze": 50, "silver": 80, "gold": 100}
TESTS_BY_LAYER: dict[str, tuple[str, ...]] = {
    "bronze": ("not_null_pk",),
    "silver": ("not_null_pk", "unique_pk", "freshness"),
    "gold": ("not_null_pk", "unique_pk", "freshness", "documentation"),
    "stg": ("not_null_pk",),
    "dim": ("not_null_pk", "unique_pk", "scd_validation"),
    "fact": ("not_null_pk", "referential_integrity"),
    "bridge": ("not_null_pk", "referential_integrity"),
    "hub": ("unique_business_key", "hash_key"),
    "link": ("referential_integrity",),
    "sat": ("load_date", "record_source"),
}


def implied(
    tier: Settings,
    inherited: Mapping[SettingPath, Any],
    opened: frozenset[SettingPath],
    said: frozenset[SettingPath],
) -> Iterator[Default]:
    """The settings that this tier brings into force without saying so.

    `inherited` and `opened` are the values and blocks from above, `said` those values that are not defaults.
    """
    known = {**inherited, **tier.values}

    def in_force(path: SettingPath) -> bool:
        return not path or path in opened or tier.sets(path) or path in known

    for default in DEFAULTS:
        if in_force(default.since) and default.path not in known:
            yield default
            known[default.path] = default.value
    if (pattern := known.get(PATTERN)) is None:
        return
    if LAYER_ORDER not in said | tier.values.keys() and known[NAMING] > known.get(
        LAYER_ORDER, NamingEnforcement.OFF
    ):
        yield Default(LAYER_ORDER, known[NAMING], PATTERN)
    if in_force(GATES):
        yield from _layer_gates(pattern, known, GATES if tier.sets(GATES) else PATTERN)


def _layer_gates(pattern: Pattern, known: Mapping[SettingPath, Any], since: SettingPath) -> Iterator[Default]:
    """What every layer of the architecture demands once quality gates are set."""
    for layer in LAYERS[pattern]:
        at = ("data_architecture", "layers", layer)
        if (*at, "required_tests") not in known:
            yield Default((*at, "required_tests"), TESTS_BY_LAYER[layer], since)
        if layer in COVERAGE_BY_LAYER and COVERAGE not in known and (*at, "minimum_coverage") not in known:
            yield Default((*at, "minimum_coverage"), COVERAGE_BY_LAYER[layer], since)


def with_prefixes(tier: Settings, inherited: Pattern | None) -> Settings:
    """A tier that sets a pattern allows its layers' prefixes as well as its own list.

    More than one group means that tiers have been merged already, and their prefixes are in it. A pattern other
    than the inherited one is an error of its own and brings nothing.
    """
    pattern = tier.values.get(PATTERN, Pattern.CUSTOM)
    groups, layers = unique(tier.values.get(CONVENTIONS) or ((),)), prefixes(pattern)
    if not layers or len(groups) > 1 or inherited not in (None, pattern):
        return tier
    return Settings({**tier.values, CONVENTIONS: (unique((*layers, *groups[0])),)}, tier.blocks)
