"""What rules are given: the product, its guardrails, and the dbt project model by model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from floe_core.defaults import PATTERN
from floe_core.findings import Finding
from floe_core.load import Loaded
from floe_core.merge import Leaf, Merged, Statement
from floe_core.naming import LAYERS, layer_of
from floe_core.places import Places
from floe_core.project import Column, Project, RawNode
from floe_core.resolve import Chain
from floe_core.rules.columns import Columns, column_floe
from floe_core.schemas.data_product import DataProduct, OutputPort
from floe_core.schemas.manifest import Pattern
from floe_core.schemas.values import Block
from floe_core.settings import SettingPath
from floe_core.sql.cache import FactsCache
from floe_core.sql.facts import SqlFacts

if TYPE_CHECKING:
    from floe_core.contract import Contract, Table

CUSTOM = ("governance", "custom_rules")


@dataclass(frozen=True, slots=True)
class Breach:
    """A finding, and the tiers whose demand it breaks: only they may make an exception."""

    finding: Finding
    owners: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Promise:
    """A table of a contract."""

    contract: Contract
    table: Table


@dataclass(frozen=True)
class Model:
    """One model, seed or snapshot with all that is said about it."""

    node: RawNode
    project: Project
    layer: str | None
    ports: Sequence[OutputPort]
    read: Callable[[RawNode], SqlFacts | None] = lambda _: None
    promises: Sequence[Promise] = ()  # what contracts say about its table

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def tests(self) -> Sequence[RawNode]:
        return self.project.tests.get(self.node.unique_id, ())

    @property
    def places(self) -> Places:
        return self.project.places

    @cached_property
    def floe(self) -> Mapping[str, Any]:
        """`meta.floe` of the model."""
        return _mapping(self.node.all_meta.get("floe"))

    @cached_property
    def declared(self) -> dict[str, Column]:
        """The columns of the YAML, by their folded name."""
        return {fold(column.name): column for column in self.node.columns.values()}

    @cached_property
    def speaking(self) -> dict[str, tuple[Column, Mapping[str, Any]]]:
        """The declared columns with a `meta.floe`, which few have, by their folded name."""
        return {name: (column, floe) for name, column in self.declared.items() if (floe := column_floe(column))}

    @cached_property
    def facts(self) -> SqlFacts | None:
        """What the SQL says; None where there is none to read."""
        return self.read(self.node)

    @property
    def inferred(self) -> Sequence[str] | None:
        """The columns of the SQL; None where nobody could follow it."""
        return self.facts.names if self.facts else None

    @cached_property
    def columns(self) -> dict[str, str]:
        """Every column, declared or inferred: folded name to name."""
        names = (*(column.name for column in self.declared.values()), *(self.inferred or ()))
        return {fold(name): name for name in reversed(names)}

    @cached_property
    def tests_of_column(self) -> dict[str, set[str]]:
        """The names of the tests on each column, by its folded name."""
        found: dict[str, set[str]] = {}
        for test in self.tests:
            if column := tested_column(test):
                found.setdefault(fold(column), set()).add(test.test_name)
        return found

    @cached_property
    def tested(self) -> Sequence[str]:
        return [folded for folded in self.columns if folded in self.tests_of_column]

    @property
    def coverage(self) -> float:
        """The share of columns with a test, in percent; a model without columns has none."""
        return 100 * len(self.tested) / len(self.columns) if self.columns else 0.0


@dataclass(frozen=True)
class Context:
    """Everything that is known when rules run.

    Without projects, because there are none or dbt could not parse one, what concerns the product itself is judged.
    """

    product: Loaded[DataProduct]
    chain: Chain
    merged: Merged
    projects: tuple[Project, ...] = ()
    contracts: tuple[Contract, ...] = ()
    today: date = field(default_factory=date.today)
    cache: FactsCache = field(default_factory=FactsCache)

    @cached_property
    def pattern(self) -> Pattern | None:
        found: Pattern | None = self.merged.get(PATTERN)
        return found

    @cached_property
    def layers(self) -> tuple[str, ...]:
        """Every layer that the guardrails know by name."""
        named = (path[2] for path in self.merged.leaves if path[:2] == ("data_architecture", "layers"))
        return tuple(dict.fromkeys((*(LAYERS[self.pattern] if self.pattern else ()), *named)))

    @cached_property
    def custom_rules(self) -> Sequence[tuple[Block, Statement]]:
        """Every rule of a platform's own, with the first tier that states it."""
        leaf = self.leaf(CUSTOM)
        if leaf is None:
            return ()
        return [(rule, next(said for said in leaf.statements if rule in said.value)) for rule in leaf.value]

    @cached_property
    def _ports(self) -> dict[str, list[OutputPort]]:
        found: dict[str, list[OutputPort]] = {}
        for port in self.product.document.output_ports:
            found.setdefault(port.table or port.name, []).append(port)
        return found

    @cached_property
    def columns(self) -> Columns:
        """Facts and classes of all columns, derived when a rule asks for them."""
        promised = {name: [promise.table for promise in found] for name, found in self._promises.items()}
        return Columns(self.projects, self._ports, promised, self.cache)

    @cached_property
    def _promises(self) -> dict[str, list[Promise]]:
        """What contracts say, by the names of the tables they are about."""
        found: dict[str, list[Promise]] = {}
        for contract in self.contracts:
            for table in contract.tables:
                for name in {table.name, table.in_catalog}:
                    found.setdefault(name, []).append(Promise(contract, table))
        return found

    def models(self) -> Iterator[Model]:
        """The models, seeds and snapshots of the product, one at a time."""
        for project in self.projects:
            yield from (self.model(node, project) for node in project.nodes)

    def model(self, node: RawNode, project: Project) -> Model:
        promises = self._promises.get(node.name) or self._promises.get(node.alias) or ()
        return Model(node, project, self.layer_of(node), self.ports(node), self.columns.facts, promises)

    def ports(self, node: RawNode) -> Sequence[OutputPort]:
        """The output ports that offer a node's table."""
        return self._ports.get(node.name, ())

    def layer_of(self, node: RawNode) -> str | None:
        found = layer_of(node.name, self.pattern)
        if found or not (node.meta or node.config.meta):  # nearly all
            return found
        written = _mapping(node.all_meta.get("floe")).get("layer")
        return written if isinstance(written, str) else None

    def leaf(self, path: SettingPath) -> Leaf | None:
        return self.merged.leaves.get(path)


def setters(leaf: Leaf | None) -> frozenset[str]:
    """The tiers that a setting's value comes from."""
    return frozenset(said.tier for said in leaf.setters) if leaf else frozenset()


def tested_column(test: RawNode) -> str | None:
    """The column that a test is about, if it is about one."""
    named = test.column_name or (test.test_metadata.kwargs.get("column_name") if test.test_metadata else None)
    return named if isinstance(named, str) else None


@lru_cache(maxsize=10_000)
def fold(name: str) -> str:
    """A column's name as SQL compares it: without quotes, in one case."""
    return name.strip().strip('`"[]').casefold()


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
