"""Columns without an engine: what a contract promises and what a table has, in one form.

Contracts and catalogs both turn their schema into `Column`s, so the version bump of a contract and the drift of a
table are one `diff`, read by two tables of consequences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any, TypeAlias

from floe_core.order import AtLeast, AtMost, Cover, Equal, Strategy, Subset, Switch, show
from floe_core.schemas.levels import FieldClass


class Kind(StrEnum):
    """What a column holds. `integer`, `number` and `timestamp` leave the width or the zone open."""

    STRING = "string"
    INTEGER = "integer"
    INT = "int"
    LONG = "long"
    NUMBER = "number"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"
    TIMESTAMP_TZ = "timestamptz"
    BYTES = "bytes"
    UUID = "uuid"
    OBJECT = "object"
    ARRAY = "array"
    MAP = "map"
    UNKNOWN = "unknown"


_OPEN: dict[Kind, frozenset[Kind]] = {
    Kind.INTEGER: frozenset({Kind.INT, Kind.LONG}),
    Kind.NUMBER: frozenset({Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL}),
    Kind.TIMESTAMP: frozenset({Kind.TIMESTAMP_NTZ, Kind.TIMESTAMP_TZ}),
}
_PROMOTIONS = {(Kind.INT, Kind.LONG), (Kind.FLOAT, Kind.DOUBLE)}


@dataclass(frozen=True, slots=True)
class Type:
    """A type with its arguments; `name` is an engine's own spelling that floe cannot compare."""

    kind: Kind
    args: tuple[int, ...] = ()
    name: str = ""

    def __str__(self) -> str:
        return self.name or (f"{self.kind}({','.join(map(str, self.args))})" if self.args else self.kind.value)

    def accepts(self, actual: Type) -> bool:
        """Whether a table with the actual type keeps a promise of this one; what floe does not know never does."""
        if Kind.UNKNOWN in (self.kind, actual.kind) or self.name or actual.name:
            return False
        if self.kind is not actual.kind:
            return actual.kind in _OPEN.get(self.kind, ())
        return self.kind is not Kind.DECIMAL or not self.args or self.args == actual.args

    def widens_to(self, new: Type) -> bool:
        """Whether Iceberg can promote this type to the new one without rewriting data."""
        if (self.kind, new.kind) in _PROMOTIONS:
            return True
        if self.kind is new.kind is Kind.DECIMAL and len(self.args) == len(new.args) == 2:
            return new.args[0] > self.args[0] and new.args[1] == self.args[1]
        return False


_SPELLINGS: dict[str, Kind] = {
    **{kind.value: kind for kind in Kind if kind not in (Kind.UNKNOWN, Kind.TIMESTAMP)},
    **dict.fromkeys(("varchar", "char", "text", "character varying", "nvarchar", "character"), Kind.STRING),
    **dict.fromkeys(("tinyint", "smallint", "int4", "byte", "short"), Kind.INT),
    **dict.fromkeys(("bigint", "int8"), Kind.LONG),
    **dict.fromkeys(("real", "float4"), Kind.FLOAT),
    **dict.fromkeys(("double precision", "float8"), Kind.DOUBLE),
    **dict.fromkeys(("numeric", "dec"), Kind.DECIMAL),
    "bool": Kind.BOOLEAN,
    "timestamp": Kind.TIMESTAMP_NTZ,
    **dict.fromkeys(("timestamp without time zone", "datetime"), Kind.TIMESTAMP_NTZ),
    **dict.fromkeys(("timestamp with time zone", "timestamp_tz", "timestamp_ltz"), Kind.TIMESTAMP_TZ),
    **dict.fromkeys(("binary", "varbinary", "blob", "bytea"), Kind.BYTES),
    **dict.fromkeys(("struct", "record", "row"), Kind.OBJECT),
    "list": Kind.ARRAY,
}
_SPELT = re.compile(r"([a-z][a-z0-9_ ]*?) *(?:\(([0-9, ]+)\))?(?: *<.*>)?")


@lru_cache(maxsize=1024)  # tables repeat a handful of types
def read_type(text: str) -> Type:
    """An engine's type by its usual spellings: `bigint`, `decimal(10, 2)`, `varchar(20)`, `array<string>`."""
    spelt = _SPELT.fullmatch(" ".join(text.lower().split()))
    kind = _SPELLINGS.get(spelt[1]) if spelt else None
    if spelt is None or kind is None:
        return Type(Kind.UNKNOWN, name=text)
    args = tuple(int(part) for part in (spelt[2] or "").split(",") if part.strip().isdigit() and len(part) < 10)
    if kind is Kind.INTEGER:  # an engine's INTEGER has a width
        kind = Kind.INT
    if kind is Kind.NUMBER:  # as Oracle's and Snowflake's, whose meaning is theirs
        return Type(Kind.UNKNOWN, name=text)
    return Type(kind, args)


Limits: TypeAlias = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A column, or a field inside one. An array has one field, `[]`; a map has `{key}` and `{value}`."""

    name: str
    type: Type
    required: bool = False
    unique: bool = False
    primary_key: bool = False
    classes: tuple[FieldClass, ...] = ()
    description: str = ""
    physical_name: str = ""  # the name in the table, where it differs
    physical_type: str = ""  # as the file spells it
    logical_type: str = ""  # what a contract says beside the physical one
    limits: Limits = ()  # maxLength, minimum, pattern, enum, …
    fields: tuple[Column, ...] = ()

    @property
    def in_table(self) -> str:
        return self.physical_name or self.name


ITEM, KEY, VALUE = "[]", "{key}", "{value}"


def walk(columns: Sequence[Column], at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Column]]:
    """Every column and every field inside one, with its path."""
    for column in columns:
        path = (*at, column.name)
        yield path, column
        yield from walk(column.fields, path)


def dotted(path: Sequence[str]) -> str:
    """A path as a person would write it: address.street, tags[]."""
    return ".".join(path).replace(".[]", "[]")


class ColumnChange(StrEnum):
    """What can happen to a column."""

    ADDED_OPTIONAL = "column-added-optional"
    ADDED_REQUIRED = "column-added-required"
    REMOVED = "column-removed"
    RENAMED = "column-physical-name-changed"
    TYPE_CHANGED = "type-changed"
    TYPE_WIDENED = "type-widened"
    TYPE_RESPELT = "type-respelt"
    BECAME_REQUIRED = "column-became-required"
    BECAME_OPTIONAL = "column-became-optional"
    BECAME_UNIQUE = "uniqueness-added"
    LOST_UNIQUENESS = "uniqueness-removed"
    KEY_ADDED = "key-added"
    KEY_REMOVED = "key-removed"
    KEY_CHANGED = "key-changed"
    CLASS_STRENGTHENED = "classification-strengthened"
    CLASS_WEAKENED = "classification-weakened"
    CLASS_CHANGED = "classification-changed"
    LIMIT_ADDED = "limit-added"
    LIMIT_REMOVED = "limit-removed"
    LIMIT_TIGHTENED = "limit-tightened"
    LIMIT_LOOSENED = "limit-loosened"
    LIMIT_CHANGED = "limit-changed"
    DESCRIBED = "description-changed"


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: its class, where, and both values as a person would write them."""

    id: str
    path: tuple[str, ...]
    old: str = ""
    new: str = ""

    @property
    def where(self) -> str:
        return dotted(self.path)

    def under(self, *parents: str) -> Change:
        return replace(self, path=(*parents, *self.path))


LIMITS: Mapping[str, Strategy] = {
    **dict.fromkeys(("minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties"), AtLeast()),
    **dict.fromkeys(("maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties"), AtMost()),
    "uniqueItems": Switch(),
    "enum": Subset(),
}


def diff(old: Sequence[Column], new: Sequence[Column]) -> list[Change]:
    """What changed between two lists of columns. Order means nothing; a rename is a removal and an addition."""
    return [*_key_change(old, new), *_diff_fields(old, new, ())]


def _diff_fields(old: Sequence[Column], new: Sequence[Column], at: tuple[str, ...]) -> list[Change]:
    before, after = ({column.name: column for column in columns} for columns in (old, new))
    changes: list[Change] = []
    for name, column in before.items():
        path = (*at, name)
        if name in after:
            changes += _diff_column(column, after[name], path)
        else:
            changes.append(Change(ColumnChange.REMOVED, path, old=str(column.type)))
    for name, column in after.items():
        if name not in before:
            change = ColumnChange.ADDED_REQUIRED if column.required else ColumnChange.ADDED_OPTIONAL
            changes.append(Change(change, (*at, name), new=str(column.type)))
    return changes


def _diff_column(old: Column, new: Column, path: tuple[str, ...]) -> list[Change]:
    if old == new:
        return []
    changes = [
        *_type_change(old, new, path),
        *_flag_change(old.required, new.required, path, ColumnChange.BECAME_REQUIRED, ColumnChange.BECAME_OPTIONAL),
        *_flag_change(old.unique, new.unique, path, ColumnChange.BECAME_UNIQUE, ColumnChange.LOST_UNIQUENESS),
        *_class_change(old.classes, new.classes, path),
        *_limit_changes(dict(old.limits), dict(new.limits), path),
    ]
    if old.in_table != new.in_table:
        changes.append(Change(ColumnChange.RENAMED, path, old.in_table, new.in_table))
    if old.description != new.description:
        changes.append(Change(ColumnChange.DESCRIBED, path, old.description, new.description))
    return [*changes, *_diff_fields(old.fields, new.fields, path)]


def _type_change(old: Column, new: Column, path: tuple[str, ...]) -> Iterator[Change]:
    if old.type != new.type:
        widened = old.type.widens_to(new.type)
        change = ColumnChange.TYPE_WIDENED if widened else ColumnChange.TYPE_CHANGED
        yield Change(change, path, str(old.type), str(new.type))
    elif old.logical_type and new.logical_type and old.logical_type != new.logical_type:
        yield Change(ColumnChange.TYPE_CHANGED, path, old.logical_type, new.logical_type)
    elif old.physical_type != new.physical_type:
        yield Change(ColumnChange.TYPE_RESPELT, path, old.physical_type, new.physical_type)


def _flag_change(old: bool, new: bool, path: tuple[str, ...], on: ColumnChange, off: ColumnChange) -> list[Change]:
    return [] if old == new else [Change(on if new else off, path, show(old), show(new))]


def _key_change(old: Sequence[Column], new: Sequence[Column]) -> list[Change]:
    before, after = (tuple(sorted(item.name for item in columns if item.primary_key)) for columns in (old, new))
    if before == after:
        return []
    added, removed = ColumnChange.KEY_ADDED, ColumnChange.KEY_REMOVED
    change = ColumnChange.KEY_CHANGED if before and after else added if after else removed
    return [Change(change, (), show(before), show(after))]


def _class_change(
    old: tuple[FieldClass, ...], new: tuple[FieldClass, ...], path: tuple[str, ...]
) -> Iterator[Change]:
    if set(old) == set(new):
        return
    order = Cover()
    stronger, weaker = order.holds(new, old), order.holds(old, new)
    change = (
        ColumnChange.CLASS_STRENGTHENED
        if stronger and not weaker
        else ColumnChange.CLASS_WEAKENED
        if weaker and not stronger
        else ColumnChange.CLASS_CHANGED
    )
    yield Change(change, path, show(old), show(new))


def _limit_changes(old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[Change]:
    for name in sorted({*old, *new}):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        shown = [f"{name} {show(value)}" if value is not None else "" for value in (before, after)]
        yield Change(_limit_change(LIMITS.get(name, Equal()), before, after), path, *shown)


def _limit_change(order: Strategy, old: Any, new: Any) -> ColumnChange:
    if old is None or new is None:
        return ColumnChange.LIMIT_ADDED if old is None else ColumnChange.LIMIT_REMOVED
    if isinstance(old, str) != isinstance(new, str):
        return ColumnChange.LIMIT_CHANGED
    if order.holds(new, old):
        return ColumnChange.LIMIT_TIGHTENED
    return ColumnChange.LIMIT_LOOSENED if order.holds(old, new) else ColumnChange.LIMIT_CHANGED
