"""Columns without an engine: types, what accepts what, and the one diff."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floe_core.order import Cover
from floe_core.schemas.levels import FieldClass
from floe_core.table import Change, Column, Kind, Type, diff, dotted, read_type, walk

STRING, INT, LONG = Type(Kind.STRING), Type(Kind.INT), Type(Kind.LONG)
CLASSES = st.lists(st.sampled_from(FieldClass), max_size=3, unique=True).map(tuple)
TYPES = st.one_of(
    st.sampled_from(Kind).map(Type),
    st.tuples(st.integers(1, 38), st.integers(0, 9)).map(lambda a: Type(Kind.DECIMAL, a)),
)
LEAVES = st.builds(
    Column,
    st.sampled_from("abcd"),
    TYPES,
    required=st.booleans(),
    unique=st.booleans(),
    primary_key=st.booleans(),
    classes=CLASSES,
    description=st.sampled_from(["", "text"]),
    physical_name=st.sampled_from(["", "x"]),
    limits=st.sampled_from(
        [(), (("maxLength", 3),), (("maxLength", 5),), (("enum", ("a", "b")),), (("enum", ("a",)),)]
    ),
)


def with_fields(inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    fields = st.lists(inner, max_size=3, unique_by=lambda column: column.name).map(tuple)
    return st.builds(Column, st.sampled_from("abcd"), st.just(Type(Kind.OBJECT)), fields=fields)


COLUMNS = st.lists(
    st.recursive(LEAVES, with_fields, max_leaves=4), max_size=4, unique_by=lambda column: column.name
)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("bigint", LONG),
        ("INTEGER", INT),
        ("decimal(10, 2)", Type(Kind.DECIMAL, (10, 2))),
        ("VARCHAR(20)", Type(Kind.STRING, (20,))),
        ("double precision", Type(Kind.DOUBLE)),
        ("timestamp", Type(Kind.TIMESTAMP_NTZ)),
        ("timestamp with time zone", Type(Kind.TIMESTAMP_TZ)),
        ("array<string>", Type(Kind.ARRAY)),
        ("struct<a: int>", Type(Kind.OBJECT)),
        ("money", Type(Kind.UNKNOWN, name="money")),
        ("NUMBER(38,0)", Type(Kind.UNKNOWN, name="NUMBER(38,0)")),
        ("", Type(Kind.UNKNOWN, name="")),
    ],
)
def test_types_are_read_by_their_usual_spellings(text: str, type_: Type) -> None:
    assert read_type(text) == type_


@pytest.mark.parametrize(
    ("promised", "actual", "accepted"),
    [
        ("integer", "int", True),
        ("integer", "long", True),
        ("integer", "double", False),
        ("number", "decimal", True),
        ("number", "float", True),
        ("number", "long", False),
        ("timestamp", "timestamptz", True),
        ("timestamp", "timestamp_ntz", True),
        ("timestamp_ntz", "timestamptz", False),
        ("int", "long", False),
        ("string", "string", True),
        ("unknown", "unknown", False),
    ],
)
def test_an_open_type_accepts_its_widths_and_the_unknown_accepts_nothing(
    promised: str, actual: str, accepted: bool
) -> None:
    assert Type(Kind(promised)).accepts(Type(Kind(actual))) is accepted


def test_a_decimal_without_arguments_accepts_every_decimal() -> None:
    assert Type(Kind.DECIMAL).accepts(Type(Kind.DECIMAL, (10, 2)))
    assert not Type(Kind.DECIMAL, (10, 2)).accepts(Type(Kind.DECIMAL, (12, 2)))


@pytest.mark.parametrize(
    ("old", "new", "widens"),
    [
        (INT, LONG, True),
        (LONG, INT, False),
        (Type(Kind.FLOAT), Type(Kind.DOUBLE), True),
        (Type(Kind.DECIMAL, (10, 2)), Type(Kind.DECIMAL, (12, 2)), True),
        (Type(Kind.DECIMAL, (10, 2)), Type(Kind.DECIMAL, (12, 3)), False),
        (INT, STRING, False),
    ],
)
def test_only_what_iceberg_promotes_is_a_widening(old: Type, new: Type, widens: bool) -> None:
    assert old.widens_to(new) is widens


def one(old: Column, new: Column) -> list[str]:
    return [change.id for change in diff([old], [new])]


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        ({"type": LONG}, ["type-widened"]),
        ({"type": STRING}, ["type-changed"]),
        ({"required": True}, ["column-became-required"]),
        ({"unique": True}, ["uniqueness-added"]),
        ({"primary_key": True}, ["key-added"]),
        ({"classes": (FieldClass.PII,)}, ["classification-strengthened"]),
        ({"description": "x"}, ["description-changed"]),
        ({"physical_name": "x"}, ["column-physical-name-changed"]),
        ({"physical_type": "INT"}, ["type-respelt"]),
        ({"limits": (("maximum", 5),)}, ["limit-added"]),
        ({"name": "y"}, ["column-removed", "column-added-optional"]),
        ({"name": "y", "required": True}, ["column-removed", "column-added-required"]),
    ],
)
def test_every_difference_has_its_class(change: dict[str, object], ids: list[str]) -> None:
    assert one(Column("id", INT), Column(**{"name": "id", "type": INT, **change})) == ids  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "old", "new", "change"),
    [
        ("maxLength", 10, 5, "limit-tightened"),
        ("maxLength", 5, 10, "limit-loosened"),
        ("minimum", 0, 1, "limit-tightened"),
        ("enum", ("a", "b"), ("a",), "limit-tightened"),
        ("enum", ("a",), ("a", "b"), "limit-loosened"),
        ("enum", ("a",), ("b",), "limit-changed"),
        ("pattern", "a+", "a*", "limit-changed"),
        ("minimum", 1, "1", "limit-changed"),
        ("pattern", "a", None, "limit-removed"),
    ],
)
def test_limits_have_a_direction(name: str, old: object, new: object, change: str) -> None:
    before = Column("id", STRING, limits=((name, old),))
    after = Column("id", STRING, limits=((name, new),) if new is not None else ())
    assert one(before, after) == [change]


def test_dropping_one_of_several_classes_weakens_and_swapping_neither() -> None:
    def column(*classes: FieldClass) -> Column:
        return Column("id", STRING, classes=classes)

    assert one(column(FieldClass.PII, FieldClass.PHI), column(FieldClass.PII)) == ["classification-weakened"]
    assert one(column(FieldClass.PII), column(FieldClass.PHI)) == ["classification-changed"]
    assert one(column(FieldClass.PII), column(FieldClass.RESTRICTED)) == ["classification-strengthened"]


def test_fields_inside_columns_are_compared_by_path() -> None:
    old = Column("address", Type(Kind.OBJECT), fields=(Column("street", STRING), Column("zip", STRING)))
    new = Column("address", Type(Kind.OBJECT), fields=(Column("street", INT),))
    assert [(change.id, change.where) for change in diff([old], [new])] == [
        ("type-changed", "address.street"),
        ("column-removed", "address.zip"),
    ]


def test_paths_read_as_people_write_them() -> None:
    column = Column(
        "tags", Type(Kind.ARRAY), fields=(Column("[]", Type(Kind.OBJECT), fields=(Column("k", STRING),)),)
    )
    assert [dotted(path) for path, _ in walk([column])] == ["tags", "tags[]", "tags[].k"]


@given(COLUMNS)
def test_nothing_differs_from_itself(columns: list[Column]) -> None:
    assert diff(columns, columns[::-1]) == []


@given(COLUMNS, COLUMNS)
def test_a_diff_is_empty_only_for_equal_columns(old: list[Column], new: list[Column]) -> None:
    def by_name(columns: list[Column]) -> dict[str, Column]:
        return {column.name: column for column in columns}

    if not diff(old, new):
        for name, column in by_name(old).items():
            same = by_name(new)[name]
            assert (column.type, column.required, column.unique) == (same.type, same.required, same.unique)
            assert set(column.classes) == set(same.classes)
    else:
        assert by_name(old) != by_name(new)


@given(COLUMNS, COLUMNS)
def test_both_directions_see_the_same_places(old: list[Column], new: list[Column]) -> None:
    def places(changes: list[Change]) -> list[tuple[str, ...]]:
        return sorted(change.path for change in changes)

    assert places(diff(old, new)) == places(diff(new, old))


@given(CLASSES, CLASSES, CLASSES)
def test_classes_are_ordered_as_sets(
    one: tuple[FieldClass, ...], two: tuple[FieldClass, ...], three: tuple[FieldClass, ...]
) -> None:
    order = Cover()
    assert order.holds(one, one)
    assert order.holds(order.join(one, two), one)
    assert order.holds(order.join(one, two), two)
    if order.holds(one, two) and order.holds(two, three):
        assert order.holds(one, three)
