"""The catalog `sql`: PyIceberg's SqlCatalog and Java's JdbcCatalog on one SQLite file or PostgreSQL database."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import SQLAlchemyError

from floe_catalog_sql.config import FILE, SQLITE, SqlConfig
from floe_catalog_sql.publication import Moved, move_pointers, read_pointers
from floe_core.catalog import Capabilities, Jar
from floe_core.findings import Finding, FloeError, Place
from floe_iceberg import IcebergCatalogPlugin
from floe_iceberg.conflicts import conflict
from floe_iceberg.jdbc import TABLES
from floe_iceberg.publication import Change, Pointer

PATIENCE = 10  # seconds that a writer waits for another one, and a query for its answer
LOCKED = "database is locked"  # SQLite's words for that: true, and no help
CONNECT = 4  # seconds until PostgreSQL must have taken the connection

POSTGRES_JDBC = Jar(
    "org.postgresql:postgresql:42.7.8",
    sha256="2a32a9dcbc42d67a50ad3a0de5efd102c8d2be46720045f2cbd6689f160ab7c7",
    size=1_116_727,
)

THERE = (
    "SELECT to_regclass('iceberg_tables') IS NOT NULL AND to_regclass('iceberg_namespace_properties') IS NOT NULL"
)
ALONE = "SELECT pg_advisory_xact_lock(hashtext('floe.catalog'))"


def _make_tables(database: Path) -> None:
    """SQLite does not wait for the lock that switching to WAL takes, so a new file is made in private first."""
    with closing(sqlite3.connect(database, timeout=PATIENCE)) as connection:
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode=WAL")  # readers and one writer at the same time; it stays set
        connection.executescript(";".join(TABLES))


class SqlCatalogPlugin(IcebergCatalogPlugin[SqlConfig]):
    """An Iceberg catalog in a SQLite file, or in a PostgreSQL database that a team shares."""

    api_version: ClassVar[int] = 1
    Config = SqlConfig
    capabilities = Capabilities(nested_namespaces=True, atomic_commit=True, property_value_limit=1000)
    errors = (SQLAlchemyError, sqlite3.Error)

    def __init__(self, config: Mapping[str, Any], home: Path) -> None:
        super().__init__(config, home)
        if self.config.is_postgres:
            self.jars = (POSTGRES_JDBC,)
        self._is_prepared = False

    @property
    def database(self) -> Path:
        """The SQLite file; a relative path starts beside the manifest."""
        written = (self.config.uri or "").removeprefix(SQLITE)
        return (self.home.parent / written if written else self.home / "catalog.db").absolute()

    @property
    def address(self) -> URL:
        """The PostgreSQL database, with its password."""
        written = make_url(self.config.uri or "").set(drivername="postgresql+psycopg")
        return written.set(password=self.config.password.get_secret_value()) if self.config.password else written

    @property
    def warehouse(self) -> str:
        written = self.config.warehouse or ""
        if "://" in written and not written.startswith(FILE):
            return written
        folder = written.removeprefix(FILE)
        return (self.home.parent / folder if folder else self.home / "warehouse").absolute().as_uri()

    @property
    def is_local(self) -> bool:
        return self.config.uri is None

    def reason(self, exc: Exception) -> str:
        said = super().reason(exc)
        return f"another program has kept it locked for {PATIENCE} s" if LOCKED in said else said

    def is_made(self) -> bool:
        return self.config.is_postgres or self.database.exists()

    def prepare(self) -> None:
        """Make the folders and the tables, so that any number of clients can start at once."""
        if self._is_prepared:
            return
        if self.warehouse.startswith(FILE):
            Path(self.warehouse.removeprefix(FILE)).mkdir(parents=True, exist_ok=True)
        if self.config.is_postgres:
            self._prepare_postgres()
        else:
            self._prepare_sqlite()
        self._is_prepared = True

    def _prepare_sqlite(self) -> None:
        self.database.parent.mkdir(parents=True, exist_ok=True)
        if self.database.exists():
            _make_tables(self.database)
            return
        with tempfile.TemporaryDirectory(prefix=".new-", dir=self.database.parent) as folder:
            new = Path(folder) / self.database.name
            _make_tables(new)
            with suppress(FileExistsError):  # somebody was faster, with the same content
                self.database.hardlink_to(new)

    def _prepare_postgres(self) -> None:
        try:
            engine = create_engine(self._limited())
        except ModuleNotFoundError as exc:
            message = f"catalog {self.name} ({self.describe()}) needs {exc.name}, which is not installed"
            fix = (
                "Install the extra, from where floe-catalog-sql came:  uv pip install 'floe-catalog-sql[postgres]'"
            )
            raise FloeError(Finding("FLOE-E801", message, Place("(catalog)"), fix=fix)) from exc
        try:
            with engine.begin() as connection:
                if connection.execute(text(THERE)).scalar():
                    return  # whoever only uses the catalog needs no right to create tables
                connection.execute(text(ALONE))
                for table in TABLES:
                    connection.execute(text(table))
        finally:
            engine.dispose()

    def _limited(self) -> URL:
        limits = {
            "connect_timeout": str(CONNECT),
            "tcp_user_timeout": str(PATIENCE * 1000),
            "options": f"-c statement_timeout={PATIENCE * 1000} -c lock_timeout={PATIENCE * 1000}",
        }
        return self.address.update_query_dict({**limits, **{k: str(v) for k, v in self.address.query.items()}})

    def client_properties(self) -> dict[str, str]:
        if self.config.is_postgres:
            uri = self._limited().render_as_string(hide_password=False)
        else:
            uri = f"{SQLITE}{self.database}?timeout={PATIENCE}"
        return {"type": "sql", "uri": uri, "warehouse": self.warehouse, "init_catalog_tables": "false"}

    def catalog_conf(self) -> dict[str, str]:
        if not self.config.is_postgres:
            where = {"uri": f"jdbc:sqlite:{self.database}?journal_mode=WAL&busy_timeout={PATIENCE * 1000}"}
        else:
            address = self.address
            host = f"{address.host}:{address.port}" if address.port else f"{address.host}"
            query = "&".join(f"{key}={value}" for key, value in address.query.items())
            where = {"uri": f"jdbc:postgresql://{host}/{address.database}{'?' if query else ''}{query}"}
            where |= {"jdbc.user": address.username} if address.username else {}
            where |= {"jdbc.password": str(address.password)} if address.password else {}
        return {
            "type": "jdbc",
            **where,
            "warehouse": self.warehouse,
            "jdbc.schema-version": "V1",
            "jdbc.strict-mode": "true",
        }

    def describe(self) -> str:
        if self.config.is_postgres:
            address = self.address
            return f"postgresql {address.host}{f':{address.port}' if address.port else ''}/{address.database}"
        return f"sqlite {self.database}"

    def pointers(self, namespaces: Sequence[tuple[str, ...]]) -> list[Pointer]:
        if not self.is_made():
            return []
        with self._engine() as engine:
            return read_pointers(engine, self.name, namespaces)

    def publish(self, changes: Sequence[Change], journal: Path) -> None:
        """All of them in one transaction, or none; the journal is for catalogs that cannot."""
        del journal
        with self._engine() as engine:
            try:
                move_pointers(engine, self.name, changes)
            except Moved as exc:
                namespaces = list({change.after.namespace for change in exc.changes})
                found = {item.identifier: item for item in read_pointers(engine, self.name, namespaces)}
                late = [(change, found.get(change.after.identifier)) for change in exc.changes]
                raise conflict(late, self.client_properties()) from exc

    @contextmanager
    def _engine(self) -> Iterator[Engine]:
        """The database itself; whatever keeps it from working is FLOE-E807."""
        try:
            self.prepare()
            engine = create_engine(self.client_properties()["uri"])
            try:
                yield engine
            finally:
                engine.dispose()
        except (OSError, *self.errors) as exc:
            raise self._unwell(exc) from exc
