"""The file of a staging catalog: an Iceberg catalog in SQLite, what it began with, and all that was ever in it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from floe_core.findings import Finding, FloeError, Place
from floe_iceberg.jdbc import TABLES
from floe_iceberg.metadata import Metadata
from floe_iceberg.publication import Pointer, RelationKind

PATIENCE = 10  # seconds that one connection waits for another

NOTES = """
CREATE TABLE floe_begun (namespace TEXT, name TEXT, kind TEXT, location TEXT, copy TEXT, metadata TEXT);
CREATE TABLE floe_written (namespace TEXT, name TEXT, kind TEXT, location TEXT);
"""
SEEN = "(new.table_namespace, new.table_name, coalesce(new.iceberg_type, 'TABLE'), new.metadata_location)"
WATCH = f"""
CREATE TRIGGER floe_made AFTER INSERT ON iceberg_tables BEGIN INSERT INTO floe_written VALUES {SEEN}; END;
CREATE TRIGGER floe_moved AFTER UPDATE ON iceberg_tables BEGIN INSERT INTO floe_written VALUES {SEEN}; END;
"""  # noqa: S608 - both are constants


@dataclass(frozen=True, slots=True)
class Begun:
    """A relation as a run found it: the consumers' own pointer, and the copy that the run builds on instead."""

    pointer: Pointer
    copy: str
    metadata: Metadata  # the consumers' own

    @property
    def uuid(self) -> str:
        return str(self.metadata.get(f"{self.pointer.kind}-uuid", ""))  # old tables of version 1 may have none

    @property
    def snapshots(self) -> set[int]:
        return {snapshot["snapshot-id"] for snapshot in self.metadata.get("snapshots", ())}


class StagingFile:
    """`staging.db` of one run. Its pointers are read and written by Spark meanwhile."""

    def __init__(self, path: Path, catalog: str) -> None:
        self.path, self.catalog = path, catalog

    def make(self) -> None:
        """Make the file: it is there as a whole, or not at all."""
        new = self.path.with_suffix(".new")
        with _readable(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(new, timeout=PATIENCE)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
                connection.executescript(";".join(TABLES) + ";" + NOTES)
            new.replace(self.path)

    def announce(self, begun: Iterable[Begun]) -> None:
        """Write down which copies are about to be made, so that none is ever forgotten."""
        rows = [
            (*_row(item.pointer), item.pointer.location, item.copy, json.dumps(item.metadata)) for item in begun
        ]
        with self._write() as connection:
            connection.executemany("INSERT INTO floe_begun VALUES (?, ?, ?, ?, ?, ?)", rows)

    def fill(self, begun: Iterable[Begun], namespaces: Iterable[tuple[str, ...]]) -> None:
        """Point at the copies; from here on every pointer is written down."""
        tables = [(self.catalog, *_row(item.pointer)[:2], item.copy, item.pointer.kind.upper()) for item in begun]
        spaces = [(self.catalog, ".".join(parts)) for parts in namespaces]
        with self._write() as connection:
            connection.executemany("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL, ?)", tables)
            connection.executemany(
                "INSERT INTO iceberg_namespace_properties VALUES (?, ?, 'exists', 'true')", spaces
            )
            connection.executescript(WATCH)  # commits, then watches

    def write_down(self, pointers: Iterable[Pointer]) -> None:
        """Files that floe itself is about to write for this run."""
        rows = [(*_row(item), item.location) for item in pointers]
        with self._write() as connection:
            connection.executemany("INSERT INTO floe_written VALUES (?, ?, ?, ?)", rows)

    def begun(self) -> list[Begun]:
        rows = self._read("SELECT namespace, name, kind, location, copy, metadata FROM floe_begun")
        return [Begun(_pointer(*row[:4]), row[4], json.loads(row[5])) for row in rows]

    def pointer(self, identifier: tuple[str, ...]) -> Pointer | None:
        """What the staging catalog says about one name now."""
        rows = self._read(
            "SELECT table_namespace, table_name, coalesce(iceberg_type, 'TABLE'), metadata_location"
            " FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
            self.catalog,
            ".".join(identifier[:-1]),
            identifier[-1],
        )
        return _pointer(*rows[0]) if rows else None

    def now(self) -> list[Pointer]:
        """What the staging catalog says now."""
        rows = self._read(
            "SELECT table_namespace, table_name, coalesce(iceberg_type, 'TABLE'), metadata_location"
            " FROM iceberg_tables WHERE catalog_name = ? ORDER BY 1, 2",
            self.catalog,
        )
        return [_pointer(*row) for row in rows]

    def written(self) -> list[Pointer]:
        """Every pointer that was ever in the catalog since it was filled, and those that floe made for this run."""
        rows = self._read("SELECT DISTINCT namespace, name, kind, location FROM floe_written")
        return [_pointer(*row) for row in rows]

    def _read(self, sql: str, *values: str) -> list[tuple[str, ...]]:
        with self._open() as connection:
            return connection.execute(sql, values).fetchall()

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection, connection:
            yield connection

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        with _readable(self.path), closing(sqlite3.connect(address, uri=True, timeout=PATIENCE)) as connection:
            yield connection


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as exc:
        raise FloeError(Finding("FLOE-E733", f"{path}: {exc}", Place(str(path)))) from exc


def _row(pointer: Pointer) -> tuple[str, str, str]:
    return ".".join(pointer.namespace), pointer.name, pointer.kind.upper()


def _pointer(namespace: str, name: str, kind: str, location: str) -> Pointer:
    return Pointer(tuple(namespace.split(".")), name, RelationKind(kind.lower()), location)
