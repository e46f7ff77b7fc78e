"""How Spark and PyIceberg open a staging catalog: its own file, the storage of the real one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floe_core.namespaces import Namespace
from floe_iceberg import IcebergCatalogPlugin
from floe_spark.session import SparkCatalog
from floe_spark.staging.database import PATIENCE

# What of the real catalog's settings is about files and tables, and not about the catalog's own service.
STORAGE = ("io-impl", "s3.", "gcs.", "adls.", "client.", "http-client.", "table-default.", "table-override.")

ANY_STORAGE = "org.apache.iceberg.io.ResolvingFileIO"

Plugin = IcebergCatalogPlugin[Any]


def settings_of(plugin: Plugin) -> dict[str, str]:
    """Everything that the real catalog's client goes by, with what its service adds."""
    with plugin.open() as catalog:
        return dict(catalog.properties)


def spark_catalog(
    plugin: Plugin, settings: dict[str, str], database: Path, warehouse: str, namespace: Namespace
) -> SparkCatalog:
    """The staging catalog under the real one's name; whatever else the plugin tells Spark stays."""
    at = f"spark.sql.catalog.{plugin.name}"
    conf = {key: value for key, value in plugin.spark_conf().items() if not f"{key}.".startswith(f"{at}.")}
    staging = {
        **storage(settings),
        **storage(plugin.catalog_conf()),
        **(
            {} if plugin.warehouse else {"io-impl": ANY_STORAGE}
        ),  # views stay here, tables go where the service says
        "type": "jdbc",
        "uri": f"jdbc:sqlite:{database}?journal_mode=WAL&busy_timeout={PATIENCE * 1000}",
        "warehouse": warehouse,
        "jdbc.schema-version": "V1",
        "jdbc.strict-mode": "true",
    }
    conf |= {at: "org.apache.iceberg.spark.SparkCatalog", **{f"{at}.{key}": staging[key] for key in staging}}
    return SparkCatalog(plugin.name, conf, str(namespace), plugin.jars)


def client_properties(settings: dict[str, str], database: Path, warehouse: str) -> dict[str, str]:
    """The same for PyIceberg's SqlCatalog."""
    files = {key: value for key, value in settings.items() if key == "py-io-impl"} | storage(settings)
    uri = f"sqlite:///{database}?timeout={PATIENCE}"
    return {**files, "uri": uri, "warehouse": warehouse, "init_catalog_tables": "false"}


def storage(settings: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in settings.items() if key.startswith(STORAGE)}
