"""ODCS properties as engine-neutral columns."""

from __future__ import annotations

from typing import Any

from floe_core.contract import Json
from floe_core.schemas.levels import FieldClass
from floe_core.table import ITEM, KEY, VALUE, Column, Kind, Limits, Type, read_type

_KINDS = {
    "string": Kind.STRING,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "time": Kind.TIME,
    "number": Kind.NUMBER,
    "integer": Kind.INTEGER,
    "object": Kind.OBJECT,
    "array": Kind.ARRAY,
    "boolean": Kind.BOOLEAN,
    "map": Kind.MAP,
}
_WIDTHS = {
    **dict.fromkeys(("i8", "i16", "i32"), Kind.INT),
    "i64": Kind.LONG,
    "f32": Kind.FLOAT,
    "f64": Kind.DOUBLE,
}
_CLASSES = {item.value: item for item in FieldClass}
_PART_OF_TYPE = ("integer", "number")


def read_columns(properties: list[Json] | None) -> tuple[Column, ...]:
    return tuple(_column(item, str(item["name"])) for item in properties or ())


def _column(item: Json, name: str) -> Column:
    return Column(
        name,
        type_of(item),
        required=item.get("required") is True,
        unique=item.get("unique") is True,
        primary_key=item.get("primaryKey") is True,
        classes=classes_of(item.get("classification"))[0],
        description=str(item.get("description") or ""),
        physical_name=str(item.get("physicalName") or ""),
        physical_type=str(item.get("physicalType") or ""),
        logical_type=str(item.get("logicalType") or ""),
        limits=_limits(item),
        fields=_fields(item),
    )


def type_of(item: Json) -> Type:
    """The type a property promises: the physical one where floe knows it, else the logical one."""
    logical, physical = item.get("logicalType"), item.get("physicalType")
    options = item.get("logicalTypeOptions") or {}
    kind = _KINDS.get(str(logical), Kind.UNKNOWN)
    if physical:
        read = read_type(str(physical))
        return read if read.kind is not Kind.UNKNOWN else Type(kind, name=" ".join(str(physical).lower().split()))
    if kind is Kind.TIMESTAMP and isinstance(options.get("timezone"), bool):
        return Type(Kind.TIMESTAMP_TZ if options["timezone"] else Kind.TIMESTAMP_NTZ)
    if logical in _PART_OF_TYPE and "format" in options:
        width = _WIDTHS.get(str(options["format"]))
        return Type(width) if width else Type(kind, name=f"{logical} {options['format']}")
    return Type(kind, name="" if kind is not Kind.UNKNOWN else str(logical or ""))


def classes_of(text: Any) -> tuple[tuple[FieldClass, ...], list[str]]:
    """The classes a property names, one or several with commas, and what is no class."""
    if not text:
        return (), []
    words = [word.strip() for word in str(text).split(",") if word.strip()]
    known = tuple(dict.fromkeys(_CLASSES[word.casefold()] for word in words if word.casefold() in _CLASSES))
    return known, [word for word in words if word.casefold() not in _CLASSES]


def _limits(item: Json) -> Limits:
    if "logicalTypeOptions" not in item and "enum" not in item:  # nearly all
        return ()
    options = dict(item.get("logicalTypeOptions") or {})
    if item.get("logicalType") in _PART_OF_TYPE:
        options.pop("format", None)
    options.pop("timezone", None)
    if isinstance(values := item.get("enum"), list):  # since 3.2
        options["enum"] = tuple(entry.get("value") for entry in values)
    return tuple(sorted((name, _frozen(value)) for name, value in options.items()))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _fields(item: Json) -> tuple[Column, ...]:
    fields = list(read_columns(item.get("properties")))
    if isinstance(items := item.get("items"), dict):
        fields.append(_column(items, ITEM))
    if isinstance(mapping := item.get("map"), dict):
        fields += [
            _column(mapping[side], name) for side, name in (("key", KEY), ("value", VALUE)) if side in mapping
        ]
    return tuple(fields)
