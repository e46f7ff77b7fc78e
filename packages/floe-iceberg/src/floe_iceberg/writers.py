"""Who has written to a relation last, as far as its metadata tells."""

from __future__ import annotations

from datetime import UTC, datetime

from floe_iceberg.publication import RelationKind
from floe_iceberg.relations import Found
from floe_iceberg.updates import Json, current_snapshot, snapshots_of

APPLICATIONS = ("app-id", "spark.app.id", "trino_query_id", "flink.job-id")


def last_writer(found: Found | None, before: Json | None) -> str:
    """What has happened to it since it was as `before` says, for a message.

    Not told by its times: a service notes its own for a snapshot that a client has made a moment earlier.
    """
    if found is None:
        return "was dropped"
    if found.pointer.kind is RelationKind.VIEW:
        return "was written by somebody else"
    metadata = found.metadata
    current = current_snapshot(metadata)
    snapshot = next((each for each in metadata.get("snapshots", ()) if each["snapshot-id"] == current), None)
    if snapshot is None or (before and current in snapshots_of(before)):
        return f"was changed by somebody else at {_time(metadata['last-updated-ms'])}, without new data,"
    summary = snapshot.get("summary") or {}
    engine = summary.get("engine-name", "")
    application = next((summary[key] for key in APPLICATIONS if key in summary), "")
    by = " ".join(filter(None, (engine, application))) or "somebody else"
    return f"was written by {by} ({summary.get('operation', 'a snapshot')} at {_time(snapshot['timestamp-ms'])})"


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
