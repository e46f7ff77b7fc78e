"""Tables and views of a REST catalog: found with their metadata files, moved by its own conditional requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchViewError
from pyiceberg.typedef import Identifier

from floe_catalog_rest.commits import PublishingCatalog
from floe_iceberg.publication import Pointer, RelationKind
from floe_iceberg.relations import Commit, Found, Relations
from floe_iceberg.views import NewView, ViewChange


class RestRelations(Relations):
    """Several tables in one transaction where the service has it, and views."""

    has_transactions = True

    @property
    def has_views(self) -> bool:
        return self.service.has_views

    @property
    def service(self) -> PublishingCatalog:
        return cast("PublishingCatalog", self.catalog)

    def names(self, namespace: tuple[str, ...]) -> list[tuple[tuple[str, ...], RelationKind]]:
        def views() -> list[Identifier]:
            try:
                return self.catalog.list_views(namespace)
            except NoSuchNamespaceError:
                return []

        found = [(tuple(each), RelationKind.VIEW) for each in sorted(self.registry.attempt(views))]
        return super().names(namespace) + found

    def find(self, identifier: tuple[str, ...], kind: RelationKind) -> Found | None:
        if kind is RelationKind.TABLE:
            return super().find(identifier, kind)
        try:
            location, metadata = self.registry.attempt(lambda: self.service.read_view(identifier))
        except (NoSuchViewError, NoSuchNamespaceError):
            return None
        return Found(Pointer(identifier[:-1], identifier[-1], kind, location), metadata)

    def commit(self, change: Commit) -> None:
        self.service.commit_raw(change.pointer.identifier, change.requirements, change.updates)

    def commit_together(self, changes: Sequence[Commit]) -> bool:
        return self.service.commit_all(
            [(change.pointer.identifier, change.requirements, change.updates) for change in changes]
        )

    def put_view(self, pointer: Pointer, change: NewView | ViewChange) -> None:
        match change:
            case NewView():
                self.service.make_view(pointer.identifier, change)
            case ViewChange():
                self.service.change_view(pointer.identifier, change)
