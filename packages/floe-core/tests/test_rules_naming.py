"""Names: OR inside a tier, AND across tiers, and what the finding says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws
from rule_context import context, model

from floe_core.findings import Finding, Severity
from floe_core.naming import LAYERS, layer_of
from floe_core.project import Config
from floe_core.rules import enforce
from floe_core.rules.naming import HOLDS, fits
from floe_core.schemas.manifest import Pattern

STRICT = {"naming": {"enforcement": "strict"}}
MEDALLION = {"data_architecture": {"pattern": "medallion", **STRICT}}


def misnamed(*tiers: Mapping[str, object], names: tuple[str, ...]) -> list[str]:
    done = enforce(context(*tiers, nodes=tuple(map(model, names))))
    return [str(item.actual) for item in done.findings if item.code == "FLOE-E201"]


def only(*tiers: Mapping[str, object], name: str) -> Finding:
    [finding] = enforce(context(*tiers, nodes=(model(name),))).findings
    return finding


def test_the_finding_is_the_one_of_the_specification() -> None:
    finding = only(
        {**MEDALLION, "metadata": {"name": "acme-data-platform", "version": "1.2.3"}}, name="stg_payments"
    )
    assert finding.message == "Model 'stg_payments' violates naming convention"
    assert finding.details == (
        ("Platform", "acme-data-platform v1.2.3"),
        ("Pattern", "medallion"),
        ("Enforcement", "strict"),
        ("Expected prefixes", "bronze_*, silver_*, gold_*"),
        ("Actual name", "stg_payments"),
        (
            "Suggestions",
            (
                "Rename to bronze_payments (raw data)",
                "Rename to silver_payments (cleaned data)",
                "Rename to gold_payments (aggregated data)",
            ),
        ),
        ("Documentation", "https://docs.floe.dev/naming-conventions"),
    )


@pytest.mark.parametrize(
    ("pattern", "legal", "illegal"),
    [
        ("medallion", ("bronze_a", "silver_a", "gold_a"), ("bronze", "Gold_a", "goldx_a", "a_gold")),
        ("kimball", ("stg_a", "dim_a", "fact_a", "bridge_a"), ("fct_a", "gold_a")),
        ("data_vault", ("hub_a", "link_a", "sat_a"), ("lnk_a", "stg_a")),
        ("custom", ("anything", "at_all"), ()),
    ],
)
def test_each_architecture_has_its_prefixes(pattern: str, legal: tuple[str, ...], illegal: tuple[str, ...]) -> None:
    tier: dict[str, object] = {"data_architecture": {"pattern": pattern, **STRICT}}
    assert misnamed(tier, names=(*legal, *illegal)) == sorted(illegal)


def test_a_tiers_own_list_is_an_alternative_to_its_pattern() -> None:
    tier = {**MEDALLION, "naming_conventions": ["raw_*", {"regex": "mart_[a-z]+"}]}
    assert misnamed(tier, names=("gold_a", "raw_a", "mart_a", "mart_1", "stg_a")) == ["mart_1", "stg_a"]


def test_every_tier_has_its_say() -> None:
    domain: dict[str, object] = {"naming_conventions": ["*_sales_*"]}
    assert misnamed(MEDALLION, domain, names=("gold_sales_a", "gold_a", "x_sales_a")) == ["gold_a", "x_sales_a"]


@laws
@given(
    st.lists(st.lists(st.text("ab*?", min_size=1, max_size=4), min_size=1, max_size=3), min_size=1, max_size=2),
    st.text("ab", min_size=1, max_size=5),
)
def test_a_name_is_legal_when_every_group_has_a_match(groups: list[list[str]], name: str) -> None:
    tiers: list[dict[str, object]] = [
        {"naming_conventions": group, "data_architecture": STRICT} for group in groups
    ]
    try:
        found = misnamed(*tiers, names=(name,))
    except AssertionError:
        return  # tiers that leave no name at all are refused before any rule runs
    assert (not found) == all(any(fits(glob, name) for glob in group) for group in groups)


@laws
@given(st.text("ab*?.[", max_size=6), st.text("ab.[", max_size=8))
def test_a_glob_knows_two_wildcards_and_takes_the_rest_literally(glob: str, name: str) -> None:
    def walk(glob: str, name: str) -> bool:
        if not glob:
            return not name
        if glob[0] == "*":
            return walk(glob[1:], name) or (bool(name) and walk(glob, name[1:]))
        return bool(name) and glob[0] in ("?", name[0]) and walk(glob[1:], name[1:])

    assert fits(glob, name) == walk(glob, name)


@pytest.mark.parametrize(
    ("level", "severity"), [("strict", Severity.ERROR), ("warn", Severity.WARNING), ("off", None)]
)
def test_the_level_decides_the_severity(level: str, severity: Severity | None) -> None:
    tier = {"data_architecture": {"pattern": "medallion", "naming": {"enforcement": level}}}
    found = enforce(context(tier, nodes=(model("a"),))).findings
    assert [item.severity for item in found] == ([severity] if severity else [])


def test_a_list_without_a_pattern_warns_unless_it_says_otherwise() -> None:
    assert only({"naming_conventions": ["raw_*"]}, name="a").severity is Severity.WARNING


def test_suggestions_are_names_that_every_tier_accepts() -> None:
    finding = only(MEDALLION, {"naming_conventions": ["gold_*"]}, name="mart_revenue")
    assert dict(finding.details)["Suggestions"] == ("Rename to gold_revenue (aggregated data)",)
    assert finding.fix == "Rename to gold_revenue (aggregated data)."


def test_without_a_name_to_suggest_the_general_fix_stands() -> None:
    finding = only({"naming_conventions": [{"regex": "x[0-9]"}], "data_architecture": STRICT}, name="a")
    assert "Suggestions" not in dict(finding.details)
    assert dict(finding.details)["Expected names"] == "/x[0-9]/"
    assert finding.fix == "Rename the model to match one of the patterns shown."


def test_installed_packages_and_disabled_nodes_are_not_judged() -> None:
    package = model("other", package_name="dbt_utils")
    disabled = model("gone", config=Config(enabled=False))
    done = enforce(context(MEDALLION, nodes=(package, disabled)))
    assert done.findings == []
    assert done.summary.models == ()


def test_the_summary_says_layer_and_verdict_of_each_model() -> None:
    done = enforce(context(MEDALLION, nodes=(model("bronze_a"), model("stg_a"))))
    assert [(item.name, item.layer, item.valid) for item in done.summary.models] == [
        ("bronze_a", "bronze", True),
        ("stg_a", None, False),
    ]
    assert [item.code for item in done.of_step(3)] == ["FLOE-E201"]
    assert done.of_step(4) == []


def test_every_layer_says_what_it_holds() -> None:
    assert set(HOLDS) == {layer for layers in LAYERS.values() for layer in layers}


def test_the_layer_is_the_prefix_of_the_pattern_in_use() -> None:
    assert layer_of("gold_a", Pattern.MEDALLION) == "gold"
    assert layer_of("gold_a", Pattern.KIMBALL) is None
    assert layer_of("gold", Pattern.MEDALLION) is None
    assert layer_of("gold_a", None) is None
