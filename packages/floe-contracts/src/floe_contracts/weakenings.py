"""Where a contract says less than one above it: service levels, classifications, types, flags, limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from floe_contracts.read import Draft
from floe_contracts.sla import NAMES
from floe_core.contract import Contract, Json, Sla, Table
from floe_core.findings import Finding, Related
from floe_core.order import Cover, Equal, Strategy, show
from floe_core.source import KeyPath
from floe_core.table import ITEM, KEY, LIMITS, VALUE, Column

EVERY_TABLE = "*"


@dataclass(frozen=True, slots=True)
class Parent:
    """A contract that others must not weaken, and the tier that says so."""

    contract: Contract
    draft: Draft
    tier: str


def weakenings(child: Contract, parent: Parent) -> list[Finding]:
    """Every place where the child says less than the parent demands. Silence inherits."""
    found: list[Finding] = []
    for sla in parent.contract.slas:
        found += _sla_weakenings(child, sla, parent)
    for table in child.tables:
        for above in parent.contract.tables:
            if above.name in (table.name, EVERY_TABLE):
                found += _table_weakenings(child, table, parent, above)
    return found


def _sla_weakenings(child: Contract, above: Sla, parent: Parent) -> Iterator[Finding]:
    row = NAMES.get(above.name.casefold())
    if row is None or above.value is None:
        return
    for sla in child.slas:
        if sla.name != above.name or sla.value is None or row.order.holds(sla.value, above.value):
            continue
        yield Finding(
            "FLOE-E510",
            f"Child contract weakens '{sla.name}' SLA",
            child.place((*sla.path, "value")),
            fix=f"Strengthen '{sla.name}' to at least match parent: {above.text}",
            expected=above.text,
            actual=sla.text,
            related=(_required(parent, (*above.path, "value"), above.text, sla.text),),
        )


def _required(parent: Parent, path: KeyPath, demanded: str, given: str) -> Related:
    said = f"Parent requires {demanded}, child specifies {given}"
    return Related(parent.contract.place(path), f"{said} ({parent.tier})" if parent.tier else said)


def _table_weakenings(child: Contract, table: Table, parent: Parent, above: Table) -> Iterator[Finding]:
    mine = _Block(table.columns, _at(child.document, table.path), table.path)
    theirs = _Block(above.columns, _at(parent.contract.document, above.path), above.path)
    for field_name, given, demanded in _pairs(mine, theirs, f"{table.name}."):
        for code, key, message, fix, expected, actual in _complaints(given, demanded, field_name):
            yield Finding(
                code,
                message,
                child.place((*given.path, key)),
                fix=fix,
                expected=expected,
                actual=actual,
                related=(_required(parent, (*demanded.path, key), f"'{expected}'", f"'{actual}'"),),
            )


def _at(document: Json, path: KeyPath) -> Any:
    value: Any = document
    for step in path:
        value = value[step]
    return value


@dataclass(frozen=True, slots=True)
class _Block:
    """Columns and the block of the document that says them."""

    columns: tuple[Column, ...]
    written: Json
    path: KeyPath

    def fields(self) -> Iterator[tuple[str, _Field]]:
        places: dict[str, KeyPath] = {
            str(item["name"]): ("properties", number)
            for number, item in enumerate(self.written.get("properties") or ())
        }
        places |= {ITEM: ("items",), KEY: ("map", "key"), VALUE: ("map", "value")}
        for column in self.columns:
            step = places[column.name]
            yield column.name, _Field(column, _at(self.written, step), (*self.path, *step))


@dataclass(frozen=True, slots=True)
class _Field:
    """One column, or a field inside one."""

    column: Column
    written: Json
    path: KeyPath

    def inside(self) -> _Block:
        return _Block(self.column.fields, self.written, self.path)


def _pairs(mine: _Block, theirs: _Block, prefix: str) -> Iterator[tuple[str, _Field, _Field]]:
    """Every field that both have, however deep, with its name."""
    given = dict(mine.fields())
    for name, demanded in theirs.fields():
        if name in given:
            yield f"{prefix}{name}".replace(".[]", "[]"), given[name], demanded
            yield from _pairs(given[name].inside(), demanded.inside(), f"{prefix}{name}.")


def _complaints(given: _Field, above: _Field, name: str) -> Iterator[tuple[str, str, str, str, str, str]]:
    """code, key, message, fix, expected, actual of everything that the child says and should not."""
    column, written, demanded = given.column, given.written, above.column
    if written.get("classification") and not Cover().holds(column.classes, demanded.classes):
        wanted, said = str(above.written["classification"]), str(written["classification"])
        message = f"Classification weakening for field '{name}'"
        fix = f"Use classification '{wanted}' or stronger for '{name}'"
        yield "FLOE-E511", "classification", message, fix, wanted, said
    typed = [key for key in ("physicalType", "logicalType") if key in written]
    if typed and demanded.type.kind.value != "unknown" and not _same_type(demanded, column):
        wanted, said = str(demanded.type), str(column.type)
        message = f"type of '{name}' is {said}, the base contract demands {wanted}"
        yield "FLOE-E513", typed[0], message, f"Use {wanted}.", wanted, said
    flags = (
        ("required", demanded.required),
        ("unique", demanded.unique),
        ("primaryKey", demanded.primary_key),
    )
    for key, is_demanded in flags:
        if is_demanded and written.get(key) is False:
            message = f"'{name}' is not {key}, the base contract demands it"
            yield "FLOE-E513", key, message, f"Write `{key}: true`, or remove the line.", "true", "false"
    limits = dict(demanded.limits)
    for limit, value in column.limits:
        before, order = limits.get(limit), LIMITS.get(limit, Equal())
        if before is not None and not _keeps(order, value, before):
            message = f"{limit} of '{name}' is weaker than in the base contract"
            fix = f"Use {order.demand(before)}."
            yield "FLOE-E513", "logicalTypeOptions", message, fix, show(before), show(value)


def _keeps(order: Strategy, value: Any, demanded: Any) -> bool:
    """Limits of different kinds, a number and a date, cannot be compared: neither keeps the other."""
    numbers = all(isinstance(item, int | float) for item in (value, demanded))
    return (numbers or type(value) is type(demanded)) and order.holds(value, demanded)


def _same_type(above: Column, column: Column) -> bool:
    return above.type == column.type or above.type.accepts(column.type)
