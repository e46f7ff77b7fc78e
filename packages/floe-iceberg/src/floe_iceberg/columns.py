"""An Iceberg table's schema as engine-neutral columns."""

from __future__ import annotations

from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestampNanoType,
    TimestampType,
    TimestamptzNanoType,
    TimestamptzType,
    TimeType,
    UUIDType,
)

from floe_core.table import ITEM, KEY, VALUE, Column, Kind, Type

KINDS: dict[type[IcebergType], Kind] = {
    BooleanType: Kind.BOOLEAN,
    IntegerType: Kind.INT,
    LongType: Kind.LONG,
    FloatType: Kind.FLOAT,
    DoubleType: Kind.DOUBLE,
    DateType: Kind.DATE,
    TimeType: Kind.TIME,
    TimestampType: Kind.TIMESTAMP_NTZ,
    TimestampNanoType: Kind.TIMESTAMP_NTZ,
    TimestamptzType: Kind.TIMESTAMP_TZ,
    TimestamptzNanoType: Kind.TIMESTAMP_TZ,
    StringType: Kind.STRING,
    UUIDType: Kind.UUID,
    FixedType: Kind.BYTES,
    BinaryType: Kind.BYTES,
    StructType: Kind.OBJECT,
    ListType: Kind.ARRAY,
    MapType: Kind.MAP,
}


def read_columns(schema: Schema) -> tuple[Column, ...]:
    """The columns of a table, with the fields inside them; its identifier fields are the key."""
    key = set(schema.identifier_field_ids)
    return tuple(_column(field, key) for field in schema.fields)


def _column(field: NestedField, key: set[int]) -> Column:
    return Column(
        field.name,
        read_type(field.field_type),
        required=field.required,
        primary_key=field.field_id in key,
        description=field.doc or "",
        physical_type=str(field.field_type),
        fields=_inside(field.field_type, key),
    )


def read_type(kind: IcebergType) -> Type:
    """One type; what floe has no word for keeps Iceberg's own."""
    if isinstance(kind, DecimalType):
        return Type(Kind.DECIMAL, (kind.precision, kind.scale))
    known = KINDS.get(type(kind))
    return Type(known) if known else Type(Kind.UNKNOWN, name=str(kind))


def _inside(kind: IcebergType, key: set[int]) -> tuple[Column, ...]:
    if isinstance(kind, StructType):
        return tuple(_column(field, key) for field in kind.fields)
    if isinstance(kind, ListType):
        return (_element(ITEM, kind.element_type, key, kind.element_required),)
    if isinstance(kind, MapType):
        value = _element(VALUE, kind.value_type, key, kind.value_required)
        return (_element(KEY, kind.key_type, key, required=True), value)
    return ()


def _element(name: str, kind: IcebergType, key: set[int], required: bool) -> Column:
    return Column(name, read_type(kind), required=required, physical_type=str(kind), fields=_inside(kind, key))
