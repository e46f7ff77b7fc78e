"""Twice the models are twice the work, counted in calls and not in seconds."""

from __future__ import annotations

import sys
from types import FrameType

from rule_context import context, dbt_test, model

from floe_core.project import Column, Config, DependsOn, RawNode
from floe_core.rules import Context, enforce

TIER = {
    "data_architecture": {"pattern": "medallion", "naming": {"enforcement": "strict"}},
    "governance": {
        "quality_gates": {"require_descriptions": True, "require_column_descriptions": True},
        "classification": {"coverage": {"pii": 100}},
        "custom_rules": [{"type": "require_meta_field", "field": "owner"}],
        "policy_overrides": [
            {"pattern": f"gold_{number}*", "code": "FLOE-E402", "action": "exclude", "reason": "x"}
            for number in range(3)
        ],
    },
}


def project(count: int, name: str = "gold_{}") -> Context:
    """A chain of models, each with columns and tests, some with findings."""
    nodes: list[RawNode] = []
    for number in range(count):
        node = model(
            name.format(number),
            columns={column: Column(column, "Text.") for column in ("id", "amount")},
            config=Config(meta={"floe": {"primary_key": ["id"]}}),
            depends_on=DependsOn([f"model.shop.{name.format(number - 1)}"] if number else []),
        )
        nodes += (node, dbt_test(node, "not_null", "id"), dbt_test(node, "unique", "id"))
    return context(TIER, nodes=tuple(nodes))


def calls(given: Context) -> int:
    count = 0

    def watch(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        enforce(given)
    finally:
        sys.setprofile(before)
    return count


def test_calls_grow_with_the_number_of_models_and_not_faster() -> None:
    enforce(project(3))  # fills the caches of patterns
    small, large = calls(project(100)), calls(project(400))
    assert large < 4.2 * small


def test_a_finding_names_each_model_once() -> None:
    done = enforce(project(50))
    described = [item for item in done.findings if item.code == "FLOE-E230"]
    assert len({item.message for item in described}) == len(described) == 50
