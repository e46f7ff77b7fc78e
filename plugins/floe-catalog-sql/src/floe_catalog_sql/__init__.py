"""floe-catalog-sql: Iceberg catalogs in SQL databases; SQLite without configuration."""

from floe_catalog_sql.config import SqlConfig
from floe_catalog_sql.plugin import SqlCatalogPlugin

__version__ = "0.1.0"

__all__ = ["SqlCatalogPlugin", "SqlConfig", "__version__"]
