"""The tables and views of an open catalog, as a publication finds and moves them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.io import load_file_io
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.table.update import TableRequirement, TableUpdate
from pyiceberg.typedef import IcebergBaseModel

from floe_iceberg.publication import Pointer, RelationKind
from floe_iceberg.registry import Registry
from floe_iceberg.updates import Json
from floe_iceberg.views import NewView, ViewChange

GZIP = b"\x1f\x8b"
REQUIREMENTS: TypeAdapter[tuple[TableRequirement, ...]] = TypeAdapter(tuple[TableRequirement, ...])
UPDATES: TypeAdapter[tuple[TableUpdate, ...]] = TypeAdapter(tuple[TableUpdate, ...])


@dataclass(frozen=True, slots=True)
class Found:
    """A relation as it stands in the catalog now."""

    pointer: Pointer
    metadata: Json


@dataclass(frozen=True, slots=True)
class Commit:
    """A conditional change of one table."""

    pointer: Pointer
    requirements: Sequence[Json]
    updates: Sequence[Json]


class Relations:
    """Tables only, one at a time, with PyIceberg's means. A plugin whose catalog can do more extends this."""

    has_transactions = False  # several tables in one commit

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    @property
    def has_views(self) -> bool:
        return False

    @property
    def catalog(self) -> Catalog:
        return self.registry.catalog

    def pointers(self, namespaces: Iterable[tuple[str, ...]]) -> list[Pointer]:
        """What stands in these namespaces; those that are not there hold nothing."""
        found = (self.find(*each) for namespace in namespaces for each in self.names(namespace))
        return [each.pointer for each in found if each]

    def names(self, namespace: tuple[str, ...]) -> list[tuple[tuple[str, ...], RelationKind]]:
        try:
            tables = self.registry.attempt(lambda: self.catalog.list_tables(namespace))
        except NoSuchNamespaceError:
            return []
        return [(tuple(identifier), RelationKind.TABLE) for identifier in sorted(tables)]

    def find(self, identifier: tuple[str, ...], kind: RelationKind) -> Found | None:
        """The relation of that name and kind, if there is one."""
        if kind is RelationKind.VIEW:
            return None
        try:
            table = self.registry.attempt(lambda: self.catalog.load_table(identifier))
        except (NoSuchTableError, NoSuchNamespaceError):
            return None
        return Found(_pointer(identifier, table), as_json(table.metadata))

    def read(self, location: str) -> Json:
        """A metadata file, as it is."""

        def once() -> bytes:
            with load_file_io(self.catalog.properties, location).new_input(location).open() as file:
                return bytes(file.read())

        content = self.registry.attempt(once)
        metadata: Json = json.loads(gzip.decompress(content) if content.startswith(GZIP) else content)
        return metadata

    def make_namespace(self, namespace: tuple[str, ...]) -> None:
        """With the levels above it, unless it is there."""
        for depth in range(1, len(namespace) + 1):
            level = namespace[:depth]
            if not self.registry.attempt(lambda level=level: self.catalog.namespace_exists(level)):  # type: ignore[misc]
                self.registry.make_namespace(level, {})

    def register(self, new: Pointer) -> None:
        """Make a table of this metadata file; a failure where there is one of that name."""
        self.catalog.register_table(new.identifier, new.location)

    def unregister(self, new: Pointer) -> None:
        """Forget a table; its files stay."""
        self.catalog.drop_table(new.identifier)

    def commit(self, change: Commit) -> None:
        """Change one table, if it still is what is required."""
        table = self.catalog.load_table(change.pointer.identifier)
        requirements = REQUIREMENTS.validate_python(change.requirements)
        self.catalog.commit_table(table, requirements, UPDATES.validate_python(change.updates))

    def commit_together(self, changes: Sequence[Commit]) -> bool:
        """Change all of these tables in one transaction; False: this catalog has none, and nothing happened."""
        del changes
        return False

    def put_view(self, pointer: Pointer, change: NewView | ViewChange) -> None:
        """Make a view, or make it another."""
        raise NotImplementedError


def as_json(metadata: TableMetadata) -> Json:
    """Metadata as PyIceberg writes it: the same for the same content."""
    writes = IcebergBaseModel.model_dump_json  # PyIceberg itself refuses to write the third format
    written: Json = json.loads(writes(metadata, by_alias=True, exclude_none=True))
    return written


def normal(metadata: Any) -> Json:
    """A metadata file in the same notation."""
    return as_json(TableMetadataUtil.parse_obj(dict(metadata)))


def _pointer(identifier: tuple[str, ...], table: Table) -> Pointer:
    return Pointer(identifier[:-1], identifier[-1], RelationKind.TABLE, table.metadata_location)
