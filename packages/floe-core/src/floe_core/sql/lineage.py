"""The facts of a whole project: each model read once, after the models it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from floe_core.project import RawNode, RawSource
from floe_core.sql.cache import FactsCache
from floe_core.sql.facts import EPHEMERAL, SqlFacts, relation_key

SNAPSHOT = ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to")
PYTHON = SqlFacts(not_followed="it is a python model")
UNCOMPILED = SqlFacts(not_followed="dbt could not compile it")


@dataclass(frozen=True, slots=True)
class Readable:
    """A model, seed, snapshot or source: what it is called, what it reads, and its compiled SQL if it has any.

    `name` is dbt's identifier, the alias if there is one; `relation` is as `relation_key` writes it. Seeds and
    sources have no SQL: their declared columns are their columns, and none declared means unknown.
    """

    id: str
    name: str
    relation: str
    columns: Sequence[str] = ()
    reads: Sequence[str] = ()
    sql: str | None = None
    language: str = "sql"
    is_table: bool = False  # a seed or a source: there is no SQL to read
    added: Sequence[str] = ()  # columns that dbt adds to those of the SQL: SNAPSHOT for a snapshot


def from_manifest(sources: Iterable[RawSource], nodes: Iterable[RawNode]) -> Iterator[Readable]:
    """The sources of a manifest, then its nodes in the order given: each after what it reads."""
    for source in sources:
        relation = relation_key(source.relation_name or "")
        yield Readable(source.unique_id, source.name, relation, _declared(source), is_table=True)
    for node in nodes:
        yield Readable(
            node.unique_id,
            node.alias or node.name,
            relation_key(node.relation_name or ""),
            _declared(node),
            node.depends_on.nodes,
            node.compiled_code,
            node.language,
            is_table=node.resource_type == "seed",
            added=SNAPSHOT if node.resource_type == "snapshot" else (),
        )


def _declared(node: RawNode | RawSource) -> tuple[str, ...]:
    return tuple(relation_key(column.name) for column in node.columns.values())


def derive(nodes: Iterable[Readable], cache: FactsCache) -> dict[str, SqlFacts]:
    """The facts of every model, by id. Nodes come after what they read; one that comes too early is not known."""
    seen: dict[str, Readable] = {}
    known: dict[str, Sequence[str] | None] = {}
    facts: dict[str, SqlFacts] = {}
    for node in nodes:
        if node.is_table:
            known[node.id] = node.columns or None
        else:
            facts[node.id] = _read(node, [seen[name] for name in node.reads if name in seen], known, cache)
            names = facts[node.id].names
            known[node.id] = None if names is None else (*names, *node.added)
        seen[node.id] = node
    return facts


def _read(
    node: Readable, inputs: Sequence[Readable], known: Mapping[str, Sequence[str] | None], cache: FactsCache
) -> SqlFacts:
    if node.language != "sql":
        return PYTHON
    if node.sql is None:
        return UNCOMPILED
    tables = {name: known[item.id] for item in inputs for name in relations(item.name, item.relation)}
    if node.relation:
        tables.setdefault(node.relation, None)  # {{ this }}
    return cache.analyse(node.sql, tables)


def relations(name: str, relation: str) -> tuple[str, ...]:
    """The names under which others read a node: its relation, and the CTE that dbt makes of an ephemeral one."""
    made = f"{EPHEMERAL}{name.lower()}"
    return (relation, made) if relation else (made,)
