"""What is stricter than what: the one algebra behind merge, inheritance and change direction.

A strategy says two things about the values of one setting:

- `holds(child, parent)`: the child is at least as strict as the parent;
- `join(parent, child)`: the value in force when both have spoken.

A tier that says nothing takes no part: absence is the identity of every join.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, StrEnum
from typing import Any, ClassVar, Protocol


class Ladder(StrEnum):
    """Text values whose order of declaration is their order of strictness, weakest first."""

    @property
    def rank(self) -> int:
        return list(type(self)).index(self)

    def _above(self, other: object) -> int:
        if not isinstance(other, type(self)):  # never fall back to comparing as text
            raise TypeError(f"{self!r} and {other!r} are not on the same ladder")
        return self.rank - other.rank

    def __ge__(self, other: object) -> bool:
        return self._above(other) >= 0

    def __le__(self, other: object) -> bool:
        return self._above(other) <= 0

    def __gt__(self, other: object) -> bool:
        return self._above(other) > 0

    def __lt__(self, other: object) -> bool:
        return self._above(other) < 0


@dataclass(frozen=True)
class Strategy(ABC):
    """How the values of one setting combine along enterprise → domain → product."""

    name: ClassVar[str]
    rule: ClassVar[str]
    ordered: ClassVar[bool] = False
    code: ClassVar[str] = "FLOE-E160"

    @abstractmethod
    def holds(self, child: Any, parent: Any) -> bool:
        """Whether the child is at least as strict as the parent."""

    @abstractmethod
    def join(self, parent: Any, child: Any) -> Any:
        """The value in force once both have spoken and the child holds."""

    def demand(self, parent: Any) -> str:
        """What the parent's value asks of a child."""
        return show(parent)

    def complaint(self, child: Any, parent: Any) -> str:
        """How the child falls short."""
        return f"{show(child)} is weaker than {show(parent)}"

    def cure(self, child: Any, parent: Any) -> str:
        """What to do about it."""
        del child
        return f"use {self.demand(parent)}, or remove it to inherit {show(parent)}"


class AtLeast(Strategy):
    """Larger is stricter."""

    name = "≥"
    rule = "a child may raise it"
    ordered = True

    def holds(self, child: Any, parent: Any) -> bool:
        return bool(child >= parent)

    def join(self, parent: Any, child: Any) -> Any:
        return child if child > parent else parent

    def demand(self, parent: Any) -> str:
        return f"at least {show(parent)}"


class AtMost(Strategy):
    """Smaller is stricter."""

    name = "≤"
    rule = "a child may lower it"
    ordered = True

    def holds(self, child: Any, parent: Any) -> bool:
        return bool(child <= parent)

    def join(self, parent: Any, child: Any) -> Any:
        return child if child < parent else parent

    def demand(self, parent: Any) -> str:
        return f"at most {show(parent)}"


class Climb(AtLeast):
    """A rung on a ladder; higher is stricter."""

    name = "ladder"
    rule = "a child may climb it"

    def demand(self, parent: Any) -> str:
        stricter = [show(rung) for rung in type(parent) if rung > parent]
        return " or ".join([show(parent), *stricter])


class Switch(AtLeast):
    """Off or on; on is stricter."""

    name = "false<true"
    rule = "a child may switch it on"

    def demand(self, parent: Any) -> str:
        return show(parent)


class Require(Strategy):
    """A set of demands: every tier's are in force, so a child can only add."""

    name = "require-set"
    rule = "a child may add to it"
    ordered = True

    def holds(self, child: Any, parent: Any) -> bool:
        del child, parent
        return True

    def join(self, parent: Any, child: Any) -> Any:
        return unique((*parent, *child))


class Extend(Require):
    """A list that grows: the child's entries follow the parent's."""

    name = "extend"
    rule = "a child's entries are added"


class Subset(Strategy):
    """A set of permissions; fewer is stricter. No list at all permits everything, an empty one nothing."""

    name = "subset"
    rule = "a child may narrow it"
    ordered = True
    code = "FLOE-E161"

    def holds(self, child: Any, parent: Any) -> bool:
        return all(item in parent for item in child)

    def join(self, parent: Any, child: Any) -> Any:
        return tuple(item for item in child if item in parent)

    def demand(self, parent: Any) -> str:
        return f"only from {show(parent)}"

    def complaint(self, child: Any, parent: Any) -> str:
        extra = unique(item for item in child if item not in parent)
        return f"{show(extra)} is not approved by the parent"

    def cure(self, child: Any, parent: Any) -> str:
        extra = unique(item for item in child if item not in parent)
        return f"remove {show(extra)}; the parent approves {show(parent)}"


class AllOf(Strategy):
    """Groups of patterns: one of each group must match, and every tier adds its own group."""

    name = "all-of"
    rule = "every tier's must match"
    ordered = True

    def holds(self, child: Any, parent: Any) -> bool:
        del child, parent
        return True

    def join(self, parent: Any, child: Any) -> Any:
        return unique((*parent, *child))


class Equal(Strategy):
    """The same in every tier."""

    name = "equal"
    rule = "a child may only repeat it"
    ordered = True
    code = "FLOE-E162"

    def holds(self, child: Any, parent: Any) -> bool:
        return bool(child == parent)

    def join(self, parent: Any, child: Any) -> Any:
        del child
        return parent

    def complaint(self, child: Any, parent: Any) -> str:
        return f"{show(child)} differs from {show(parent)}"


class Covering(Protocol):
    """A value of a partial order."""

    def covers(self, other: Any) -> bool:
        """Whether this value demands at least what the other does."""


class Cover(Strategy):
    """A set from a partial order: whatever the parent names, the child must name it or something stricter."""

    name = "cover"
    rule = "a child may name something stricter, never less"
    ordered = True

    def holds(self, child: Any, parent: Any) -> bool:
        return all(any(mine.covers(theirs) for mine in child) for theirs in parent)

    def join(self, parent: Any, child: Any) -> Any:
        return unique((*parent, *child))

    def demand(self, parent: Any) -> str:
        return f"{show(parent)} or stronger"


class Override(Strategy):
    """The last one to speak decides."""

    name = "override"
    rule = "a child may replace it"

    def holds(self, child: Any, parent: Any) -> bool:
        del child, parent
        return True

    def join(self, parent: Any, child: Any) -> Any:
        del parent
        return child


class Own(Override):
    """A tier speaks only for itself; nothing is handed down."""

    name = "own"
    rule = "not inherited"


def unique(items: Iterable[Any]) -> tuple[Any, ...]:
    """The items without repetition, in order of first appearance."""
    return tuple(dict.fromkeys(items))


def show(value: Any) -> str:
    """A value as a person would write it."""
    match value:
        case bool():
            return str(value).lower()
        case Enum():
            return str(value.value)
        case float():
            return repr(value).removesuffix(".0")
        case timedelta():
            return iso_duration(value)
        case str():
            return value
        case Sequence():
            return f"[{', '.join(show(item) for item in value)}]"
        case _:
            return str(value)


def iso_duration(value: timedelta) -> str:
    """The ISO 8601 form, in the largest whole units below a week."""
    minutes, seconds = divmod(value.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days = f"{value.days}D" if value.days else ""
    clock = "".join(f"{amount}{unit}" for amount, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if amount)
    return f"P{days}T{clock}" if clock else f"P{days or 'T0S'}"
