"""How the classes of columns travel along the models of a project.

Omission inherits: a column that says nothing has the classes of the columns its values come from. A column that
speaks must cover them; where it does not, it is reported and keeps them all the same, so that nothing below it
looks harmless.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from floe_core.schemas.levels import ClassificationLevel, FieldClass
from floe_core.sql.facts import OutputColumn, SqlFacts

LEVELS = {
    FieldClass.CONFIDENTIAL: ClassificationLevel.CONFIDENTIAL,
    FieldClass.PII: ClassificationLevel.CONFIDENTIAL,
    FieldClass.PHI: ClassificationLevel.CONFIDENTIAL,
    FieldClass.SENSITIVE: ClassificationLevel.CONFIDENTIAL,
    FieldClass.RESTRICTED: ClassificationLevel.RESTRICTED,
}
Classes = tuple[FieldClass, ...]
Step = tuple[str, str]  # a node's id and one of its columns


@dataclass(frozen=True, slots=True)
class Classified:
    """A model, seed, snapshot or source with the classes that are written at its columns, names in lower case.

    `relations` are the names under which SQL reads it; `default` is for columns that say nothing themselves;
    `given` are classes that somebody else, an output port, gives to its columns. Without `facts` it is a table that
    others write: a seed or a source. What is not `judged`, a source or a model of a package, is only followed.
    """

    id: str
    name: str
    relations: Sequence[str]
    columns: Mapping[str, Classes] = field(default_factory=dict)
    default: Classes = ()
    reads: Sequence[str] = ()
    facts: SqlFacts | None = None
    given: Mapping[str, Classes] = field(default_factory=dict)
    judged: bool = True

    def written(self, column: str) -> Classes:
        return self.columns.get(column) or self.default

    @property
    def names(self) -> tuple[str, ...]:
        """Every column that is declared or known from the SQL."""
        known = (self.facts.names if self.facts else None) or ()
        return tuple(dict.fromkeys((*self.columns, *self.given, *known)))


@dataclass(frozen=True, slots=True)
class Loss:
    """A column that says less than what reaches it."""

    node: str
    column: str
    written: Classes
    missing: Classes


@dataclass
class Travel:
    """Where every class has come: the result of one walk over a project."""

    nodes: dict[str, Classified] = field(default_factory=dict)
    reached: dict[str, dict[str, dict[FieldClass, Step | None]]] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    lost: dict[str, list[str]] = field(default_factory=dict)  # where classes get out of sight, and their inputs

    def classes(self, node: str, column: str) -> Classes:
        """The classes in force for a column, written or inherited, without those that a stronger one implies."""
        reached = self._carried(node, column)
        return tuple(sorted((one for one in reached if not _implied(one, reached)), key=lambda one: one.value))

    def of(self, node: str) -> Travel:
        """The same, with only what was lost at one node."""
        lost = {node: self.lost[node]} if node in self.lost else {}
        return Travel(self.nodes, self.reached, self._losses_by_node.get(node, []), lost)

    def has_losses(self, node: str) -> bool:
        """Whether some class was lost at a node, or got out of sight there."""
        return node in self._losses_by_node or node in self.lost

    @cached_property
    def _losses_by_node(self) -> dict[str, list[Loss]]:
        found: dict[str, list[Loss]] = {}
        for loss in self.losses:
            found.setdefault(loss.node, []).append(loss)
        return found

    def path(self, node: str, column: str, wanted: FieldClass) -> list[Step]:
        """The columns that a class has come through, from where it is written to this one."""
        steps: list[Step] = [(node, column)]
        while (before := self._carried(*steps[-1]).get(wanted)) and before not in steps:
            steps.append(before)
        return steps[::-1]

    def level(self, node: str, extra: Iterable[FieldClass] = ()) -> ClassificationLevel | None:
        """The lowest level that a port on this node may have."""
        found = [one for reached in self.reached.get(node, {}).values() for one in reached]
        return max((LEVELS[one] for one in (*found, *extra) if one in LEVELS), default=None)

    def is_classified(self, node: str) -> bool:
        """Whether some column is, or may be, more than public."""
        public = FieldClass.PUBLIC
        reached = self.reached.get(node, {}).values()
        return node in self.lost or any(one is not public for classes in reached for one in classes)

    def _carried(self, node: str, column: str) -> dict[FieldClass, Step | None]:
        found = self.reached.get(node, {}).get(column)
        if found is None and node in self.nodes:
            found = dict.fromkeys(self.nodes[node].default)
        return found or {}


def travel(nodes: Iterable[Classified]) -> Travel:
    """Follow classes from node to node; nodes come after what they read."""
    result = Travel()
    for node in nodes:
        result.reached[node.id] = _stated(node)
        result.nodes[node.id] = node
        if node.facts is None:
            continue
        if inputs := [name for name in sorted(set(node.reads)) if _hides(result, node.facts, name)]:
            result.lost[node.id] = inputs
        readable = {
            name: item for item in node.reads if item in result.nodes for name in result.nodes[item].relations
        }
        for column in node.facts.columns or ():
            _arrive(result, node, column, readable)
    return result


def _stated(node: Classified) -> dict[str, dict[FieldClass, Step | None]]:
    """The classes of each column that somebody has written."""
    if not (node.default or node.given or any(node.columns.values())):  # nearly all
        return {name: {} for name in node.names}
    return {name: dict.fromkeys((*node.written(name), *node.given.get(name, ()))) for name in node.names}


def _hides(result: Travel, facts: SqlFacts, name: str) -> bool:
    """Whether classes of an input get out of sight here: nobody can follow this node, or could follow the input.

    An input that is judged has said so itself.
    """
    if facts.columns is None:
        return result.is_classified(name)
    return name in result.lost and not result.nodes[name].judged


def _arrive(result: Travel, node: Classified, column: OutputColumn, readable: Mapping[str, str]) -> None:
    arriving: dict[FieldClass, Step] = {}
    for origin in column.origins:
        source = readable.get(origin.relation)
        if source and source != node.id:
            for one in result._carried(source, origin.column):
                arriving.setdefault(one, (source, origin.column))
    written = node.written(column.name)
    missing = uncovered(written, arriving) if written else ()
    if missing:
        result.losses.append(Loss(node.id, column.name, written, missing))
    reached = result.reached[node.id].setdefault(column.name, {})
    for one, step in arriving.items():
        reached.setdefault(one, step)


def uncovered(written: Iterable[FieldClass], arriving: Iterable[FieldClass]) -> Classes:
    """The classes that no written one covers."""
    mine = tuple(written)
    return tuple(one for one in arriving if not any(other.covers(one) for other in mine))


def _implied(one: FieldClass, among: Iterable[FieldClass]) -> bool:
    return any(other.rank > one.rank for other in among)
