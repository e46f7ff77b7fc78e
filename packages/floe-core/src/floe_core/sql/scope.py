"""What names mean inside one SELECT, and what flows into a column.

A name that could mean two things without telling which raises `NotFollowedError`: an answer is complete or none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from floe_core.sql.facts import Origin


class NotFollowedError(ValueError):
    """The origins cannot be told from the SQL and what is known about its inputs."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What reaches a column: by value, or only by being counted."""

    values: frozenset[Origin] = frozenset()
    counted: frozenset[Origin] = frozenset()

    def __or__(self, other: Flow) -> Flow:
        return Flow(self.values | other.values, self.counted | other.counted)


NOTHING = Flow()


def union(flows: Iterable[Flow]) -> Flow:
    total = NOTHING
    for flow in flows:
        total |= flow
    return total


@dataclass(frozen=True, slots=True)
class Tail:
    """Columns that are not listed: those of a relation, under their own names, or those that a function makes.

    Of a relation with known columns there should be none, so its tail matters only when a name is found nowhere
    else: it lacks in the list. A tail that is not known may hold any column.
    """

    relation: str = ""
    flow: Flow = NOTHING
    known: bool = False
    hidden: frozenset[str] = frozenset()

    def carry(self, name: str) -> Flow:
        return Flow(frozenset({Origin(self.relation, name)})) if self.relation else self.flow


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a query or an input, in order, and what there may be besides."""

    listed: tuple[tuple[str, Flow], ...] = ()
    tails: tuple[Tail, ...] = ()

    def find(self, name: str) -> Flow | None:
        found = [flow for column, flow in self.listed if column == name]
        return union(found) if found else None

    def guesses(self, name: str, known: bool) -> set[Flow]:
        """What a column that is not listed may carry."""
        return {tail.carry(name) for tail in self.tails if tail.known is known and name not in tail.hidden}

    @property
    def unknown(self) -> bool:
        return not all(tail.known for tail in self.tails)

    def closed(self) -> tuple[tuple[str, Flow], ...]:
        """All columns, when all are known."""
        for tail in self.tails:
            if not tail.known:
                name = tail.relation or "a function"
                raise NotFollowedError(f"the columns of {name} are not known, and * reads them")
        return self.listed

    def without(self, names: Iterable[str]) -> Columns:
        hidden = frozenset(names)
        kept = tuple((name, flow) for name, flow in self.listed if name not in hidden)
        return Columns(kept, tuple(replace(tail, hidden=tail.hidden | hidden) for tail in self.tails))

    def __add__(self, other: Columns) -> Columns:
        return Columns(self.listed + other.listed, self.tails + other.tails)


@dataclass(frozen=True, slots=True)
class Source:
    """Something in FROM: the names that may stand before its columns, and the columns."""

    names: tuple[tuple[str, ...], ...]
    columns: Columns

    @property
    def label(self) -> str:
        return ".".join(self.names[0]) if self.names else "a subquery"


@dataclass(slots=True)
class Scope:
    """What the expressions of one SELECT can refer to."""

    outer: Scope | None = None
    sources: list[Source] = field(default_factory=list)
    shared: dict[str, Flow] = field(default_factory=dict)  # columns joined with USING
    aliases: dict[str, Flow] = field(default_factory=dict)
    windows: dict[str, exp.Expr] = field(default_factory=dict)

    def named(self, qualifier: tuple[str, ...]) -> list[Source]:
        return [source for source in self.sources if qualifier in source.names]

    def star(self) -> Columns:
        """All columns in sight, those of USING first and once, as Spark has them."""
        columns = Columns(tuple(self.shared.items()))
        for source in self.sources:
            columns += source.columns.without(self.shared)
        return columns

    def reference(self, names: tuple[str, ...]) -> Flow:
        """A dotted name: the longest qualifier that fits wins, what follows the column are fields of it."""
        guesses: set[Flow] = set()
        for end in range(len(names) - 1, 0, -1):
            for source in self.named(names[:end]):
                if found := source.columns.find(names[end]):
                    return found
                guesses |= source.columns.guesses(names[end], False) or source.columns.guesses(names[end], True)
        if guesses:
            return _only(guesses, ".".join(names))
        if len(names) > 1 and self.outer and not self._has(names[0]):
            return self.outer.reference(names)
        return self.lookup(names[0])

    def lookup(self, name: str) -> Flow:
        """A name without qualifier: an input's column, an alias of this SELECT, or a column of the query around."""
        if name in self.shared:
            return self.shared[name]
        if found := self._listed(name):
            return found
        elsewhere = self.aliases.get(name) or (self.outer.known(name) if self.outer else None)
        unknown = self._guesses(name, known=False)
        if unknown:
            return _only(unknown, name) | (elsewhere or NOTHING)
        if elsewhere is not None:
            return elsewhere
        unlisted = self._guesses(name, known=True)
        if len(unlisted) == 1:
            return unlisted.pop()
        if self.outer and not unlisted:
            return self.outer.lookup(name)
        raise NotFollowedError(f"no input is known to have a column {name}")

    def known(self, name: str) -> Flow | None:
        """What a name surely means here or in the queries around."""
        return self.shared.get(name) or self._listed(name) or (self.outer.known(name) if self.outer else None)

    def _listed(self, name: str) -> Flow | None:
        found = [flow for source in self.sources if (flow := source.columns.find(name)) is not None]
        return union(found) if found else None

    def _guesses(self, name: str, known: bool) -> set[Flow]:
        return {flow for source in self.sources for flow in source.columns.guesses(name, known)}

    def _has(self, name: str) -> bool:
        known = name in self.aliases or name in self.shared or self._listed(name) is not None
        return known or any(source.columns.unknown for source in self.sources)


def _only(flows: set[Flow], name: str) -> Flow:
    if len(flows) == 1:
        return next(iter(flows))
    inputs = sorted({origin.relation for flow in flows for origin in flow.values})
    raise NotFollowedError(f"{name} may be a column of {' or '.join(inputs)}, whose columns are not known")
