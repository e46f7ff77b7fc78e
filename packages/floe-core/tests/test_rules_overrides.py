"""Exceptions: from a tier's own rules only, until their last day, and never unnoticed."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws
from rule_context import TODAY, context, model

from floe_core.findings import Severity
from floe_core.rules import enforce
from floe_core.rules.naming import fits

STRICT = {"pattern": "medallion", "naming": {"enforcement": "strict"}}


def override(
    code: str = "FLOE-E201", pattern: str = "stg_*", action: str = "exclude", **more: Any
) -> dict[str, Any]:
    return {"pattern": pattern, "code": code, "action": action, "reason": "moving", **more}


def tier(*overrides: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {**keys, "governance": {**keys.get("governance", {}), "policy_overrides": list(overrides)}}


def found(
    *tiers: dict[str, Any], today: date = TODAY, names: tuple[str, ...] = ("stg_a",)
) -> list[tuple[str, str]]:
    done = enforce(context(*tiers, nodes=tuple(map(model, names)), today=today))
    return sorted((item.code, item.severity.value) for item in done.findings)


def test_exclude_removes_the_finding_and_downgrade_weakens_it_by_one_step() -> None:
    assert found(tier(override(), data_architecture=STRICT)) == []
    assert found(tier(override(action="downgrade"), data_architecture=STRICT)) == [("FLOE-E201", "warning")]
    warn = {**STRICT, "naming": {"enforcement": "warn"}}
    assert found(tier(override(action="downgrade"), data_architecture=warn)) == [("FLOE-E201", "info")]


def test_only_models_that_the_pattern_matches_are_reached() -> None:
    assert found(tier(override(), data_architecture=STRICT), names=("stg_a", "tmp_a")) == [("FLOE-E201", "error")]


def test_a_domain_cannot_except_from_what_the_enterprise_set() -> None:
    assert found({"data_architecture": STRICT}, tier(override())) == [
        ("FLOE-E179", "warning"),
        ("FLOE-E201", "error"),
    ]


def test_a_domain_can_except_from_what_it_set_itself() -> None:
    assert found({}, tier(override(), data_architecture=STRICT)) == []


def test_a_rule_that_two_tiers_set_has_no_exception_in_either() -> None:
    enterprise = tier(override(), data_architecture=STRICT)
    domain = tier(override(), naming_conventions=["*_sales_*"])
    assert found(enterprise, domain) == [("FLOE-E179", "warning"), ("FLOE-E179", "warning"), ("FLOE-E201", "error")]


def test_a_default_belongs_to_the_tier_that_brought_it() -> None:
    gates = {"data_architecture": {"pattern": "medallion"}, "governance": {"quality_gates": {}}}
    exception = override("FLOE-E220", "gold_*")
    reached = tier(exception, **gates)
    assert ("FLOE-E220", "error") not in found(reached, names=("gold_a",))
    assert ("FLOE-E220", "error") in found(gates, tier(exception), names=("gold_a",))


def test_what_floe_itself_demands_has_no_exception() -> None:
    port = {"output_ports": [{"name": "ghost"}]}
    done = enforce(context(tier(override("FLOE-E313", "*")), nodes=(model("a"),), product=port))
    assert sorted(item.code for item in done.findings) == ["FLOE-E178", "FLOE-E313"]


@pytest.mark.parametrize("code", ["FLOE-E160", "FLOE-E163", "FLOE-E510", "FLOE-E512", "FLOE-E600", "FLOE-E699"])
def test_weakenings_inheritance_and_identity_have_no_exceptions(code: str) -> None:
    assert found(tier(override(code))) == [("FLOE-E179", "warning")]


@pytest.mark.parametrize("code", ["FLOE-E500", "FLOE-E521"])
def test_exceptions_from_what_another_step_judges_are_not_judged_here(code: str) -> None:
    done = enforce(context(tier(override(code)), nodes=(model("a"),)))
    assert [item.code for item in done.findings if item.code != "FLOE-E178"] == []


@laws
@given(st.integers(-400, 400))
def test_an_exception_works_until_its_last_day_and_then_is_reported(days: int) -> None:
    exception = override(expires=(TODAY + timedelta(days=days)).isoformat())
    expected = [] if days >= 0 else [("FLOE-E177", "warning"), ("FLOE-E201", "error")]
    assert found(tier(exception, data_architecture=STRICT)) == expected


def test_an_expired_exception_is_reported_even_when_it_would_reach_nothing() -> None:
    assert found(tier(override(expires="2020-01-01"))) == [("FLOE-E177", "warning")]


def test_an_exception_that_matches_nothing_is_information() -> None:
    assert found(tier(override(), data_architecture=STRICT), names=("gold_a",)) == [("FLOE-E178", "info")]
    assert found(tier(override("FLOE-E299"))) == [("FLOE-E178", "info")]


def test_when_dbt_could_not_parse_no_exception_is_called_useless() -> None:
    unparsed = context(tier(override(), data_architecture=STRICT))
    assert enforce(type(unparsed)(unparsed.product, unparsed.chain, unparsed.merged, today=TODAY)).findings == []


@laws
@given(
    st.lists(
        st.tuples(st.text("ab*", min_size=1, max_size=3), st.sampled_from(["exclude", "downgrade"])), max_size=4
    ),
    st.lists(st.text("abc", min_size=1, max_size=3), unique=True, max_size=5),
)
def test_exclude_wins_over_downgrade_and_no_finding_ever_gets_worse(
    exceptions: list[tuple[str, str]], names: list[str]
) -> None:
    overrides = (override(pattern=pattern, action=action) for pattern, action in exceptions)
    done = enforce(context(tier(*overrides, data_architecture=STRICT), nodes=tuple(map(model, names))))
    left = {item.actual: item.severity for item in done.findings if item.code == "FLOE-E201"}
    for name in names:
        actions = {action for pattern, action in exceptions if fits(pattern, name)}
        if "exclude" in actions:
            assert name not in left
        else:
            assert left[name] is (Severity.WARNING if actions else Severity.ERROR)
