"""Every way a contract can change: what it means for consumers and producers, and which bump it needs.

The columns are compared by `floe_core.table.diff`; here are the rows that read the result, and what a contract has
beyond its columns: tables, service levels, quality rules, lifecycle and words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from floe_contracts.quality import counted, rule_changes
from floe_contracts.sla import NAMES
from floe_core.checks import RuleKind
from floe_core.contract import Contract, Json, Sla, Table
from floe_core.order import show
from floe_core.schemas.levels import Widening
from floe_core.table import Change, ColumnChange, diff


class Bump(IntEnum):
    """Which part of a version must grow."""

    NONE = 0
    PATCH = 1
    MINOR = 2
    MAJOR = 3


class Direction(StrEnum):
    """What a change means for someone."""

    BREAKS = "breaks"  # what worked may fail
    GAINS = "gains"  # more than before
    EASES = "eases"  # less to keep
    SAME = "same"


@dataclass(frozen=True, slots=True)
class ChangeClass:
    """One row: what happened, the bump it needs, and who notices. `mirror` is what undoing it looks like."""

    id: str
    description: str
    bump: Bump
    consumers: Direction
    producers: Direction
    mirror: tuple[str, ...] = ()
    waiver: str = ""


def _row(
    change: str, description: str, bump: Bump, consumers: Direction, producers: Direction, *mirror: str
) -> ChangeClass:
    return ChangeClass(change, description, bump, consumers, producers, mirror)


_B, _G, _E, _S = Direction.BREAKS, Direction.GAINS, Direction.EASES, Direction.SAME
_C = ColumnChange
CLASSES: Mapping[str, ChangeClass] = {
    row.id: row
    for row in (
        _row("table-added", "a table was added", Bump.MINOR, _G, _B, "table-removed"),
        _row("table-removed", "a table was removed", Bump.MAJOR, _B, _E, "table-added"),
        _row("table-moved", "a table has another name in the catalog", Bump.MAJOR, _B, _B, "table-moved"),
        _row(_C.ADDED_OPTIONAL, "an optional column was added", Bump.MINOR, _G, _B, _C.REMOVED),
        _row(_C.ADDED_REQUIRED, "a required column was added", Bump.MAJOR, _B, _B, _C.REMOVED),
        _row(_C.REMOVED, "a column was removed", Bump.MAJOR, _B, _E, _C.ADDED_OPTIONAL, _C.ADDED_REQUIRED),
        _row(_C.RENAMED, "a column has another name in the table", Bump.MAJOR, _B, _B, _C.RENAMED),
        _row(_C.TYPE_CHANGED, "a type changed", Bump.MAJOR, _B, _B, _C.TYPE_CHANGED, _C.TYPE_WIDENED),
        _row(_C.TYPE_WIDENED, "a type was widened as Iceberg allows", Bump.MAJOR, _B, _E, _C.TYPE_CHANGED),
        _row(_C.TYPE_RESPELT, "the same type is spelt differently", Bump.PATCH, _S, _S, _C.TYPE_RESPELT),
        _row(_C.BECAME_REQUIRED, "an optional column became required", Bump.MAJOR, _B, _B, _C.BECAME_OPTIONAL),
        _row(_C.BECAME_OPTIONAL, "a required column may be null", Bump.MINOR, _B, _E, _C.BECAME_REQUIRED),
        _row(_C.BECAME_UNIQUE, "a column became unique", Bump.MINOR, _G, _B, _C.LOST_UNIQUENESS),
        _row(_C.LOST_UNIQUENESS, "a column is no longer unique", Bump.MAJOR, _B, _E, _C.BECAME_UNIQUE),
        _row(_C.KEY_ADDED, "a primary key was declared", Bump.MINOR, _G, _B, _C.KEY_REMOVED),
        _row(_C.KEY_REMOVED, "the primary key was removed", Bump.MAJOR, _B, _E, _C.KEY_ADDED),
        _row(_C.KEY_CHANGED, "the primary key is another one", Bump.MAJOR, _B, _B, _C.KEY_CHANGED),
        _row(_C.CLASS_STRENGTHENED, "a classification is stricter", Bump.MINOR, _S, _B, _C.CLASS_WEAKENED),
        _row(_C.CLASS_WEAKENED, "a classification is weaker", Bump.MAJOR, _B, _E, _C.CLASS_STRENGTHENED),
        _row(_C.CLASS_CHANGED, "a classification is another one", Bump.MAJOR, _B, _B, _C.CLASS_CHANGED),
        _row(_C.LIMIT_ADDED, "values are limited", Bump.MINOR, _G, _B, _C.LIMIT_REMOVED),
        _row(_C.LIMIT_REMOVED, "a limit was removed", Bump.MAJOR, _B, _E, _C.LIMIT_ADDED),
        _row(_C.LIMIT_TIGHTENED, "a limit is tighter", Bump.MINOR, _G, _B, _C.LIMIT_LOOSENED),
        _row(_C.LIMIT_LOOSENED, "a limit is looser", Bump.MAJOR, _B, _E, _C.LIMIT_TIGHTENED),
        _row(_C.LIMIT_CHANGED, "a limit is another one", Bump.MAJOR, _B, _B, _C.LIMIT_CHANGED),
        _row(_C.DESCRIBED, "a column is described differently", Bump.PATCH, _S, _S, _C.DESCRIBED),
        _row("sla-added", "a service level was promised", Bump.MINOR, _G, _B, "sla-removed"),
        _row("sla-removed", "a service level was withdrawn", Bump.MAJOR, _B, _E, "sla-added"),
        _row("sla-tightened", "a service level is stricter", Bump.MINOR, _G, _B, "sla-relaxed"),
        _row("sla-relaxed", "a service level is weaker", Bump.MAJOR, _B, _E, "sla-tightened"),
        _row("sla-changed", "a service level is another one", Bump.MAJOR, _B, _B, "sla-changed"),
        _row("rule-added", "a quality rule was added", Bump.MINOR, _G, _B, "rule-removed"),
        _row("rule-removed", "a quality rule was removed", Bump.MAJOR, _B, _E, "rule-added"),
        _row("rule-tightened", "a quality rule is stricter", Bump.MINOR, _G, _B, "rule-loosened"),
        _row("rule-loosened", "a quality rule is looser", Bump.MAJOR, _B, _E, "rule-tightened"),
        _row("rule-changed", "a quality rule asks something else", Bump.MAJOR, _B, _B, "rule-changed"),
        _row("status-advanced", "the contract came closer to its end", Bump.MINOR, _B, _E, "status-returned"),
        _row("status-returned", "the contract lives on", Bump.MINOR, _G, _B, "status-advanced"),
        _row("deprecation-changed", "how the contract ends changed", Bump.MINOR, _S, _S, "deprecation-changed"),
        _row("words-changed", "descriptions, tags, links or other words", Bump.PATCH, _S, _S, "words-changed"),
    )
}


def bump_of(change: Change, widening: Widening = Widening.MAJOR) -> Bump:
    """The bump that one change needs."""
    if change.id == ColumnChange.TYPE_WIDENED and widening is Widening.MINOR:
        return Bump.MINOR
    return CLASSES[change.id].bump


def required_bump(changes: Iterable[Change], widening: Widening = Widening.MAJOR) -> Bump:
    return max((bump_of(change, widening) for change in changes), default=Bump.NONE)


def compare(old: Contract, new: Contract) -> list[Change]:
    """Everything that changed between two contracts, tables first."""
    changes = [
        *_tables(old.tables, new.tables),
        *_slas(old.slas, new.slas),
        *_lifecycle(old, new),
        *_words(old.document, new.document),
    ]
    if not changes and _unversioned(old) != _unversioned(new):  # another order, another spelling of one value
        changes.append(Change("words-changed", ("document",)))
    return changes


def _unversioned(contract: Contract) -> Json:
    return {**contract.document, "version": ""}


def _tables(old: Sequence[Table], new: Sequence[Table]) -> Iterator[Change]:
    before, after = ({table.name: table for table in tables} for tables in (old, new))
    for name, table in before.items():
        if name not in after:
            yield Change("table-removed", (name,), old=table.in_catalog)
            continue
        other = after[name]
        if table.in_catalog != other.in_catalog:
            yield Change("table-moved", (name,), table.in_catalog, other.in_catalog)
        yield from (change.under(name) for change in diff(table.columns, other.columns))
        yield from (change.under(name) for change in rule_changes(table.rules, other.rules))
    for name, table in after.items():
        if name not in before:
            yield Change("table-added", (name,), new=table.in_catalog)


def _slas(old: Sequence[Sla], new: Sequence[Sla]) -> Iterator[Change]:
    before, after = (counted((_sla_key(sla), sla) for sla in slas) for slas in (old, new))
    for key, sla in before.items():
        if key not in after:
            yield Change("sla-removed", _sla_path(sla), old=sla.text)
        elif change := _sla_change(sla, after[key]):
            yield Change(change, _sla_path(sla), sla.text, after[key].text)
    for key, sla in after.items():
        if key not in before:
            yield Change("sla-added", _sla_path(sla), new=sla.text)


def _sla_key(sla: Sla) -> str:
    return f"{sla.name}\0{sla.element}"


def _sla_path(sla: Sla) -> tuple[str, ...]:
    return ("sla", sla.name, *([sla.element] if sla.element else []))


def _sla_change(old: Sla, new: Sla) -> str:
    row = NAMES.get(old.name.casefold())
    if row is None or old.value is None or new.value is None:
        return "sla-changed" if old.text != new.text else ""
    if old.value == new.value:
        return ""
    if row.order.holds(new.value, old.value):
        return "sla-tightened"
    return "sla-relaxed" if row.order.holds(old.value, new.value) else "sla-changed"


def _lifecycle(old: Contract, new: Contract) -> Iterator[Change]:
    if old.status is not new.status:
        change = "status-advanced" if new.status > old.status else "status-returned"
        yield Change(change, ("status",), old.status.value, new.status.value)
    before, after = (_ending(contract) for contract in (old, new))
    if before != after:
        yield Change("deprecation-changed", ("deprecation",), before, after)


def _ending(contract: Contract) -> str:
    end = contract.deprecation
    if end is None:
        return ""
    words = (end.announced, end.sunset_date, end.replacement, end.migration_guide)
    return ", ".join(str(word) for word in words if word)


# Keys whose changes have a class of their own; everything else in a document is words.
_ROOT = frozenset({"version", "status", "schema", "slaProperties", "slaDefaultElement"})
_TABLE = frozenset({"name", "properties", "physicalName", "quality"})
# fmt: off
_COLUMN = frozenset({
    "name", "logicalType", "physicalType", "logicalTypeOptions", "required", "unique", "primaryKey",
    "classification", "description", "physicalName", "properties", "items", "map", "enum", "quality",
})
# fmt: on
_RULE_WORDS = (
    "name",
    "description",
    "dimension",
    "businessImpact",
    "tags",
    "schedule",
    "scheduler",
    "customProperties",
)
_SLA_WORDS = ("driver", "description", "schedule", "scheduler", "valueExt", "id", "customProperties")


def _words(old: Json, new: Json) -> Iterator[Change]:
    before, after = dict(_texts(old)), dict(_texts(new))
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            yield Change("words-changed", path, show(before.get(path) or ""), show(after.get(path) or ""))


def _texts(document: Json) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What a document says beyond its meaning, by path."""
    for key, value in document.items():
        if key not in _ROOT and key != "customProperties":
            yield (key,), value
    for item in document.get("customProperties") or ():
        if item.get("property") != "floe.deprecation":
            yield ("customProperties", str(item.get("property"))), item
    for number, sla in enumerate(document.get("slaProperties") or ()):
        for word in _SLA_WORDS:
            if word in sla:
                yield ("sla", str(sla.get("property")), str(number), word), sla[word]
    for table in document.get("schema") or ():
        yield from _block_texts(table, (str(table.get("name")),), _TABLE)


def _block_texts(
    block: Json, path: tuple[str, ...], known: frozenset[str]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in block.items():
        if key not in known:
            yield (*path, key), value
    for number, rule in enumerate(block.get("quality") or ()):
        yield from _rule_texts(rule, (*path, "quality", str(number)))
    for item in block.get("properties") or ():
        yield from _block_texts(item, (*path, str(item.get("name"))), _COLUMN)
    if isinstance(items := block.get("items"), dict):
        yield from _block_texts(items, (*path, "[]"), _COLUMN)


def _rule_texts(rule: Json, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if rule.get("type") == RuleKind.TEXT.value:
        yield path, rule
        return
    for word in _RULE_WORDS:
        if word in rule:
            yield (*path, word), rule[word]
