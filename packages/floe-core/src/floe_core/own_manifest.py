"""A manifest.json that the user's own dbt made: accepted while it describes the files that are there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, field

from floe_core.findings import Finding, FloeError, Place
from floe_core.fingerprint import CODE, Files, Layout, dbt_checksum
from floe_core.project import Disabled, Metadata, RawManifest, RawNode

EMPTY = dbt_checksum(b"")
CHECKED = (*CODE, ".csv")  # dbt keeps checksums of these; of what YAML declares, it keeps none that can be compared


class _Files(Struct, frozen=True, gc=False):
    """manifest.json, as far as it says which files it was made from."""

    metadata: Metadata
    nodes: dict[str, Disabled] = field(default_factory=dict)
    disabled: dict[str, list[Disabled]] = field(default_factory=dict)


def _entries(manifest: RawManifest | _Files) -> Iterator[RawNode | Disabled]:
    """The root project's own nodes, disabled ones too."""
    for entry in (*manifest.nodes.values(), *(item for items in manifest.disabled.values() for item in items)):
        if entry.package_name == manifest.metadata.project_name:
            yield entry


def refuse_stale(manifest: Path, layout: Layout, files: Files, read: RawManifest | None = None) -> None:
    """Raise FLOE-E145 when a file of the project has been changed, added or removed since.

    dbt keeps checksums of SQL, Python and seeds, not of YAML: what changed only there cannot be seen. `read` is the
    manifest's content where somebody has read it already.
    """
    entries = list(_entries(read or _read(manifest)))
    known = {entry.original_file_path for entry in entries}
    changes = [
        *(f"{entry.original_file_path} {change}" for entry in entries if (change := _change(entry, layout, files))),
        *(f"{name} is new" for name in _models_on_disk(layout, files) if name not in known),
    ]
    if changes:
        first, *others = sorted(dict.fromkeys(changes))
        more = f" (and {len(others):,} more)" if others else ""
        message = f"the manifest does not describe these files: {first}{more}"
        raise FloeError(Finding("FLOE-E145", message, Place(str(manifest))))


def _read(path: Path) -> _Files:
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise FloeError(Finding("FLOE-E100", f"{path.name} cannot be read: {exc.strerror}", place)) from exc
    try:
        return msgspec.json.decode(data, type=_Files)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        message = f"{path.name} is not a manifest of dbt: {exc}"
        raise FloeError(Finding("FLOE-E145", message, place)) from exc


def _change(entry: RawNode | Disabled, layout: Layout, files: Files) -> str:
    """What happened to the file behind a node; "" when nothing did, or when dbt keeps no checksum of it."""
    name = entry.original_file_path
    if entry.checksum.name != "sha256" or not name.endswith(CHECKED):
        return ""
    content = files.code.get(name) or _checksum(layout.root / name)
    if not content:
        return "is gone"
    return "" if content == entry.checksum.checksum else "has changed"


def _checksum(path: Path) -> str:
    """Of a seed, or of a file that is not among those of the project; "" when there is none."""
    try:
        return dbt_checksum(path.read_bytes())
    except (OSError, ValueError):
        return ""


def _models_on_disk(layout: Layout, files: Files) -> Iterator[str]:
    """Every file that is a model by its place, unless the project says that it leaves some out."""
    if not layout.is_known or (layout.root / ".dbtignore").exists():
        return
    tops = [os.path.normpath(top) for top in layout.under("model-paths")]
    for name, content in files.code.items():
        if content != EMPTY and any(top == "." or name.startswith(f"{top}{os.sep}") for top in tops):
            yield name
