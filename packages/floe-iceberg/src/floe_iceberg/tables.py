"""What stands in a product's namespaces, read back through PyIceberg."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError
from pyiceberg.table import Table

from floe_core.namespaces import Namespace


@dataclass(frozen=True, slots=True)
class TableSize:
    """A table of a product: how many rows it has, and how much of its history is there."""

    name: str
    rows: int
    snapshots: int


def sizes_of(catalog: Catalog, namespace: Namespace) -> list[TableSize]:
    """Every table of a product with its rows: exact, from metadata unless delete files make it scan."""
    return [
        TableSize(".".join(table.name()), table.scan().count(), len(table.metadata.snapshots))
        for table in tables_of(catalog, namespace)
    ]


class IcebergTableManager:
    """The tables of one open catalog, by their full names."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def table_exists(self, name: str | tuple[str, ...]) -> bool:
        """Whether there is such a table; a namespace that is not there has none."""
        try:
            return bool(self.catalog.table_exists(name))
        except NoSuchNamespaceError:
            return False

    def load_table(self, name: str | tuple[str, ...]) -> Table:
        """The table; raises NoSuchTableError."""
        return self.catalog.load_table(name)


def tables_of(catalog: Catalog, namespace: Namespace) -> Iterator[Table]:
    """The tables of a product, layer by layer."""
    for parts in namespaces_of(catalog, namespace):
        for identifier in sorted(catalog.list_tables(parts)):
            yield catalog.load_table(identifier)


def namespaces_of(catalog: Catalog, namespace: Namespace) -> list[tuple[str, ...]]:
    """The product's namespace and those of its layers, as far as they exist."""
    above = namespace.parts if namespace.nested else ()
    try:
        found = {namespace.parts, *catalog.list_namespaces(above)}
    except NoSuchNamespaceError:
        return []
    return sorted(parts for parts in found if namespace.holds(parts) and catalog.namespace_exists(parts))
