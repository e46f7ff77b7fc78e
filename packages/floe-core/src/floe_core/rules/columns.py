"""Columns across the models of a product: what their SQL says, and how classes travel along them; on first use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from floe_core.classes import Classes, Classified, Travel, travel
from floe_core.personal import looks_personal
from floe_core.project import Column, Project, RawNode, RawSource
from floe_core.schemas.data_product import OutputPort
from floe_core.schemas.levels import FieldClass
from floe_core.sql.cache import FactsCache
from floe_core.sql.facts import SqlFacts, column_key, relation_key
from floe_core.sql.lineage import derive, from_manifest, relations

if TYPE_CHECKING:
    from floe_core.contract import Table

T = TypeVar("T")
CLASSES = {item.value: item for item in FieldClass}
_WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAMES = re.compile(rf"`[^`\n]+`|{_WORDS.pattern}")


def column_floe(column: Column) -> Mapping[str, Any]:
    """`meta.floe` of a column."""
    if not (column.meta or column.config.meta):  # nearly all
        return {}
    found = {**column.meta, **column.config.meta}.get("floe")
    return found if isinstance(found, dict) else {}


def class_words(value: object) -> list[str]:
    """One class or several, as they were written, in lower case."""
    if value is None:
        return ["null"]
    return [str(item).casefold()[:60] for item in (value if isinstance(value, list) else [value])]


def classes_of(column: Column) -> Classes:
    """The classes of a column that floe knows."""
    return known_classes(column_floe(column)) if column.meta or column.config.meta else ()


def known_classes(floe: object) -> Classes:
    """The classes that a `meta.floe` names, as far as floe knows them."""
    written = floe.get("classification") if isinstance(floe, dict) else None
    return () if written is None else tuple(CLASSES[word] for word in class_words(written) if word in CLASSES)


@dataclass(frozen=True)
class Columns:
    """The columns of some dbt projects. Nothing is read before somebody asks."""

    projects: tuple[Project, ...] = ()
    ports: Mapping[str, Sequence[OutputPort]] = field(default_factory=dict)  # by the name of the model
    promised: Mapping[str, Sequence[Table]] = field(default_factory=dict)  # of contracts, by the same name
    cache: FactsCache = field(default_factory=FactsCache)

    def facts(self, node: RawNode) -> SqlFacts | None:
        """What the SQL of a model says; None for a table that has none."""
        return self._facts.get(node.unique_id)

    @cached_property
    def travel(self) -> Travel:
        """Where every class has come. SQL is read only if there is a class to follow, or a name to look at."""
        if not (self._speak_of_classes() or self._mention_people()):  # most projects
            return Travel()
        nodes = (self._classified(item, project) for project in self.projects for item in _items(project))
        return travel(replace(node, facts=self._facts.get(node.id)) for node in nodes)

    @cached_property
    def _facts(self) -> dict[str, SqlFacts]:
        found: dict[str, SqlFacts] = {}
        for project in self.projects:
            found |= derive(from_manifest(project.manifest.sources.values(), project.order), self.cache)
        self.cache.save()
        return found

    def _classified(self, item: RawNode | RawSource, project: Project) -> Classified:
        """A node with what its YAML, its ports and its contracts say about its columns."""
        relation = relation_key(item.relation_name or "")
        written = {column_key(column.name): classes_of(column) for column in item.columns.values()}
        if isinstance(item, RawSource):
            default = known_classes(item.meta.get("floe"))
            return Classified(item.unique_id, item.name, (relation,), written, default, judged=False)
        names = relations(item.alias or item.name, relation)
        judged = item.package_name == project.name
        given = self._given(item.name) if judged else {}
        reads = item.depends_on.nodes
        default = known_classes(item.all_meta.get("floe"))
        return Classified(
            item.unique_id, item.name, names, written, default, reads=reads, given=given, judged=judged
        )

    def _given(self, model: str) -> dict[str, Classes]:
        given: dict[str, Classes] = {}
        for port in self.ports.get(model, ()):
            for column in port.columns or ():
                name = relation_key(column.name)
                given[name] = (*given.get(name, ()), *(column.classification or ()))
        for table in self.promised.get(model, ()):
            for promised in table.columns:
                name = relation_key(promised.in_table)
                given[name] = (*given.get(name, ()), *promised.classes)
        return given

    def _speak_of_classes(self) -> bool:
        """Whether somebody has written a class anywhere."""
        items = (item for project in self.projects for item in _items(project))
        return (
            any(column.classification for port in _each(self.ports) for column in port.columns or ())
            or any(column.classes for table in _each(self.promised) for column in table.columns)
            or any(
                known_classes(_meta(item).get("floe")) or any(map(classes_of, item.columns.values()))
                for item in items
            )
        )

    def _mention_people(self) -> bool:
        """Whether there is a word in YAML or SQL that is the name of a personal column."""
        items = (item for project in self.projects for item in _items(project))
        names = {column.name for item in items for column in item.columns.values()}
        names |= {column.name for port in _each(self.ports) for column in port.columns or ()}
        names |= {column.in_table for table in _each(self.promised) for column in table.columns}
        if any(looks_personal(column_key(name)) for name in names):
            return True
        seen: set[str] = set()
        for node in (node for project in self.projects for node in project.order):
            sql = node.compiled_code or node.raw_code
            words = set((_NAMES if "`" in sql else _WORDS).findall(sql)) - seen
            if any(map(looks_personal, words)):
                return True
            seen |= words
        return False


def _each(found: Mapping[str, Sequence[T]]) -> Iterator[T]:
    return chain.from_iterable(found.values())


def _meta(item: RawNode | RawSource) -> Mapping[str, Any]:
    return item.meta if isinstance(item, RawSource) else item.all_meta


def _items(project: Project) -> Iterator[RawNode | RawSource]:
    yield from project.manifest.sources.values()
    yield from project.order
