"""Which tables and columns a node's data comes from, and what its table is like: for whoever observes a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from floe_core.artifacts import CompiledArtifacts, CompiledModel
from floe_core.catalog import CatalogPlugin
from floe_core.contract import Contract
from floe_core.env import Spec
from floe_core.project import Project, RawNode, RawSource
from floe_core.rules.context import Context
from floe_core.rules.judge import facts_file
from floe_core.sql.cache import FactsCache
from floe_core.sql.facts import Origin, relation_key
from floe_core.table import Column
from floe_telemetry import events


@dataclass(frozen=True)
class Lineage:
    """Everything about the product's datasets, derived from its dbt projects when somebody asks."""

    spec: Spec
    artifacts: CompiledArtifacts
    catalog: CatalogPlugin
    projects: Sequence[Project]
    contracts: Sequence[Contract] = ()
    _producers: dict[str, str] = field(default_factory=dict, init=False)

    @cached_property
    def context(self) -> Context:
        """The same facts that the rules read; they are kept by content, so nothing is parsed twice."""
        spec, cache = self.spec, FactsCache(facts_file(self.spec))
        return Context(
            spec.chain.product, spec.chain, spec.merged, tuple(self.projects), tuple(self.contracts), cache=cache
        )

    @cached_property
    def nodes(self) -> Mapping[str, tuple[RawNode, Project]]:
        return {node.unique_id: (node, project) for project in self.projects for node in project.order}

    @cached_property
    def sources(self) -> Mapping[str, RawSource]:
        return {name: item for project in self.projects for name, item in project.manifest.sources.items()}

    @cached_property
    def models(self) -> Mapping[str, CompiledModel]:
        return {model.name: model for model in self.artifacts.models}

    @cached_property
    def _by_relation(self) -> Mapping[str, RawNode | RawSource]:
        nodes = [node for node, _ in self.nodes.values()]
        everything: list[RawNode | RawSource] = [*nodes, *self.sources.values()]
        return {relation_key(item.relation_name or ""): item for item in everything}

    def node(self, name: str, kind: str) -> events.Node:
        model = self.models.get(name)
        materialization = model.materialization if model else ""
        return events.Node(name, (model.layer if model else "") or "", materialization, kind)

    def inputs(self, unique_id: str) -> tuple[events.Dataset, ...]:
        """The datasets that a node reads; models that are no tables stand for what they read themselves."""
        return tuple(dict.fromkeys(self._inputs(unique_id, set())))

    def _inputs(self, unique_id: str, seen: set[str]) -> Iterator[events.Dataset]:
        node, _ = self.nodes.get(unique_id, (None, None))
        for parent in node.depends_on.nodes if node else ():
            if parent in seen:
                continue
            seen.add(parent)
            if source := self.sources.get(parent):
                yield self._external(source)
            elif known := self.nodes.get(parent):
                if known[0].config.materialized == "ephemeral":
                    yield from self._inputs(parent, seen)
                else:
                    yield self._own(known[0])

    def output(self, unique_id: str, columns: Iterable[Column]) -> events.Dataset | None:
        """The table of a node with its columns as they are now, and their classes."""
        node, _ = self.nodes.get(unique_id, (None, None))
        if node is None or node.config.materialized == "ephemeral":
            return None
        classes = (self.artifacts.classifications or {}).get(node.name, {})
        own = self._own(node)
        return events.Dataset(own.name, layer=own.layer, columns=tuple(_column(item, classes) for item in columns))

    def origins(self, unique_id: str) -> dict[str, tuple[events.Origin, ...]]:
        """For each column of a node those that it is made of; empty where the SQL could not be followed."""
        node, _ = self.nodes.get(unique_id, (None, None))
        facts = self.context.columns.facts(node) if node else None
        return {
            column.name: tuple(
                found
                for origins, direct in ((column.origins, True), (column.counted, False))
                for origin in origins
                if (found := self._origin(origin, direct))
            )
            for column in (facts.columns if facts else None) or ()
        }

    def coverage(self, unique_id: str) -> float | None:
        node, project = self.nodes.get(unique_id, (None, None))
        return round(self.context.model(node, project).coverage, 2) if node and project else None

    def tests(self, unique_id: str) -> int:
        """How many tests there are about a node."""
        node, project = self.nodes.get(unique_id, (None, None))
        return len(project.tests.get(unique_id, ())) if node and project else 0

    def dataset(self, table: str) -> events.Dataset:
        """One of the product's own tables by its name."""
        model = next((item for item in self.artifacts.models if item.table == table), None)
        return events.Dataset(table, layer=(model.layer if model else "") or "")

    def _own(self, node: RawNode) -> events.Dataset:
        model = self.models.get(node.name)
        table = model.table if model else node.alias or node.name
        return events.Dataset(table, layer=(model.layer if model else "") or "")

    def _external(self, source: RawSource) -> events.Dataset:
        """A table that others write: if a product does, under the name that it uses itself."""
        parts = relation_key(source.relation_name or source.name).split(".")
        return events.Dataset(parts[-1], namespace=self._producer(parts))

    def _producer(self, parts: Sequence[str]) -> str:
        if "producers" not in self._producers:
            self._producers["producers"] = ""
            for port in self.spec.product.input_ports:
                product = self.catalog.get_product(port.source.product) if port.source.product else None
                if product:
                    self._producers[".".join(product.namespace)] = f"{product.domain}.{product.name}"
        prefixes = (".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
        return next((self._producers[prefix] for prefix in prefixes if prefix in self._producers), "")

    def _origin(self, origin: Origin, direct: bool) -> events.Origin | None:
        item = self._by_relation.get(origin.relation)
        if item is None:
            return None
        found = self._external(item) if isinstance(item, RawSource) else self._own(item)
        return events.Origin(found.name, origin.column, found.namespace, direct)


def _column(column: Column, classes: Mapping[str, Sequence[str]]) -> events.Column:
    return events.Column(
        column.name,
        column.physical_type or str(column.type),
        column.description,
        tuple(classes.get(column.name.lower(), ())),
        fields=tuple(_column(item, {}) for item in column.fields),
    )
