"""The algebra: what each strategy accepts, what it joins to, and what it says when it does not."""

from __future__ import annotations

import math
import random
import sys
from datetime import timedelta
from typing import Any

import pytest
from manifests import GROWING, PAIRS, as_strict, settings_of, tier

from floe_core.merge import merge_tiers
from floe_core.order import (
    AllOf,
    AtLeast,
    AtMost,
    Climb,
    Cover,
    Equal,
    Extend,
    Override,
    Own,
    Require,
    Strategy,
    Subset,
    Switch,
    iso_duration,
    show,
    unique,
)
from floe_core.schemas.levels import (
    ClassificationLevel,
    ContractEnforcement,
    FieldClass,
    IdentityEnforcement,
    NamingEnforcement,
)
from floe_core.schemas.manifest import Pattern
from floe_core.schemas.parts import NamePattern
from floe_core.schemas.values import FloeBound
from floe_core.settings import SettingPath, strategies

OFF, WARN, STRICT = NamingEnforcement


@pytest.mark.parametrize(
    ("strategy", "parent", "child", "holds", "joined"),
    [
        (AtLeast(), 80, 80, True, 80),
        (AtLeast(), 80, 80.5, True, 80.5),
        (AtLeast(), 80, 79.5, False, None),
        (AtLeast(), FloeBound((0, 3, 0)), FloeBound((0, 10, 0)), True, FloeBound((0, 10, 0))),
        (AtLeast(), FloeBound((0, 3, 0)), FloeBound((0, 2, 9)), False, None),
        (AtMost(), timedelta(hours=24), timedelta(hours=12), True, timedelta(hours=12)),
        (AtMost(), timedelta(hours=24), timedelta(hours=24), True, timedelta(hours=24)),
        (AtMost(), timedelta(hours=24), timedelta(hours=25), False, None),
        (Climb(), WARN, STRICT, True, STRICT),
        (Climb(), WARN, WARN, True, WARN),
        (Climb(), WARN, OFF, False, None),
        (Switch(), False, True, True, True),
        (Switch(), True, True, True, True),
        (Switch(), True, False, False, None),
        (Require(), ("a", "b"), ("c", "a"), True, ("a", "b", "c")),
        (Require(), ("a",), (), True, ("a",)),
        (Extend(), ("a",), ("b", "b"), True, ("a", "b")),
        (Subset(), ("a", "b"), ("b",), True, ("b",)),
        (Subset(), ("a", "b"), ("b", "a"), True, ("b", "a")),
        (Subset(), ("a",), (), True, ()),
        (Subset(), ("a", "b"), ("b", "c"), False, None),
        (Subset(), (), ("a",), False, None),
        (AllOf(), (("a",),), (("b",),), True, (("a",), ("b",))),
        (AllOf(), (("a",),), (("a",),), True, (("a",),)),
        (Equal(), Pattern.KIMBALL, Pattern.KIMBALL, True, Pattern.KIMBALL),
        (Equal(), Pattern.KIMBALL, Pattern.MEDALLION, False, None),
        (Override(), "duckdb", "snowflake", True, "snowflake"),
        (Own(), "sales", "hr", True, "hr"),
    ],
)
def test_a_child_holds_when_it_is_as_strict_and_the_stricter_value_is_in_force(
    strategy: Strategy, parent: Any, child: Any, holds: bool, joined: Any
) -> None:
    assert strategy.holds(child, parent) is holds
    if holds:
        assert strategy.join(parent, child) == joined


@pytest.mark.parametrize(
    ("strategy", "weak", "strict"),
    [(AtLeast(), 70, 80), (AtMost(), 80, 70), (Climb(), OFF, STRICT), (Switch(), False, True)],
)
def test_join_takes_the_stricter_side_wherever_it_stands(strategy: Strategy, weak: Any, strict: Any) -> None:
    assert strategy.join(strict, weak) == strict
    assert strategy.join(weak, strict) == strict


def test_join_keeps_the_parents_spelling_of_an_equal_value() -> None:
    assert math.copysign(1, AtLeast().join(0.0, -0.0)) == 1
    assert math.copysign(1, AtMost().join(0.0, -0.0)) == 1


@pytest.mark.parametrize(
    ("strategy", "parent", "child", "demand", "complaint", "cure"),
    [
        (
            AtLeast(),
            80.0,
            70.0,
            "at least 80",
            "70 is weaker than 80",
            "use at least 80, or remove it to inherit 80",
        ),
        (
            AtMost(),
            timedelta(hours=6),
            timedelta(days=1),
            "at most PT6H",
            "P1D is weaker than PT6H",
            "use at most PT6H, or remove it to inherit PT6H",
        ),
        (
            Climb(),
            ContractEnforcement.WARN,
            ContractEnforcement.OFF,
            "warn or alert_only or block",
            "off is weaker than warn",
            "use warn or alert_only or block, or remove it to inherit warn",
        ),
        (Switch(), True, False, "true", "false is weaker than true", "use true, or remove it to inherit true"),
        (
            Subset(),
            ("duckdb", "spark"),
            ("trino", "spark", "trino"),
            "only from [duckdb, spark]",
            "[trino] is not approved by the parent",
            "remove [trino]; the parent approves [duckdb, spark]",
        ),
        (
            Equal(),
            Pattern.KIMBALL,
            Pattern.MEDALLION,
            "kimball",
            "medallion differs from kimball",
            "use kimball, or remove it to inherit kimball",
        ),
    ],
)
def test_a_strategy_says_what_it_demands_what_is_wrong_and_what_to_do(
    strategy: Strategy, parent: Any, child: Any, demand: str, complaint: str, cure: str
) -> None:
    assert strategy.demand(parent) == demand
    assert strategy.complaint(child, parent) == complaint
    assert strategy.cure(child, parent) == cure


def test_every_strategy_has_its_name_rule_order_and_code() -> None:
    described = {kind.name: (kind.rule, kind.ordered, kind.code) for kind in ALL}
    assert described == {
        "≥": ("a child may raise it", True, "FLOE-E160"),
        "≤": ("a child may lower it", True, "FLOE-E160"),
        "ladder": ("a child may climb it", True, "FLOE-E160"),
        "false<true": ("a child may switch it on", True, "FLOE-E160"),
        "require-set": ("a child may add to it", True, "FLOE-E160"),
        "extend": ("a child's entries are added", True, "FLOE-E160"),
        "subset": ("a child may narrow it", True, "FLOE-E161"),
        "all-of": ("every tier's must match", True, "FLOE-E160"),
        "equal": ("a child may only repeat it", True, "FLOE-E162"),
        "override": ("a child may replace it", False, "FLOE-E160"),
        "own": ("not inherited", False, "FLOE-E160"),
    }


PII, PHI, PUBLIC, RESTRICTED = FieldClass.PII, FieldClass.PHI, FieldClass.PUBLIC, FieldClass.RESTRICTED


@pytest.mark.parametrize(
    ("child", "parent", "holds"),
    [
        ((PII,), (PII,), True),
        ((PII, PHI), (PII,), True),
        ((RESTRICTED,), (PII, PHI), True),
        ((PII,), (PII, PHI), False),  # dropping one of several is a weakening
        ((PHI,), (PII,), False),
        ((PUBLIC,), (PII,), False),
        ((), (PII,), False),
        ((), (), True),
        ((PUBLIC,), (), True),
    ],
)
def test_a_set_covers_another_when_every_class_is_met_or_exceeded(
    child: tuple[FieldClass, ...], parent: tuple[FieldClass, ...], holds: bool
) -> None:
    assert Cover().holds(child, parent) is holds


def test_sets_of_classes_add_up_and_say_what_they_ask_for() -> None:
    assert Cover().join((PII,), (PHI, PII)) == (PII, PHI)
    assert Cover().demand((PII,)) == "[pii] or stronger"
    assert (Cover.name, Cover.ordered, Cover.code) == ("cover", True, "FLOE-E160")


ALL: tuple[type[Strategy], ...] = (
    AtLeast,
    AtMost,
    Climb,
    Switch,
    Require,
    Extend,
    Subset,
    AllOf,
    Equal,
    Override,
    Own,
)


def test_two_strategies_of_one_kind_are_one() -> None:
    for kind in ALL:
        assert kind() == kind()
    assert len({kind() for kind in ALL}) == len(ALL)


def test_a_ladder_is_ordered_by_declaration_not_by_spelling() -> None:
    public, internal, confidential, restricted = ClassificationLevel
    assert public < internal < confidential < restricted
    assert restricted > confidential > internal > public
    assert [level.rank for level in ClassificationLevel] == [0, 1, 2, 3]
    for level in ClassificationLevel:
        assert level <= level
        assert level >= level
        assert not level < level
        assert not level > level
    assert not confidential <= internal
    assert not internal >= confidential


@pytest.mark.parametrize("other", ["warn", IdentityEnforcement.WARN, 1, None])
def test_rungs_of_different_ladders_are_never_compared(other: Any) -> None:
    for compare in (WARN.__ge__, WARN.__le__, WARN.__gt__, WARN.__lt__):
        with pytest.raises(TypeError, match=r"NamingEnforcement\.WARN.* are not on the same ladder"):
            compare(other)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (80, "80"),
        (80.0, "80"),
        (99.99999, "99.99999"),
        (1e300, "1e+300"),
        (WARN, "warn"),
        (Pattern.DATA_VAULT, "data_vault"),
        (timedelta(hours=6), "PT6H"),
        ("raw_*", "raw_*"),
        (("a", True, 1.0), "[a, true, 1]"),
        ((("a",), ()), "[[a], []]"),
        ((), "[]"),
        (NamePattern(glob="raw_*"), "raw_*"),
        (NamePattern(regex="a+"), "/a+/"),
        (FloeBound((0, 3, 0)), ">=0.3"),
    ],
)
def test_values_are_shown_as_a_person_writes_them(value: Any, text: str) -> None:
    assert show(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (timedelta(0), "PT0S"),
        (timedelta(seconds=1), "PT1S"),
        (timedelta(seconds=60), "PT1M"),
        (timedelta(minutes=61), "PT1H1M"),
        (timedelta(hours=23, minutes=59, seconds=59), "PT23H59M59S"),
        (timedelta(hours=24), "P1D"),
        (timedelta(weeks=2), "P14D"),
        (timedelta(days=1, seconds=1), "P1DT1S"),
    ],
)
def test_durations_are_written_as_iso_8601(value: timedelta, text: str) -> None:
    assert iso_duration(value) == text


def test_unique_keeps_the_first_of_each() -> None:
    assert unique(["b", "a", "b", "c", "a"]) == ("b", "a", "c")


NUMBERS = [
    *(math.nan, math.inf, -math.inf, 0, 0.0, -0.0, 1, 79, 80, 99.9, 100),
    *(10**400, -(10**400), sys.float_info.max, sys.float_info.min, 5e-324, 2**53, 2.0**53, 2**53 + 1),
]
WORDS = ["", "a", "b", "c", "*"]
LISTS = [(), *((word,) for word in WORDS), ("a", "b"), ("b", "a"), ("a", "a"), ("a", "b", "c")]
ABSENT = object()
ODD: dict[str, list[Any]] = {
    "≥": NUMBERS,
    "≤": NUMBERS,
    "ladder": list(ContractEnforcement),
    "false<true": [False, True],
    "require-set": LISTS,
    "extend": LISTS,
    "subset": LISTS,
    "all-of": [(), *((group,) for group in LISTS), (("a",), ("b",)), (("b",), ("a",))],
    "equal": [*Pattern, *NUMBERS],
}


def is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def test_no_odd_value_weakens_anything_in_a_hundred_thousand_pairs() -> None:
    ordered = {strategy.name: (path, strategy) for path, strategy in strategies().items() if strategy.ordered}
    assert ordered.keys() == ODD.keys()
    drawn = random.Random(4)  # noqa: S311 - reproducible draws, not secrets
    for _ in range(PAIRS):
        name, values = drawn.choice(list(ODD.items()))
        check_pair(*ordered[name], drawn.choice([ABSENT, *values]), drawn.choice([ABSENT, *values]))


def check_pair(path: SettingPath, strategy: Strategy, parent: Any, child: Any) -> None:
    said = [settings_of({} if value is ABSENT else {path: value}) for value in (parent, child)]
    merged, findings = merge_tiers((tier(item) for item in said), defaults=False)
    case = (strategy.name, parent, child)
    if ABSENT in (parent, child):
        assert not findings, case
        stated = [value for value in (parent, child) if value is not ABSENT]
        assert [leaf.value for leaf in merged.leaves.values()] == stated or is_nan(stated[0]), case
        return
    value = merged.get(path)
    if [item for item in findings if item.blocks]:
        assert value is parent, case
        assert not as_strict(strategy, child, parent), case
        return
    assert not is_nan(parent), case
    assert not is_nan(child), case
    assert as_strict(strategy, value, parent), case
    assert as_strict(strategy, value, child), case
    assert strategy.name in GROWING or as_strict(strategy, child, parent), case
