"""New states of tables and views, made as a run makes them: in a private catalog over the same files.

Needs floe-iceberg and PyIceberg's SqlCatalog: `floe-testing[iceberg]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io import load_file_io
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.types import LongType, NestedField, StringType

from floe_iceberg import IcebergCatalogPlugin
from floe_iceberg.publication import Change, Pointer, RelationKind

STORAGE = ("s3.", "adls.", "gcs.", "hdfs.")  # properties that say how to get at files
SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))


class Staged:
    """What a run of a product is about to publish."""

    def __init__(self, catalog: SqlCatalog, plugin: IcebergCatalogPlugin[Any], files: str) -> None:
        self.catalog = catalog
        self.plugin = plugin
        self.files = files  # where new tables go, unless the plugin's catalog says where

    def new(self, identifier: tuple[str, ...], ids: Sequence[int] = (1,)) -> Change:
        """A table that is not there yet."""
        location = self.plugin.table_location(identifier[:-1], identifier[-1])
        self.catalog.create_namespace_if_not_exists(identifier[:-1])
        where = location or f"{self.files}/{'/'.join(identifier)}-{uuid4().hex[:8]}"
        table = self.catalog.create_table(identifier, SCHEMA, location=where)
        append(table, ids)
        return Change(None, self._pointer(identifier))

    def changed(self, before: Pointer, ids: Sequence[int] = (2,), column: str | None = None) -> Change:
        """More rows in a table that is there, and perhaps another column."""
        table = self._begin(before)
        if column:
            with table.update_schema() as update:
                update.add_column(column, StringType())
        append(table, ids)
        return Change(before, self._pointer(before.identifier))

    def described(self, before: Pointer, **properties: str) -> Change:
        """Other properties, and no new rows."""
        with self._begin(before).transaction() as transaction:
            transaction.set_properties(properties)
        return Change(before, self._pointer(before.identifier))

    def view(self, identifier: tuple[str, ...], query: str, before: Pointer | None = None) -> Change:
        """A view, new or another."""
        location = f"{self.files}/{'/'.join(identifier)}-{uuid4().hex[:8]}"
        file = f"{location}/metadata/00000.metadata.json"
        with load_file_io(self.catalog.properties, file).new_output(file).create() as stream:
            stream.write(json.dumps(_view(identifier, query, location)).encode())
        return Change(before, Pointer(identifier[:-1], identifier[-1], RelationKind.VIEW, file))

    def _begin(self, before: Pointer) -> Table:
        self.catalog.create_namespace_if_not_exists(before.namespace)
        if self.catalog.table_exists(before.identifier):
            self.catalog.drop_table(before.identifier)
        return self.catalog.register_table(before.identifier, before.location)

    def _pointer(self, identifier: tuple[str, ...]) -> Pointer:
        found = self.catalog.load_table(identifier)
        return Pointer(identifier[:-1], identifier[-1], RelationKind.TABLE, found.metadata_location)


@contextmanager
def staging(folder: Path, plugin: IcebergCatalogPlugin[Any]) -> Iterator[Staged]:
    """A private catalog in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    files = (folder / "files").as_uri()
    storage = {key: value for key, value in plugin.client_properties().items() if key.startswith(STORAGE)}
    catalog = SqlCatalog("staging", **storage, uri=f"sqlite:///{folder}/staging.db", warehouse=files)
    with catalog:
        yield Staged(catalog, plugin, plugin.warehouse or files)


def append(table: Table, ids: Sequence[int]) -> None:
    columns = {field.name: [None] * len(ids) for field in table.schema().fields} | {"id": list(ids)}
    table.append(pa.table(columns, schema=table.schema().as_arrow()))


def _view(identifier: tuple[str, ...], query: str, location: str) -> dict[str, Any]:
    version = {
        "version-id": 1,
        "schema-id": 0,
        "timestamp-ms": 1_700_000_000_000,
        "summary": {"engine-name": "spark"},
        "representations": [{"type": "sql", "sql": query, "dialect": "spark"}],
        "default-namespace": list(identifier[:-1]),
    }
    return {
        "view-uuid": str(uuid4()),
        "format-version": 1,
        "location": location,
        "schemas": [json.loads(SCHEMA.model_dump_json(by_alias=True, exclude_none=True))],
        "current-version-id": 1,
        "versions": [version],
        "version-log": [{"timestamp-ms": 1_700_000_000_000, "version-id": 1}],
        "properties": {"spark.query-column-names": "id"},
    }
