"""floe-iceberg: Iceberg catalogs and tables, opened and read back; the base that catalog plugins extend."""

from floe_iceberg.locking import LockingCatalogPlugin, LockManager
from floe_iceberg.plugin import CatalogConfig, IcebergCatalogPlugin
from floe_iceberg.registry import Registry
from floe_iceberg.tables import IcebergTableManager, TableSize, sizes_of

__version__ = "0.1.0"

__all__ = [
    "CatalogConfig",
    "IcebergCatalogPlugin",
    "IcebergTableManager",
    "LockManager",
    "LockingCatalogPlugin",
    "Registry",
    "TableSize",
    "__version__",
    "sizes_of",
]
