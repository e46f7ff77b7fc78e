"""The specification's `Policy`: one guardrail of one tier, compared by the same algebra as whole manifests."""

from __future__ import annotations

import math
from dataclasses import dataclass

from floe_core.order import AtLeast, Climb, Ladder, Strategy
from floe_core.schemas.levels import ClassificationLevel, ContractEnforcement, SqlLinting


@dataclass(frozen=True, slots=True)
class PolicyType:
    """Which attribute of a policy carries its strictness, what it may hold, and how it compares."""

    attribute: str
    holds: type
    strategy: Strategy


TYPES: dict[str, PolicyType] = {
    "classification": PolicyType("level", ClassificationLevel, Climb()),
    "quality_gate": PolicyType("threshold", float, AtLeast()),
    "test_coverage": PolicyType("minimum_pct", float, AtLeast()),
    "sql_linting": PolicyType("enforcement", SqlLinting, Climb()),
    "contract_enforcement": PolicyType("enforcement", ContractEnforcement, Climb()),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One guardrail: its type and the one attribute that type has."""

    type: str
    level: ClassificationLevel | None = None
    threshold: float | None = None
    minimum_pct: float | None = None
    enforcement: Ladder | None = None

    @property
    def strictness(self) -> float | Ladder:
        """The value that is compared; a missing, misplaced or non-finite one is an error, never a pass."""
        kind = _type(self.type)
        value: object = getattr(self, kind.attribute)
        if kind.holds is float:
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"{self.type} needs a number as {kind.attribute}, not {value!r}")
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{self.type} needs a finite {kind.attribute}, not {value!r}")
            return value
        if isinstance(value, kind.holds) and isinstance(value, Ladder):
            return value
        raise TypeError(f"{self.type} needs {kind.attribute} to be a {kind.holds.__name__}, not {value!r}")


def validate_policy_inheritance(parent_policy: Policy, child_policy: Policy) -> bool:
    """Whether the child is as strict as its parent, or stricter."""
    kind = _type(parent_policy.type)
    if parent_policy.type != child_policy.type:
        raise ValueError(f"cannot compare {child_policy.type} with {parent_policy.type}")
    return kind.strategy.holds(child_policy.strictness, parent_policy.strictness)


def _type(name: str) -> PolicyType:
    if name not in TYPES:
        raise ValueError(f"Unknown policy type: {name}")
    return TYPES[name]
