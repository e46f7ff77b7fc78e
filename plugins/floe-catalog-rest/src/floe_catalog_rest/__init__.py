"""floe-catalog-rest: Iceberg REST catalogs, with a limit on every wait."""

from floe_catalog_rest.config import RestConfig
from floe_catalog_rest.plugin import RestCatalogPlugin

__version__ = "0.1.0"

__all__ = ["RestCatalogPlugin", "RestConfig", "__version__"]
