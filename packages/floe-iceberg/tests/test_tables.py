"""What is read back from a product's namespaces: its own tables, with exact rows, and nothing of its neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from floe_core.namespaces import Namespace
from floe_iceberg import IcebergTableManager, TableSize, sizes_of

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))
ORDERS = Namespace("sales", "orders")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with load_catalog("floe", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=tmp_path.as_uri()) as opened:
        yield opened


def fill(catalog: Catalog, name: str, *batches: int) -> None:
    catalog.create_namespace_if_not_exists(name.rpartition(".")[0])
    table = catalog.create_table(name, SCHEMA)
    for rows in batches:
        table.append(pa.table({"id": pa.array(range(rows), pa.int64())}))


def test_a_products_tables_come_layer_by_layer_with_rows_and_history(catalog: Catalog) -> None:
    fill(catalog, "sales.orders.gold.gold_orders", 2, 3)
    fill(catalog, "sales.orders.bronze.bronze_orders", 7)
    fill(catalog, "sales.orders.plain")
    fill(catalog, "sales.orders_archive.gold.gold_old", 1)
    fill(catalog, "sales.customers.gold.gold_customers", 1)
    assert sizes_of(catalog, ORDERS) == [
        TableSize("sales.orders.plain", 0, 0),
        TableSize("sales.orders.bronze.bronze_orders", 7, 1),
        TableSize("sales.orders.gold.gold_orders", 5, 2),
    ]


def test_rows_that_were_deleted_do_not_count(catalog: Catalog) -> None:
    fill(catalog, "sales.orders.gold.gold_orders", 10)
    catalog.load_table("sales.orders.gold.gold_orders").delete("id >= 4")
    [size] = sizes_of(catalog, ORDERS)
    assert size.rows == 4


def test_a_flat_catalog_keeps_layers_beside_each_other(catalog: Catalog) -> None:
    fill(catalog, "sales__orders__gold.gold_orders", 3)
    fill(catalog, "sales__orders.plain", 1)
    fill(catalog, "sales__orders2__gold.gold_orders", 1)
    assert sizes_of(catalog, Namespace("sales", "orders", nested=False)) == [
        TableSize("sales__orders.plain", 1, 1),
        TableSize("sales__orders__gold.gold_orders", 3, 1),
    ]


def test_a_product_that_never_ran_has_no_tables(catalog: Catalog) -> None:
    assert sizes_of(catalog, ORDERS) == []
    fill(catalog, "sales.customers.gold.gold_customers", 1)
    assert sizes_of(catalog, ORDERS) == []


def test_a_table_is_there_or_it_is_not(catalog: Catalog) -> None:
    tables = IcebergTableManager(catalog)
    assert tables.table_exists("sales.orders.gold.gold_orders") is False
    fill(catalog, "sales.orders.gold.gold_orders", 2)
    assert tables.table_exists("sales.orders.gold.gold_orders") is True
    assert tables.load_table(("sales", "orders", "gold", "gold_orders")).scan().count() == 2
    with pytest.raises(NoSuchTableError):
        tables.load_table("sales.orders.gold.nothing")
