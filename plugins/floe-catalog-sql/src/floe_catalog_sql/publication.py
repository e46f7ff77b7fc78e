"""Pointers of tables and views in a SQL catalog: read in one query, moved in one transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Engine, bindparam, text

from floe_iceberg.publication import Change, Pointer, RelationKind

SELECT = text(
    "SELECT table_namespace, table_name, coalesce(iceberg_type, 'TABLE'), metadata_location FROM iceberg_tables"
    " WHERE catalog_name = :catalog AND table_namespace IN :namespaces ORDER BY table_namespace, table_name"
).bindparams(bindparam("namespaces", expanding=True))

# As PyIceberg and Java make a namespace that has no other property.
MAKE_NAMESPACE = text(
    "INSERT INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value)"
    " VALUES (:catalog, :namespace, 'exists', 'true') ON CONFLICT DO NOTHING"
)
INSERT = text(
    "INSERT INTO iceberg_tables"
    " (catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location, iceberg_type)"
    " VALUES (:catalog, :namespace, :name, :after, NULL, :kind) ON CONFLICT DO NOTHING"
)
MOVE = text(
    "UPDATE iceberg_tables SET metadata_location = :after, previous_metadata_location = :before,"
    " iceberg_type = :kind WHERE catalog_name = :catalog AND table_namespace = :namespace AND table_name = :name"
    " AND metadata_location = :before AND coalesce(iceberg_type, 'TABLE') = :kind_before"
)


class Moved(Exception):  # noqa: N818 - control flow: it undoes the transaction
    """Some pointers are no longer where the run found them."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.changes = changes


def read_pointers(engine: Engine, catalog: str, namespaces: Sequence[tuple[str, ...]]) -> list[Pointer]:
    """Every table and view of these namespaces."""
    if not namespaces:
        return []
    asked = {"catalog": catalog, "namespaces": [".".join(parts) for parts in namespaces]}
    with engine.connect() as connection:
        return [
            Pointer(tuple(row[0].split(".")), row[1], RelationKind(row[2].lower()), row[3])
            for row in connection.execute(SELECT, asked)
        ]


def move_pointers(engine: Engine, catalog: str, changes: Sequence[Change]) -> None:
    """Move all of them, or raise Moved and move none. Nothing is read first: SQLite's lock is taken by a write."""
    with engine.begin() as connection:
        for namespace in sorted({change.after.namespace for change in changes if change.is_new}):
            connection.execute(MAKE_NAMESPACE, {"catalog": catalog, "namespace": ".".join(namespace)})
        if late := [change for change in changes if not _move(connection, catalog, change)]:
            raise Moved(late)


def _move(connection: Connection, catalog: str, change: Change) -> bool:
    """Whether the pointer was where the run found it."""
    row = {
        "catalog": catalog,
        "namespace": ".".join(change.after.namespace),
        "name": change.after.name,
        "after": change.after.location,
        "kind": change.after.kind.upper(),
    }
    if change.before is None:
        return connection.execute(INSERT, row).rowcount == 1
    row |= {"before": change.before.location, "kind_before": change.before.kind.upper()}
    return connection.execute(MOVE, row).rowcount == 1
