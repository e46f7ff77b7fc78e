"""The columns of a relation as Spark sees them: where a check's column is, and what type it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from floe_core.table import ITEM, KEY, VALUE, Column, Kind, Type, dotted

_KINDS: dict[type[DataType], Kind] = {
    StringType: Kind.STRING,
    BooleanType: Kind.BOOLEAN,
    ByteType: Kind.INT,
    ShortType: Kind.INT,
    IntegerType: Kind.INT,
    LongType: Kind.LONG,
    FloatType: Kind.FLOAT,
    DoubleType: Kind.DOUBLE,
    DateType: Kind.DATE,
    TimestampType: Kind.TIMESTAMP_TZ,
    TimestampNTZType: Kind.TIMESTAMP_NTZ,
    BinaryType: Kind.BYTES,
    StructType: Kind.OBJECT,
    ArrayType: Kind.ARRAY,
    MapType: Kind.MAP,
}


@dataclass(frozen=True, slots=True)
class Spot:
    """A column or a field inside one: the way to it, and its type."""

    path: tuple[str, ...]
    type: DataType

    @property
    def in_list(self) -> bool:
        return any(step in (ITEM, KEY, VALUE) for step in self.path)


class UnmeasurableError(Exception):
    """Why a check has no answer."""


def find(schema: StructType, name: str) -> Spot:
    """The column that a check names. Names come from the table, never from the contract."""
    spots = [Spot((field.name,), field.dataType) for field in schema.fields if field.name == name]
    found = spots or [spot for spot in _walk(schema, ()) if dotted(spot.path) == name]
    if len(found) != 1:
        raise UnmeasurableError(f"there {'is no column' if not found else 'are several columns'} {name}")
    return found[0]


def _walk(kind: DataType, at: tuple[str, ...]) -> Iterator[Spot]:
    for name, inner in _inside(kind):
        path = (*at, name)
        yield Spot(path, inner)
        yield from _walk(inner, path)


def _inside(kind: DataType) -> list[tuple[str, DataType]]:
    if isinstance(kind, StructType):
        return [(field.name, field.dataType) for field in kind.fields]
    if isinstance(kind, ArrayType):
        return [(ITEM, kind.elementType)]
    return [(KEY, kind.keyType), (VALUE, kind.valueType)] if isinstance(kind, MapType) else []


def read_columns(schema: StructType) -> tuple[Column, ...]:
    """The columns of a view, which has no other schema than Spark's."""
    return tuple(_column(field.name, field.dataType, required=not field.nullable) for field in schema.fields)


def _column(name: str, kind: DataType, *, required: bool = False) -> Column:
    spelt = kind.simpleString()
    if isinstance(kind, StructType):
        fields = read_columns(kind)
    else:
        fields = tuple(_column(inner, inside) for inner, inside in _inside(kind))
    return Column(name, _type(kind), required=required, physical_type=spelt, fields=fields)


def _type(kind: DataType) -> Type:
    if isinstance(kind, DecimalType):
        return Type(Kind.DECIMAL, (kind.precision, kind.scale))
    known = _KINDS.get(type(kind))
    return Type(known) if known else Type(Kind.UNKNOWN, name=kind.simpleString())
