"""Who moved a pointer that a run was about to move: what E730 says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from floe_core.findings import Finding, FloeError, Place
from floe_iceberg.metadata import Metadata, MetadataFiles
from floe_iceberg.publication import Change, Pointer

WRITERS = ("floe.run_id", "spark.app.id", "app-id", "engine-name", "engine-version")  # of a snapshot's summary
HERE = Place("(catalog)")


def conflict(moved: Iterable[tuple[Change, Pointer | None]], properties: Mapping[str, str]) -> FloeError:
    """E730 for each change that came too late, with what stands in the catalog now; None: nothing."""
    files = MetadataFiles(properties)
    return FloeError(*(_finding(change, now, files) for change, now in moved))


def _finding(change: Change, now: Pointer | None, files: MetadataFiles) -> Finding:
    message = f"{change.after} {_what(change, now)}{f', {_who(now, files)}' if now else ''}"
    return Finding(
        "FLOE-E730",
        message,
        HERE,
        expected=change.before.location if change.before else None,
        actual=now.location if now else None,
    )


def _what(change: Change, now: Pointer | None) -> str:
    if now is None:
        return "has been dropped since this run began"
    if change.before is None:
        return f"is new in this run, and there is a {now.kind} of that name by now"
    if change.before.kind is not now.kind:
        return f"was a {change.before.kind} when this run began, and is a {now.kind} now"
    return "has changed since this run began"


def _who(now: Pointer, files: MetadataFiles) -> str:
    try:
        metadata = files.read(now.location)
    except (OSError, ValueError):
        return "by whom is not known: its metadata cannot be read"
    snapshot = _newest(metadata)
    if snapshot is None:
        return "by whom is not written down"
    summary = snapshot.get("summary", {})
    named = [f"{key} {summary[key]}" for key in WRITERS if key in summary]
    at = datetime.fromtimestamp(snapshot["timestamp-ms"] / 1000, UTC)
    by = ", ".join(named) or "a writer that does not say who it is"
    return f"last by {summary.get('operation', 'a write')} at {at:%Y-%m-%d %H:%M:%S} UTC ({by})"


def _newest(metadata: Metadata) -> Metadata | None:
    """The newest snapshot of a table, or version of a view."""
    versions: list[Metadata] = metadata.get("snapshots") or metadata.get("versions") or []
    return max(versions, key=lambda version: int(version["timestamp-ms"]), default=None)
