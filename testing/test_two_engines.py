"""One catalog, Spark and PyIceberg on it at the same time: nobody fails, nothing is lost, both see everything."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from floe_catalog_rest import RestCatalogPlugin
from floe_catalog_sql import SqlCatalogPlugin
from floe_core.identity import ContractMetadata
from floe_iceberg import IcebergCatalogPlugin
from floe_spark.session import SparkCatalog, start_engine
from floe_spark.settings import SparkSettings
from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.postgres import postgres

AnyCatalog = IcebergCatalogPlugin[Any]
ROOT = Path(__file__).resolve().parents[1]
NAMESPACE = ("sales", "orders")
EACH = 6  # rows that each engine adds, one by one
QUICK = SparkSettings(conf={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})

pytestmark = [
    pytest.mark.service,
    pytest.mark.filterwarnings("ignore:unclosed .socket:ResourceWarning"),  # pyspark leaves them to the collector
]


@contextmanager
def sqlite(folder: Path) -> Iterator[AnyCatalog]:
    yield SqlCatalogPlugin({}, folder / ".floe")


@contextmanager
def in_postgres(folder: Path) -> Iterator[AnyCatalog]:
    with postgres() as server:
        config = {"uri": server.uri, "password": server.password, "warehouse": str(folder / "warehouse")}
        yield SqlCatalogPlugin(config, folder / ".floe")


@contextmanager
def rest(folder: Path) -> Iterator[AnyCatalog]:
    with iceberg_rest(folder / "server") as uri:
        yield RestCatalogPlugin({"uri": uri, "timeout": "7s"}, folder / ".floe")


CATALOGS = {"sqlite": sqlite, "postgres": in_postgres, "rest": rest}


def append(plugin: AnyCatalog) -> None:
    """Rows by PyIceberg, each in a snapshot of its own."""
    with plugin.open() as catalog:
        for number in range(EACH):
            rows = pa.table({"id": pa.array([number], pa.int64()), "who": ["python"]})
            catalog.load_table((*NAMESPACE, "shared")).append(rows)


def register(plugin: AnyCatalog) -> list[str]:
    """Products and contracts beside them, as compiles of other teams do."""
    about = ContractMetadata("a@acme.com", document_hash="d1")
    return [
        status
        for number in range(EACH)
        for status in (
            plugin.register_product_identity(f"finance.p{number}", "github.com/acme/x", "a").status,
            plugin.register_contract(f"finance.p{number}", "c", "1.0.0", "s1", about).status,
        )
    ]


@pytest.mark.parametrize("kind", CATALOGS)
def test_both_write_at_the_same_time_and_nothing_is_lost(tmp_path: Path, kind: str) -> None:
    """In a process of its own: another test of this one may have a Spark session open."""
    (probe := tmp_path / "probe").mkdir()
    with required(), CATALOGS[kind](probe):
        pass  # the service can be had
    command = [sys.executable, "-m", "testing.test_two_engines", kind, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
    assert done.returncode == 0, done.stdout


def both_write(tmp_path: Path, kind: str) -> None:
    """Rows of one table by both, tables by Spark, and registrations meanwhile."""
    with required(), CATALOGS[kind](tmp_path) as plugin, ThreadPoolExecutor(2) as pool:
        plugin.prepare()
        plugin.register_product_identity("sales.orders", "github.com/acme/x", "a")
        catalog = SparkCatalog(plugin.name, plugin.spark_conf(), ".".join(NAMESPACE), plugin.jars)
        with start_engine(catalog, tmp_path / "work", QUICK) as engine:
            spark = engine.session()
            spark.sql("create table shared (id bigint, who string) using iceberg")
            appended, registered = pool.submit(append, plugin), pool.submit(register, plugin)
            for number in range(EACH):
                spark.sql("insert into shared values (:number, 'spark')", {"number": number})
                spark.sql(f"create table made_{number} using iceberg as select {number} as id")
            appended.result()
            assert registered.result() == ["created"] * 2 * EACH
            by_spark = sorted((row.id, row.who) for row in spark.table("shared").collect())
            tables = sorted(row.tableName for row in spark.sql("show tables in sales.orders").collect())
        with plugin.open() as client:
            rows = client.load_table((*NAMESPACE, "shared")).scan().to_arrow().to_pylist()
            assert sorted(name[-1] for name in client.list_tables(NAMESPACE)) == tables
        assert [plugin.verify_product(product.id) for product in plugin.list_products()] == [[]] * (EACH + 1)
    assert by_spark == [(number, who) for number in range(EACH) for who in ("python", "spark")]
    assert sorted((row["id"], row["who"]) for row in rows) == by_spark
    assert tables == [*(f"made_{number}" for number in range(EACH)), "shared"]


if __name__ == "__main__":
    both_write(Path(sys.argv[2]), sys.argv[1])
