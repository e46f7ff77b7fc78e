"""An Iceberg schema as columns: every type, nested ones, and one diff with what was promised."""

from __future__ import annotations

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    BinaryType,
    DecimalType,
    FixedType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    PrimitiveType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UnknownType,
)

from floe_core.table import Column, ColumnChange, Kind, Type, diff
from floe_iceberg.columns import KINDS, read_columns, read_type


@pytest.mark.parametrize(
    ("iceberg", "expected"),
    [
        (IntegerType(), Type(Kind.INT)),
        (DecimalType(10, 2), Type(Kind.DECIMAL, (10, 2))),
        (TimestampType(), Type(Kind.TIMESTAMP_NTZ)),
        (TimestamptzType(), Type(Kind.TIMESTAMP_TZ)),
        (FixedType(16), Type(Kind.BYTES)),
        (BinaryType(), Type(Kind.BYTES)),
        (UnknownType(), Type(Kind.UNKNOWN, name="unknown")),
    ],
    ids=str,
)
def test_types_are_told_in_floes_words(iceberg: IcebergType, expected: Type) -> None:
    assert read_type(iceberg) == expected


def test_every_type_of_iceberg_is_known_or_named() -> None:
    simple = {kind for kind in PrimitiveType.__subclasses__() if kind.__module__ == "pyiceberg.types"}
    assert {kind.__name__ for kind in simple if kind not in KINDS} <= {
        "DecimalType", "UnknownType", "GeometryType", "GeographyType", "VariantType"
    }  # fmt: skip


def test_fields_inside_are_kept_with_their_names_and_needs() -> None:
    street = StructType(NestedField(11, "street", StringType(), required=True, doc="Name and number"))
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "address", street, required=False),
        NestedField(3, "tags", ListType(12, StringType(), element_required=True), required=False),
        NestedField(4, "prices", MapType(13, StringType(), 14, DecimalType(9, 2), value_required=False)),
        identifier_field_ids=[1],
    )
    found = {column.name: column for column in read_columns(schema)}
    assert (found["id"].type, found["id"].required, found["id"].primary_key) == (Type(Kind.LONG), True, True)
    [inside] = found["address"].fields
    assert (inside.name, inside.required, inside.description) == ("street", True, "Name and number")
    assert [(item.name, item.type, item.required) for item in found["tags"].fields] == [
        ("[]", Type(Kind.STRING), True)
    ]
    assert [(item.name, item.type, item.required) for item in found["prices"].fields] == [
        ("{key}", Type(Kind.STRING), True),
        ("{value}", Type(Kind.DECIMAL, (9, 2)), False),
    ]


def test_what_a_table_has_can_be_compared_with_what_was_promised() -> None:
    promised = [Column("id", Type(Kind.INT), required=True), Column("name", Type(Kind.STRING))]
    table = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "extra", StringType()))
    found = {(change.where, change.id) for change in diff(promised, read_columns(table))}
    assert found == {
        ("id", ColumnChange.TYPE_WIDENED),
        ("name", ColumnChange.REMOVED),
        ("extra", ColumnChange.ADDED_OPTIONAL),
    }
