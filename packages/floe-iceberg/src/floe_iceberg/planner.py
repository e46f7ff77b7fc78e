"""What is to be done to each relation, and how far it has got: metadata files compared with what stands."""

from __future__ import annotations

from enum import StrEnum

from floe_core.findings import Finding, FloeError, Place
from floe_iceberg.journal import Step
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_iceberg.relations import Commit, Found, Relations, normal
from floe_iceberg.updates import (
    Json,
    UnpublishableError,
    current_schema,
    current_snapshot,
    snapshots_between,
    snapshots_of,
    updates_between,
)
from floe_iceberg.views import shows

HERE = Place("(catalog)")
GIVE_UP = "Bring the file back, or remove the journal of the publication and run again: a run starts anew."


class Standing(StrEnum):
    """How far a step has got, as the catalog shows it."""

    PENDING = "pending"
    APPLIED = "applied"
    MOVED = "moved"  # by somebody else


class Planner:
    """What each step needs to know, read from metadata files once."""

    def __init__(self, relations: Relations) -> None:
        self.relations = relations
        self._files: dict[str, Json] = {}

    def metadata(self, pointer: Pointer) -> Json:
        if pointer.location not in self._files:
            try:
                self._files[pointer.location] = self.relations.read(pointer.location)
            except FileNotFoundError as exc:
                message = f"{pointer}: a metadata file of this publication is gone: {pointer.location}"
                raise FloeError(Finding("FLOE-E732", message, HERE, fix=GIVE_UP)) from exc
        return self._files[pointer.location]

    def step(self, change: Change) -> Step | None:
        """None when nothing is to be done. FLOE-E731, E735 for what cannot be published."""
        before, after = change.before, change.after
        try:
            if before and before.kind is not after.kind:
                raise UnpublishableError(f"it was a {before.kind} and is a {after.kind} now")
            if after.kind is RelationKind.VIEW:
                return self._view(change)
            base = self.metadata(before) if before else None
            if base and not updates_between(base, self.metadata(after))[1]:
                return None
            return Step(change, snapshots_between(base, self.metadata(after)))
        except UnpublishableError as exc:
            raise FloeError(Finding("FLOE-E731", f"{after}: {exc}", HERE)) from exc

    def _view(self, change: Change) -> Step | None:
        before, after = change.before, change.after
        if not self.relations.has_views:
            raise FloeError(Finding("FLOE-E735", f"{after} is a view", HERE))
        is_same = before and shows(self.metadata(before), self.metadata(after))
        return None if is_same else Step(change)

    def commit(self, before: Pointer, after: Pointer) -> Commit:
        return Commit(after, *updates_between(self.metadata(before), self.metadata(after)))

    def standing(self, step: Step, found: Found | None) -> Standing:
        before = step.change.before
        if (found.pointer.location if found else None) == (before.location if before else None):
            return Standing.PENDING
        return Standing.APPLIED if found and self._is_applied(step, found) else Standing.MOVED

    def _is_applied(self, step: Step, found: Found) -> bool:
        after = self.metadata(step.target)
        if step.target.kind is RelationKind.VIEW:
            return shows(found.metadata, after)
        if found.metadata["table-uuid"] != after["table-uuid"]:
            return False
        if step.change.is_new:
            return True
        if step.snapshots:
            return snapshots_of(found.metadata) >= set(step.snapshots)
        return is_continued(found.metadata, after)

    def is_untouched(self, step: Step, found: Found) -> bool:
        """Whether a new table is as it was registered; a service may have written its own metadata file."""
        after = self.metadata(step.target)
        keys = ("table-uuid", "current-snapshot-id", "last-updated-ms")
        is_same = all(found.metadata.get(key) == after.get(key) for key in keys)
        return found.pointer.location == step.target.location or is_same

    def difference(self, step: Step, found: Found | None) -> str:
        """What a relation shows that it should not, once its step is done; empty when all is well."""
        after = self.metadata(step.target)
        if found is None:
            return "it is not there"
        if step.target.kind is RelationKind.VIEW:
            return "" if shows(found.metadata, after) else "it shows another query or another schema"
        wanted = normal(after)
        if current_snapshot(found.metadata) != current_snapshot(wanted):
            is_older = bool(step.snapshots) and snapshots_of(found.metadata) >= set(step.snapshots)
            return "" if is_older else "it shows another snapshot"
        return "" if current_schema(found.metadata) == current_schema(wanted) else "it shows another schema"


def is_continued(stands: Json, after: Json) -> bool:
    """Whether a table without new snapshots already is what it was to become."""
    try:
        return not updates_between(stands, normal(after))[1]
    except UnpublishableError:
        return False
