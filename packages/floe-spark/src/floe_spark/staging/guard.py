"""What keeps a run from destroying the tables that it builds on: a private copy of their metadata, with a guard.

A pointer to the consumers' own metadata file would not do. Iceberg deletes earlier metadata files when a table says
so, a dropped view's file, and, in a purge or when snapshots expire, the data itself.
"""

from __future__ import annotations

from floe_iceberg.metadata import Metadata
from floe_iceberg.publication import RelationKind
from floe_spark.staging.database import Begun

GUARD = {"gc.enabled": "false", "write.metadata.delete-after-commit.enabled": "false"}
KEPT = "write.metadata.previous-versions-max"  # how many earlier metadata files a table remembers
KEPT_DEFAULT = 100
LOG = "metadata-log"


def guarded(begun: Begun) -> Metadata:
    """The private copy that a run builds on."""
    if begun.pointer.kind is RelationKind.VIEW:
        return begun.metadata
    return {**begun.metadata, LOG: [], "properties": {**begun.metadata.get("properties", {}), **GUARD}}


def unguarded(metadata: Metadata, begun: Begun | None) -> Metadata:
    """A staged table as its consumers get it: it follows on what they have, and nothing of the staging is left."""
    if begun is None or begun.pointer.kind is RelationKind.VIEW:
        return {**metadata, LOG: []}
    before, properties = begun.metadata.get("properties", {}), dict(metadata.get("properties", {}))
    for key in GUARD.keys() & properties.keys():
        if properties[key] != GUARD[key]:
            continue  # the run itself has decided
        del properties[key]
        if key in before:
            properties[key] = before[key]
    last = {"timestamp-ms": begun.metadata["last-updated-ms"], "metadata-file": begun.pointer.location}
    log = [*begun.metadata.get(LOG, ()), last][-_kept(properties) :]
    return {**metadata, LOG: log, "properties": properties}


def _kept(properties: dict[str, str]) -> int:
    written = properties.get(KEPT, "")
    return max(1, int(written)) if written.isdecimal() else KEPT_DEFAULT
