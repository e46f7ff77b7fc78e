"""What a run publishes: the metadata file that each relation of a product stands on, before and after.

A catalog plugin says what there is (`IcebergCatalogPlugin.pointers`) and moves the pointers
(`IcebergCatalogPlugin.publish`), all of them or none where its catalog can.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RelationKind(StrEnum):
    """What a name in a catalog can be."""

    TABLE = "table"
    VIEW = "view"


@dataclass(frozen=True, slots=True)
class Pointer:
    """A table or view, and the metadata file that it stands on."""

    namespace: tuple[str, ...]
    name: str
    kind: RelationKind
    location: str  # of the metadata file

    @property
    def identifier(self) -> tuple[str, ...]:
        return (*self.namespace, self.name)

    def __str__(self) -> str:
        return ".".join(self.identifier)


@dataclass(frozen=True, slots=True)
class Change:
    """One relation that a publication makes or moves. `after` is final: its metadata is as consumers get it."""

    before: Pointer | None  # as it was when the run began; None: there was nothing of that name
    after: Pointer

    @property
    def is_new(self) -> bool:
        return self.before is None
