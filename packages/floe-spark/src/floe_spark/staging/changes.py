"""What a run has changed in its staging catalog, and what of that may not be published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from floe_core.findings import Finding, FloeError, Place
from floe_core.namespaces import Namespace
from floe_iceberg.metadata import Metadata
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_spark.staging.database import Begun
from floe_spark.staging.guard import unguarded

TEMPORARY = "__dbt_tmp"  # dbt's own; what is left of them is never published
Identifier = tuple[str, ...]
PASSING = {"last-updated-ms", "metadata-log"}  # changes though nothing has


@dataclass(frozen=True, slots=True)
class Relation:
    """One name of the staging catalog: how it began, what it is now. One of the two is there."""

    begun: Begun | None
    now: Pointer | None

    @property
    def name(self) -> str:
        return str(self.begun.pointer if self.begun else self.now)

    @property
    def namespace(self) -> Identifier:
        one = self.begun.pointer if self.begun else self.now
        return one.namespace if one else ()

    @property
    def moved(self) -> bool:
        return self.begun is None or self.now is None or self.begun.copy != self.now.location


@dataclass(frozen=True, slots=True)
class Staged:
    """Every relation whose pointer has moved, and the metadata that it points to now."""

    moved: tuple[Relation, ...]
    read: Mapping[str, Metadata]
    begun: Mapping[str, Begun]  # everything that was there in the beginning, by its uuid


def moved_relations(begun: list[Begun], now: list[Pointer]) -> list[Relation]:
    """Every name whose pointer is not the one that it began with; dbt's temporary ones are left out."""
    before = {item.pointer.identifier: item for item in begun}
    after = {item.identifier: item for item in now}
    names = sorted(before.keys() | after.keys())
    relations = (Relation(before.get(name), after.get(name)) for name in names if not name[-1].endswith(TEMPORARY))
    return [relation for relation in relations if relation.moved]


def collect(staged: Staged, own: Namespace, place: Place) -> list[Change]:
    """The changes to publish; FLOE-E731 with a finding for each that must not be."""
    offences = [
        Finding("FLOE-E731", f"{relation.name} {offence}", place)
        for relation in staged.moved
        for offence in _offences(relation, own, staged)
    ]
    if offences:
        raise FloeError(*offences)
    return [
        Change(relation.begun.pointer if relation.begun else None, relation.now)
        for relation in staged.moved
        if relation.now and _differs(relation, staged.read)
    ]


def refuse_homeless(changes: Iterable[Change], scratch: str, place: Place) -> None:
    """FLOE-E731 for tables that dbt did not make as models: only of models the service was asked where they go."""
    stray = [
        change
        for change in changes
        if change.after.kind is RelationKind.TABLE and change.after.location.startswith(f"{scratch}/")
    ]
    if stray:
        why = "was made by a hook or macro, and the catalog was not asked where it goes; make it a model"
        raise FloeError(*(Finding("FLOE-E731", f"{change.after} {why}", place) for change in stray))


def _offences(relation: Relation, own: Namespace, staged: Staged) -> Iterator[str]:
    begun, now = relation.begun, relation.now
    if not own.holds(relation.namespace):
        verb = "has been changed" if begun and now else "has been made" if now else "has been dropped"
        yield f"{verb} by this run, and it is not in {own}"
    elif now is None:
        yield "has been dropped by this run, and nothing of that name was made"
    elif now.kind is RelationKind.TABLE:
        after = staged.read[now.location]
        if begun and begun.pointer.kind is RelationKind.TABLE:
            yield from _lost(begun, after)
        elif other := staged.begun.get(after["table-uuid"]):
            yield f"stands on the files of {other.pointer}: this run has renamed it, or registered it twice"


def _lost(begun: Begun, after: Metadata) -> Iterator[str]:
    if begun.uuid and begun.uuid != after["table-uuid"]:
        yield "has been dropped and made again by this run: its identity and history are gone"
        return
    gone = begun.snapshots - {snapshot["snapshot-id"] for snapshot in after.get("snapshots", ())}
    if gone:
        many = "snapshot has" if len(gone) == 1 else "snapshots have"
        yield f"has lost history: {len(gone)} {many} been expired by this run"


def _differs(relation: Relation, read: Mapping[str, Metadata]) -> bool:
    """Whether there is anything in it that a consumer could notice."""
    begun, now = relation.begun, relation.now
    if not begun or not now or begun.pointer.kind is not now.kind:
        return True
    after = read[now.location]
    if now.kind is RelationKind.VIEW:
        return _meaning(begun.metadata) != _meaning(after)
    return _lasting(begun.metadata) != _lasting(unguarded(after, begun))


def _lasting(metadata: Metadata) -> Metadata:
    return {key: value for key, value in metadata.items() if key not in PASSING}


def _meaning(view: Metadata) -> tuple[object, ...]:
    """What a view says: which version says it, and since when, is nobody's business."""
    [version] = [item for item in view["versions"] if item["version-id"] == view["current-version-id"]]
    [schema] = [item for item in view["schemas"] if item["schema-id"] == version["schema-id"]]
    fields = {key: value for key, value in schema.items() if key != "schema-id"}
    told = (version["representations"], version.get("default-catalog"), version["default-namespace"])
    return (*told, fields, view.get("properties", {}))
