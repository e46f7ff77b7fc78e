"""A product on a real catalog, run in stagings of it on the one Spark session of the tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from floe_catalog_sql import SqlCatalogPlugin
from floe_core.findings import Place
from floe_core.namespaces import Namespace
from floe_iceberg.metadata import MetadataFiles
from floe_iceberg.publication import Change, Pointer
from floe_spark.staging import Staging

OWN = Namespace("sales", "web-shop")
OTHER = Namespace("hr", "people")
GOLD = ("sales", "web_shop", "gold")
PLACE = Place("floe.yaml")


@dataclass
class Lab:
    """The real catalog, and the runs on it."""

    home: Path
    spark: SparkSession | None = None  # only to run SQL in
    runs: list[Staging] = field(default_factory=list)

    @property
    def plugin(self) -> SqlCatalogPlugin:
        return SqlCatalogPlugin({}, self.home / ".floe")

    def stage(self, *, tables: Iterable[tuple[str, ...]] = (), namespaces: Iterable[Namespace] = ()) -> Staging:
        """A staging of the product, filled."""
        run_id = f"run-{len(self.runs)}"
        folder = self.home / ".floe" / "runs" / "sales.web_shop" / run_id
        staging = Staging(self.plugin, OWN, folder, run_id, PLACE)
        self.runs.append(staging)
        staging.fill(tables, namespaces)
        return staging

    def session(self, staging: Staging) -> SparkSession:
        """A session of its own in the same Spark: sessions share no catalogs."""
        assert self.spark
        session = self.spark.newSession()
        catalog = staging.spark_catalog
        for key, value in catalog.conf.items():
            session.conf.set(key, value)
        session.conf.set(f"spark.sql.catalog.{catalog.name}.default-namespace", str(OWN))
        session.sql("create namespace if not exists sales.web_shop.gold")
        session.sql("use sales.web_shop.gold")
        return session

    def run(self, *statements: str, **reads: Any) -> Staging:
        """What dbt would do: SQL in a staging. Nothing is published."""
        staging = self.stage(**reads)
        session = self.session(staging)
        for statement in statements:
            session.sql(statement)
        return staging

    def publish(self, staging: Staging) -> list[Change]:
        changes = staging.publishable()
        self.plugin.publish(changes, staging.folder / "journal.json")
        return changes

    def built(self, *statements: str, **reads: Any) -> list[Change]:
        """A whole run, from staging to what it leaves behind."""
        staging = self.run(*statements, **reads)
        changes = self.publish(staging)
        staging.clean()
        return changes

    def pointers(self, *namespaces: tuple[str, ...]) -> list[Pointer]:
        return self.plugin.pointers(namespaces or (GOLD,))

    def rows(self, name: str, snapshot_id: int | None = None) -> list[Any]:
        """What a consumer reads with PyIceberg."""
        with self.plugin.open() as catalog:
            table = catalog.load_table((*GOLD, name))
            return sorted(table.scan(snapshot_id=snapshot_id).to_arrow().column("id").to_pylist())

    def history(self, name: str) -> tuple[str, list[int]]:
        """The table's identity and its snapshots, oldest first."""
        with self.plugin.open() as catalog:
            metadata = catalog.load_table((*GOLD, name)).metadata
            ordered = sorted(metadata.snapshots, key=lambda item: item.sequence_number or 0)
            return str(metadata.table_uuid), [item.snapshot_id for item in ordered]

    def metadata(self, location: str) -> dict[str, Any]:
        return MetadataFiles({}).read(location)

    def files(self) -> set[str]:
        """Everything in the warehouse, checksums of Hadoop apart."""
        warehouse = self.home / ".floe" / "warehouse"
        found = (path for path in warehouse.rglob("*") if path.is_file())
        return {str(path.relative_to(warehouse)) for path in found}
