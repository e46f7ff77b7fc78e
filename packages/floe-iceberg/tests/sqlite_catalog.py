"""A real catalog on SQLite, and a client that fails where a test says."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from pyiceberg.catalog import Catalog
from sqlalchemy.exc import SQLAlchemyError

from floe_core.catalog import Capabilities
from floe_core.identity import ProductMetadata, Retry
from floe_iceberg import CatalogConfig, IcebergCatalogPlugin

PRODUCT = "sales.customer_360"
HERE = "github.com/acme/sales-customer-360"
ELSEWHERE = "github.com/acme/other-repo"
AT = datetime(2026, 1, 3, 10, tzinfo=UTC)
NO_WAIT = Retry(initial_backoff=timedelta(0), max_backoff=timedelta(0))
ABOUT = ProductMetadata(
    "customer-360",
    "sales",
    "sales-analytics@acme.com",
    HERE,
    "1.2.3",
    AT,
    path="",
    domain_owner="sales-platform@acme.com",
)


TABLES = """
CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name TEXT, table_namespace TEXT, table_name TEXT, metadata_location TEXT,
    previous_metadata_location TEXT, iceberg_type TEXT, PRIMARY KEY (catalog_name, table_namespace, table_name)
);
CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name TEXT, namespace TEXT, property_key TEXT, property_value TEXT,
    PRIMARY KEY (catalog_name, namespace, property_key)
);
"""


@dataclass
class Calls:
    """What is asked of the client; `before` and `after` may raise."""

    names: list[str] = field(default_factory=list)
    before: Callable[[str], object] = str.strip  # nothing happens
    after: Callable[[str], object] = str.strip


def raising(method: str, error: Exception) -> Callable[[str], None]:
    """A hook that raises at one method."""

    def hook(name: str) -> None:
        if name == method:
            raise error

    return hook


class Watched:
    """PyIceberg's catalog, each call of which is reported."""

    def __init__(self, catalog: Catalog, calls: Calls) -> None:
        self._catalog, self._calls = catalog, calls

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._catalog, name)
        if not callable(method):
            return method

        def call(*args: Any, **kwargs: Any) -> Any:
            self._calls.names.append(name)
            self._calls.before(name)
            answer = method(*args, **kwargs)
            self._calls.after(name)
            return answer

        return call


class SqliteCatalog(IcebergCatalogPlugin[CatalogConfig]):
    """The least that a plugin can be."""

    api_version: ClassVar[int] = 1
    capabilities = Capabilities(property_value_limit=1000)
    errors = (SQLAlchemyError,)
    retry = NO_WAIT

    def __init__(self, home: Path, **capabilities: Any) -> None:
        super().__init__({}, home)
        self.calls = Calls()
        if capabilities:
            self.capabilities = replace(type(self).capabilities, **capabilities)  # type: ignore[misc]  # for a test

    def prepare(self) -> None:
        """Racers that make the tables of a new file themselves would trip over each other."""
        if (self.home / "catalog.db").exists():
            return
        with tempfile.TemporaryDirectory(dir=self.home) as folder:
            new = Path(folder) / "catalog.db"
            with closing(sqlite3.connect(new)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.executescript(TABLES)
            with suppress(FileExistsError):
                (self.home / "catalog.db").hardlink_to(new)

    def client_properties(self) -> dict[str, str]:
        return {
            "type": "sql",
            "uri": f"sqlite:///{self.home}/catalog.db?timeout=30",
            "warehouse": self.home.as_uri(),
        }

    def catalog_conf(self) -> dict[str, str]:
        return {}

    def describe(self) -> str:
        return f"sqlite {self.home}"

    @contextmanager
    def open(self) -> Iterator[Catalog]:
        with super().open() as catalog:
            yield Watched(catalog, self.calls)  # type: ignore[misc]  # as good as one

    @contextmanager
    def raw(self) -> Iterator[Catalog]:
        """The client as anybody has it who may write to the catalog."""
        with super().open() as catalog:
            yield catalog
