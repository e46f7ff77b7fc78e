"""A rule is a row: its codes, the check, what it is about, and where its severity comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from floe_core.defaults import GATES, LAYER_ORDER, NAMING
from floe_core.findings import Severity
from floe_core.merge import Merged
from floe_core.rules.context import Breach, Context, Model
from floe_core.schemas.levels import NamingEnforcement
from floe_core.settings import SettingPath

BLOCK = (*GATES, "block_on_failure")

ModelCheck: TypeAlias = Callable[[Context, Model], Iterable[Breach]]
ProductCheck: TypeAlias = Callable[[Context], Iterable[Breach]]
SeverityOf: TypeAlias = Callable[[Merged], Severity | None]  # None: the rule is off


class Topic(Enum):
    """What a rule is about."""

    NAMING = "naming"
    QUALITY = "quality"
    CLASSIFICATION = "classification"
    SEMANTIC = "semantic"
    SQL = "sql"
    APPROVAL = "approval"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. A check of models sees one model at a time; a check of the product sees the whole."""

    codes: tuple[str, ...]
    topic: Topic
    severity: SeverityOf | None  # None: the check says it itself
    model: ModelCheck | None = None
    product: ProductCheck | None = None

    @property
    def step(self) -> int:
        """The step of compile that it belongs to."""
        return 3 if self.topic is Topic.NAMING else 4


def always(_: Merged) -> Severity:
    """Blocks whatever the guardrails say."""
    return Severity.ERROR


def gate(merged: Merged) -> Severity:
    """Blocks unless block_on_failure is false."""
    return Severity.ERROR if merged.get(BLOCK, True) else Severity.WARNING


def where_true(path: SettingPath) -> SeverityOf:
    """A gate like the others, off where the guardrails do not ask for it."""
    return lambda merged: gate(merged) if merged.get(path) else None


def naming(merged: Merged) -> Severity | None:
    return _RUNGS[merged.get(NAMING, NamingEnforcement.OFF)]


def unless_naming_is_off(merged: Merged) -> Severity | None:
    return Severity.ERROR if naming(merged) else None


def layer_order(merged: Merged) -> Severity | None:
    return _RUNGS[merged.get(LAYER_ORDER, NamingEnforcement.OFF)]


_RUNGS = {
    NamingEnforcement.OFF: None,
    NamingEnforcement.WARN: Severity.WARNING,
    NamingEnforcement.STRICT: Severity.ERROR,
}
