"""Classified columns carry their classes in the table: as properties, and in their comments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from floe_core.artifacts import CompiledModel
from floe_core.namespaces import Namespace
from floe_spark.marking import mark_tables

SHOP = Namespace("sales", "shop")
NAME = ("sales", "shop", "gold", "people")
COLUMNS = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "Email", StringType(), required=False, doc="Where we write to."),
    NestedField(3, "phone", StringType(), required=False),
)


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    where = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}
    with load_catalog("floe", type="sql", **where) as opened:
        opened.create_namespace(NAME[:-1])
        opened.create_table(NAME, COLUMNS, properties={"write.format.default": "parquet"})
        yield opened


def model(name: str = "people", materialization: str = "table") -> CompiledModel:
    return CompiledModel(
        name=name,
        layer="gold",
        namespace="sales.shop.gold",
        table=name,
        materialization=materialization,
        path=f"models/{name}.sql",
    )


def marks(catalog: Catalog) -> tuple[dict[str, str], dict[str, str | None]]:
    table = catalog.load_table(NAME)
    kept = {key: value for key, value in table.properties.items() if key != "write.format.default"}
    return kept, {field.name: field.doc for field in table.schema().fields}


def test_classes_are_properties_and_part_of_the_comment(catalog: Catalog) -> None:
    classes = {"people": {"email": ("pii",), "phone": ("pii", "confidential")}}
    assert mark_tables(catalog, SHOP, [model()], classes) == ["sales.shop.gold.people"]
    assert marks(catalog) == (
        {"floe.classification.Email": "pii", "floe.classification.phone": "pii, confidential"},
        {"id": None, "Email": "Where we write to. [classified: pii]", "phone": "[classified: pii, confidential]"},
    )


def test_marks_that_are_right_are_not_written_again(catalog: Catalog) -> None:
    classes = {"people": {"email": ("pii",)}}
    mark_tables(catalog, SHOP, [model()], classes)
    before = catalog.load_table(NAME).metadata_location
    assert mark_tables(catalog, SHOP, [model()], classes) == []
    assert catalog.load_table(NAME).metadata_location == before


def test_a_class_that_is_gone_takes_its_marks_along(catalog: Catalog) -> None:
    mark_tables(catalog, SHOP, [model()], {"people": {"email": ("pii",), "phone": ("phi",)}})
    assert mark_tables(catalog, SHOP, [model()], {"people": {"phone": ("pii",)}}) == ["sales.shop.gold.people"]
    properties, docs = marks(catalog)
    assert properties == {"floe.classification.phone": "pii"}
    assert docs == {"id": None, "Email": "Where we write to.", "phone": "[classified: pii]"}


def test_views_and_tables_that_are_not_there_are_passed_over(catalog: Catalog) -> None:
    classes = {"people": {"email": ("pii",)}, "absent": {"email": ("pii",)}}
    assert mark_tables(catalog, SHOP, [model(materialization="view"), model("absent")], classes) == []
