"""Whether a table still is what its contract promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floe_core.contract import Contract, Table
from floe_core.findings import Finding, Place, Severity
from floe_core.source import KeyPath
from floe_core.table import Column, Kind


def drift(contract: Contract, table: Table, actual: Sequence[Column]) -> list[Finding]:
    """Every difference between what a contract promises and what a table has."""
    return list(_fields(contract, table.columns, actual, (*table.path, "properties"), "", contract.place()))


def _fields(
    contract: Contract,
    promised: Sequence[Column],
    actual: Sequence[Column],
    path: KeyPath,
    prefix: str,
    outside: Place,
) -> Iterator[Finding]:
    """`path` is empty inside of lists and maps, where only what is outside has a place."""
    there = {column.in_table: column for column in actual}
    for number, column in enumerate(promised):
        at = (*path, number) if path else ()
        name = f"{prefix}{column.in_table}"
        found = there.pop(column.in_table, None)
        place = contract.place((*at, "name")) if at else outside
        if found is None:
            yield Finding("FLOE-E531", f"Column '{name}' is missing in the table", place)
        elif not _fits(column, found):
            yield Finding(
                "FLOE-E530",
                f"Type mismatch for column '{name}'",
                place,
                expected=str(column.type),
                actual=str(found.type),
                fix="Update contract schema or table definition to match",
                details=(("Contract", f"{column.type}, Table: {found.type}"),),
            )
        else:
            inside = (*at, "properties") if column.type.kind is Kind.OBJECT and at else ()
            fields = found.fields if column.fields else ()
            yield from _fields(contract, column.fields, fields, inside, f"{name}.", place)
    for name in there:
        message = f"Column '{prefix}{name}' is not in the contract"
        place = contract.place(path[:2]) if path else outside
        yield Finding("FLOE-E532", message, place, Severity.INFO)


def _fits(promised: Column, actual: Column) -> bool:
    """Types that cannot be compared never match; a column without a type promises none."""
    if promised.type.kind is Kind.UNKNOWN and not promised.type.name:
        return True
    return promised.type.accepts(actual.type)
