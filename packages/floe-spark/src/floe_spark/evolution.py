"""`governance.schema_evolution`: what may happen to the columns of a table that is there already.

Judged before publication, on what the staged tables have. A new table may have any columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from floe_core.findings import Finding, Place
from floe_core.schemas.levels import SchemaEvolution
from floe_core.table import Column, ColumnChange, diff

# The strictest level that still allows a change; what is not listed no level but `any` allows.
ALLOWED: Mapping[ColumnChange, SchemaEvolution] = {
    ColumnChange.DESCRIBED: SchemaEvolution.STRICT,
    ColumnChange.TYPE_RESPELT: SchemaEvolution.STRICT,
    ColumnChange.ADDED_OPTIONAL: SchemaEvolution.ADDITIVE,
    ColumnChange.TYPE_WIDENED: SchemaEvolution.ADDITIVE,
    ColumnChange.BECAME_OPTIONAL: SchemaEvolution.ADDITIVE,
    ColumnChange.ADDED_REQUIRED: SchemaEvolution.ANY,
    ColumnChange.REMOVED: SchemaEvolution.ANY,
    ColumnChange.TYPE_CHANGED: SchemaEvolution.ANY,
    ColumnChange.BECAME_REQUIRED: SchemaEvolution.ANY,
    ColumnChange.KEY_ADDED: SchemaEvolution.ANY,
    ColumnChange.KEY_REMOVED: SchemaEvolution.ANY,
    ColumnChange.KEY_CHANGED: SchemaEvolution.ANY,
}

WORDS: Mapping[ColumnChange, str] = {
    ColumnChange.DESCRIBED: "another description",
    ColumnChange.TYPE_RESPELT: "another spelling of the same type",
    ColumnChange.ADDED_OPTIONAL: "an additional column that may be null",
    ColumnChange.TYPE_WIDENED: "a wider type: int to long, float to double, more digits of a decimal",
    ColumnChange.BECAME_OPTIONAL: "a required column that may be null now",
    ColumnChange.ADDED_REQUIRED: "an additional required column",
    ColumnChange.REMOVED: "a column that is gone, or has another name",
    ColumnChange.TYPE_CHANGED: "any other type",
    ColumnChange.BECAME_REQUIRED: "a column that must not be null any more",
    ColumnChange.KEY_ADDED: "a key where there was none",
    ColumnChange.KEY_REMOVED: "no key where there was one",
    ColumnChange.KEY_CHANGED: "another key",
}


def judge_evolution(
    level: SchemaEvolution, table: str, old: Sequence[Column], new: Sequence[Column], place: Place
) -> Iterator[Finding]:
    """Each change of a table's columns that the level does not allow."""
    for change in diff(old, new):
        kind = ColumnChange(change.id)
        if level <= ALLOWED.get(kind, SchemaEvolution.ANY):
            continue
        where = f"{table}.{change.where}" if change.path else table
        values = " → ".join(filter(None, (change.old, change.new)))
        message = f"{where}: {WORDS[kind]}{f' ({values})' if values else ''}, and schema_evolution is {level.value}"
        yield Finding(
            "FLOE-E750", message, place, expected=change.old or "no such column", actual=change.new or "gone"
        )
