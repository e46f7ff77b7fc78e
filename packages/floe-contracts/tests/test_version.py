"""Versions: the smallest one that says what a change is."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from builders import column, contract, table
from generators import DOCUMENTS, VERSIONS, with_version
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from floe_contracts.changes import Bump, required_bump
from floe_contracts.version import Registered, Rules, bump_between, check_version, raised, release, settle, verdict
from floe_core.contract import Contract
from floe_core.findings import Severity
from floe_core.schemas.levels import InitialDevelopment, Widening

TWO = table(column("id"), column("name"))
ONE = table(column("id"))


def blocking(old: Contract, new: Contract, rules: Rules | None = None) -> list[str]:
    return [item.code for item in check_version(old, new, rules or Rules()) if item.blocks]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (contract(TWO), contract(ONE, version="1.1.0"), "FLOE-E520"),
        (contract(TWO), contract(ONE), "FLOE-E520"),
        (contract(ONE), contract(TWO, version="1.0.1"), "FLOE-E522"),
        (contract(ONE), contract(TWO), "FLOE-E523"),
        (contract(tags=["a"]), contract(tags=["b"]), "FLOE-E523"),
        (contract(ONE, version="1.2.0"), contract(TWO, version="1.1.0"), "FLOE-E524"),
        (contract(ONE), contract(ONE, version="1.1"), "FLOE-E521"),
    ],
)
def test_a_version_that_says_too_little_has_its_code(old: Contract, new: Contract, code: str) -> None:
    assert blocking(old, new) == [code]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (contract(TWO), contract(ONE, version="2.0.0")),
        (contract(ONE), contract(TWO, version="1.1.0")),
        (contract(ONE), contract(TWO, version="2.0.0")),
        (contract(ONE), contract(ONE)),
        (contract(ONE), contract(ONE, version="1.0.1")),
        (contract(ONE, version="2.0.0"), contract(TWO, version="1.5.0")),
    ],
)
def test_a_version_that_says_enough_passes(old: Contract, new: Contract) -> None:
    assert blocking(old, new) == []


def test_the_finding_names_the_changes_and_the_version() -> None:
    [finding] = check_version(contract(TWO), contract(ONE, version="1.1.0"))
    assert finding.message == "breaking change without a MAJOR version: 1.0.0 → 1.1.0 needs a MAJOR bump"
    assert finding.expected == "2.0.0"
    assert [item.message for item in finding.related] == ["a column was removed: orders.name: string → nothing"]


def test_consumers_are_warned_of_nulls() -> None:
    old, new = contract(table(column("id", required=True))), contract(ONE, version="1.1.0")
    [finding] = check_version(old, new)
    assert (finding.code, finding.severity) == ("FLOE-E527", Severity.WARNING)


def test_the_platform_may_forgive_widenings_and_beginnings() -> None:
    old = contract(table(column("id", "integer", physicalType="int")), version="0.1.0")
    new = contract(table(column("id", "integer", physicalType="bigint")), version="0.2.0")
    assert blocking(old, new) == ["FLOE-E520"]
    assert blocking(old, new, Rules(widening=Widening.MINOR)) == []
    removed = contract(ONE, version="0.1.1")
    assert blocking(contract(TWO, version="0.1.0"), removed, Rules(initial=InitialDevelopment.FREE)) == []
    assert blocking(
        contract(TWO, version="1.1.0"), contract(ONE, version="1.1.1"), Rules(initial=InitialDevelopment.FREE)
    ) == ["FLOE-E520"]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS, VERSIONS, VERSIONS)
def test_the_version_that_bump_writes_is_accepted(
    old: dict[str, Any], new: dict[str, Any], before: str, after: str
) -> None:
    one, two = with_version(old, before), with_version(new, after)
    judged = verdict(one, two)
    assert blocking(one, with_version(new, judged.version)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS, VERSIONS)
def test_no_smaller_version_is_accepted(old: dict[str, Any], new: dict[str, Any], before: str) -> None:
    one, two = with_version(old, before), with_version(new, before)
    chosen = release(verdict(one, two).version)
    start = release(before)
    assert chosen
    assert start
    for version in product(range(5), repeat=3):
        if start <= version < chosen and version[0] >= start[0]:
            assert blocking(one, with_version(new, ".".join(map(str, version)))) != []


RULES = st.builds(Rules, st.sampled_from(Widening), st.sampled_from(InitialDevelopment))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS, VERSIONS, VERSIONS, RULES)
def test_bump_changes_a_version_exactly_when_compile_refuses_it(
    old: dict[str, Any], new: dict[str, Any], before: str, after: str, rules: Rules
) -> None:
    one, two = with_version(old, before), with_version(new, after)
    chosen = verdict(one, two, rules).version
    assert (chosen == after) == (blocking(one, two, rules) == [])
    assert blocking(one, with_version(new, chosen), rules) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(VERSIONS, DOCUMENTS, min_size=1, max_size=4), DOCUMENTS, VERSIONS, RULES)
def test_a_bump_over_everything_registered_is_accepted_and_the_smallest_that_is(
    registered: dict[str, dict[str, Any]], new: dict[str, Any], before: str, rules: Rules
) -> None:
    baseline = Registered([with_version(document, version) for version, document in registered.items()])

    def accepted(version: str) -> bool:
        made = with_version(new, version)
        previous = baseline.previous(made)
        assert previous
        return blocking(previous, made, rules) == []

    settled = settle(baseline, with_version(new, before), rules)
    assert settled
    chosen = settled[1].version
    assert accepted(chosen)
    for parts in product(range(6), repeat=3):
        version = ".".join(map(str, parts))
        if (release(before) or (0, 0, 0)) <= parts < (release(chosen) or (0, 0, 0)):
            assert not accepted(version), version


@given(VERSIONS, VERSIONS)
def test_a_raised_version_says_what_was_raised(old: str, new: str) -> None:
    start, other = release(old), release(new)
    assert start
    assert other
    for bump in Bump:
        assert bump_between(start, raised(start, bump)) is bump
    assert (bump_between(start, other) is Bump.NONE) == (start == other)


def test_the_baseline_is_the_same_version_else_the_newest_of_the_line_else_the_newest() -> None:
    known = [contract(version=version) for version in ("1.0.0", "1.10.0", "1.2.0", "2.0.0")]
    baseline = Registered(known)

    def previous(version: str) -> str:
        found = baseline.previous(contract(version=version))
        assert found
        return found.version

    assert previous("1.2.0") == "1.2.0"
    assert previous("1.11.0") == "1.10.0"
    assert previous("1.3.0") == "1.10.0"
    assert previous("2.1.0") == "2.0.0"
    assert previous("3.0.0") == "2.0.0"
    assert baseline.previous(contract(name="other")) is None


def test_required_bump_of_nothing_is_none() -> None:
    assert required_bump([]) is Bump.NONE
