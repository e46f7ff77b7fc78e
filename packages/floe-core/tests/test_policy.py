"""`Policy`: one guardrail, compared by the algebra; a value that cannot be compared is never a pass."""

from __future__ import annotations

import math
from typing import Any

import pytest

from floe_core import ClassificationLevel, ContractEnforcement, Policy, SqlLinting, validate_policy_inheritance
from floe_core.policy import TYPES


@pytest.mark.parametrize("kind", ["quality_gate", "test_coverage"])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_refused_on_either_side(kind: str, odd: float) -> None:
    attribute = TYPES[kind].attribute
    fine, strange = Policy(type=kind, **{attribute: 80}), Policy(type=kind, **{attribute: odd})  # type: ignore[arg-type]
    for pair in ((fine, strange), (strange, fine), (strange, strange)):
        with pytest.raises(ValueError, match=f"{kind} needs a finite {attribute}"):
            validate_policy_inheritance(*pair)


@pytest.mark.parametrize(
    ("parent", "child", "valid"), [(0, -0.0, True), (-0.0, 0, True), (80, 10**400, True), (10**400, 80, False)]
)
def test_odd_but_finite_numbers_compare(parent: float, child: float, valid: bool) -> None:
    pair = (Policy(type="quality_gate", threshold=value) for value in (parent, child))
    assert validate_policy_inheritance(*pair) is valid


@pytest.mark.parametrize(
    ("policy", "needs"),
    [
        (Policy(type="quality_gate"), "quality_gate needs a number as threshold, not None"),
        (Policy(type="quality_gate", minimum_pct=80), "quality_gate needs a number as threshold, not None"),
        (Policy(type="test_coverage", minimum_pct=True), "test_coverage needs a number as minimum_pct, not True"),
        (Policy(type="classification"), "classification needs level to be a ClassificationLevel, not None"),
        (
            Policy(type="sql_linting", enforcement=ContractEnforcement.WARN),
            "sql_linting needs enforcement to be a SqlLinting, not <ContractEnforcement.WARN: 'warn'>",
        ),
    ],
)
def test_a_missing_or_misplaced_value_is_an_error(policy: Policy, needs: str) -> None:
    with pytest.raises(TypeError) as caught:
        validate_policy_inheritance(policy, policy)
    assert str(caught.value) == needs


def test_a_level_written_as_text_is_refused() -> None:
    text: Any = "RESTRICTED"
    parent = Policy(type="classification", level=ClassificationLevel.PUBLIC)
    with pytest.raises(TypeError, match="needs level to be a ClassificationLevel, not 'RESTRICTED'"):
        validate_policy_inheritance(parent, Policy(type="classification", level=text))


def test_policies_of_two_types_are_not_compared() -> None:
    parent, child = Policy(type="quality_gate", threshold=1), Policy(type="test_coverage", minimum_pct=2)
    with pytest.raises(ValueError, match="cannot compare test_coverage with quality_gate"):
        validate_policy_inheritance(parent, child)


def test_an_unknown_type_of_the_parent_is_named_whatever_the_child_is() -> None:
    parent, child = Policy(type="retention"), Policy(type="sql_linting", enforcement=SqlLinting.ERROR)
    with pytest.raises(ValueError, match=r"^Unknown policy type: retention$"):
        validate_policy_inheritance(parent, child)
