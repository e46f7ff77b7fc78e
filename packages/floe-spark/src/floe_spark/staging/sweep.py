"""Removes what runs wrote and never published: exact files, known from the metadata that they committed.

A folder is never listed, so that nothing of somebody else can be taken for an orphan. What a run wrote without ever
committing it (killed in the middle of a write) is in no metadata and stays.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from pyiceberg.manifest import ManifestEntry, ManifestFile, read_manifest_list

from floe_core.findings import Finding, FloeError, Place
from floe_core.namespaces import Namespace
from floe_iceberg.metadata import Metadata, MetadataFiles
from floe_iceberg.publication import Pointer, RelationKind
from floe_iceberg.tables import namespaces_of
from floe_spark.staging.conf import Plugin, settings_of
from floe_spark.staging.database import Begun, StagingFile

FILE = "staging.db"
JOURNAL = "journal.json"  # in a run's folder as long as its publication is not complete
COPIES = "_floe"  # the folder of a warehouse with the private copies of all runs
STATISTICS = ("statistics", "partition-statistics")
SPELLINGS = re.compile(r"^(file:/+|s3[an]?://)")
DELETES = "write.metadata.delete-after-commit.enabled"
DATA_PATHS = ("write.data.path", "write.object-storage.path", "write.folder-storage.path")


def sweep(plugin: Plugin, namespace: Namespace, folders: Iterable[Path]) -> list[str]:
    """Remove every file of these runs that no table of the product references, then their folders.

    The runs must have ended: whoever calls holds the product's lock. A run with a journal is left alone until its
    publication has been completed. FLOE-E807 or FLOE-E733 when the real tables cannot be read: then nothing is
    removed. Returns the files.
    """
    removed: list[str] = []
    for folder in folders:
        if (folder / JOURNAL).exists():
            continue
        if (folder / FILE).exists():
            with storage_errors(plugin):
                files = MetadataFiles(settings_of(plugin))
                run = Run(StagingFile(folder / FILE, plugin.name), files)
                orphans = run.orphans(Real(plugin, namespace, run, files))
                removed += [location for location in orphans if files.remove(location)]
                _tidy(orphans, run.places)
        shutil.rmtree(folder)
    return removed


@contextmanager
def storage_errors(plugin: Plugin) -> Iterator[None]:
    """What keeps floe from reading and writing metadata files is FLOE-E733."""
    try:
        yield
    except (OSError, ValueError, KeyError) as exc:
        reason = str(exc).partition("\n")[0] or type(exc).__name__
        message = f"catalog {plugin.name} ({plugin.describe()}): {reason}"
        raise FloeError(Finding("FLOE-E733", message, Place("(catalog)"))) from exc


@dataclass(frozen=True)
class Run:
    """All that one run wrote into its catalog."""

    file: StagingFile
    files: MetadataFiles

    @cached_property
    def written(self) -> list[Pointer]:
        return self.file.written()

    @cached_property
    def begun(self) -> list[Begun]:
        return self.file.begun()

    @cached_property
    def metadata(self) -> list[Metadata]:
        """Of everything written, as far as it is still there: a table that the run purged is not."""
        found = []
        for pointer in self.written:
            with suppress(FileNotFoundError):
                found.append(self.files.read(pointer.location))
        return found

    @property
    def places(self) -> set[str]:
        """Where relations of this run are, and where its private copies were."""
        copies = {item.copy.partition(f"/{COPIES}/") for item in self.begun}
        folders = {f"{before}/{COPIES}/{after.partition('/')[0]}" for before, _, after in copies}
        return folders | {str(item["location"]) for item in self.metadata}

    def orphans(self, real: Real) -> list[str]:
        """Every file of this run that the real tables do not reference: what names others comes after them, so that
        an interrupted sweep can be done again.
        """
        known = real.snapshots | {snapshot for item in self.begun for snapshot in item.snapshots}
        data = {
            location: None
            for manifest_list, (snapshot, places) in self._snapshots(known).items()
            for location in _added(manifest_list, snapshot, places, self.files)
        }
        statistics = {location for table in self.metadata for location in _statistics(table)}
        statistics -= {location for item in self.begun for location in _statistics(item.metadata)}
        described = {item.location for item in self.written} | {item.copy for item in self.begun}
        described |= {location for item in self.begun if item.uuid in real.uuids for location in _forgotten(item)}
        needed = set(map(spelt_alike, real.metadata | (real.data if data else set())))
        found = dict.fromkeys(map(spelt_alike, (*data, *statistics, *described)))
        return [location for location in found if location not in needed]

    def _snapshots(self, known: set[int]) -> dict[str, tuple[int, tuple[str, ...]]]:
        """The manifest lists that only this run knows, each with its snapshot and the places of its table."""
        found = {}
        for table in self.metadata:
            properties = table.get("properties", {})
            places = [table["location"], *(properties[key] for key in DATA_PATHS if key in properties)]
            own = tuple(f"{spelt_alike(place).rstrip('/')}/" for place in places)
            for snapshot in _snapshots(table):
                if snapshot["snapshot-id"] not in known:
                    found[snapshot["manifest-list"]] = snapshot["snapshot-id"], own
        return found


@dataclass(frozen=True)
class Real:
    """What consumers see: the product's tables and views, and all of every namespace that the run wrote to."""

    plugin: Plugin
    namespace: Namespace
    run: Run
    files: MetadataFiles

    @cached_property
    def pointers(self) -> list[Pointer]:
        with self.plugin.open() as catalog:
            own = set(namespaces_of(catalog, self.namespace))
        return self.plugin.pointers(sorted(own | {pointer.namespace for pointer in self.run.written}))

    @cached_property
    def tables(self) -> list[Metadata]:
        locations = (item.location for item in self.pointers if item.kind is RelationKind.TABLE)
        return list(self.files.read_all(locations).values())

    @cached_property
    def uuids(self) -> set[str]:
        return {str(table.get("table-uuid")) for table in self.tables}

    @cached_property
    def snapshots(self) -> set[int]:
        return {snapshot["snapshot-id"] for table in self.tables for snapshot in _snapshots(table)}

    @cached_property
    def metadata(self) -> set[str]:
        """Metadata files and statistics that somebody may still need."""
        logged = {entry["metadata-file"] for table in self.tables for entry in table.get("metadata-log", ())}
        statistics = {location for table in self.tables for location in _statistics(table)}
        return logged | statistics | {item.location for item in self.pointers}

    @cached_property
    def data(self) -> set[str]:
        """Every manifest list, manifest and data file of every snapshot."""
        lists = {snapshot["manifest-list"] for table in self.tables for snapshot in _snapshots(table)}
        manifests = {item.manifest_path: item for location in lists for item in _manifests(location, self.files)}
        entries = (entry for item in manifests.values() for entry in _entries(item, self.files))
        return lists | manifests.keys() | {entry.data_file.file_path for entry in entries}


def spelt_alike(location: str) -> str:
    """One place, one spelling: Hadoop writes file:/x for file:///x, and knows S3 by three names."""
    return SPELLINGS.sub(lambda found: "file:///" if found[0].startswith("file") else "s3://", location, count=1)


def _snapshots(table: Metadata) -> list[Metadata]:
    found: list[Metadata] = table.get("snapshots", [])
    return found


def _statistics(table: Metadata) -> Iterator[str]:
    return (item["statistics-path"] for kind in STATISTICS for item in table.get(kind, ()))


def _forgotten(begun: Begun) -> Iterator[str]:
    """Earlier metadata files of a table that wants those deleted which leave its log, as Iceberg itself does."""
    if begun.metadata.get("properties", {}).get(DELETES) == "true":
        yield from (entry["metadata-file"] for entry in begun.metadata.get("metadata-log", ()))


def _added(manifest_list: str, snapshot: int, places: tuple[str, ...], files: MetadataFiles) -> Iterator[str]:
    """The files that one snapshot added, within its table's places: an import takes others over from elsewhere."""
    with suppress(FileNotFoundError):  # gone in a sweep that was interrupted, as below
        for manifest in _manifests(manifest_list, files):
            if manifest.added_snapshot_id != snapshot:
                continue
            with suppress(FileNotFoundError):
                for entry in _entries(manifest, files):
                    if entry.snapshot_id == snapshot and spelt_alike(entry.data_file.file_path).startswith(places):
                        yield entry.data_file.file_path
            yield manifest.manifest_path
    yield manifest_list


def _manifests(manifest_list: str, files: MetadataFiles) -> Iterator[ManifestFile]:
    return read_manifest_list(files.io(manifest_list).new_input(manifest_list))


def _entries(manifest: ManifestFile, files: MetadataFiles) -> list[ManifestEntry]:
    return manifest.fetch_manifest_entry(files.io(manifest.manifest_path), discard_deleted=True)


def _tidy(removed: Iterable[str], places: Iterable[str]) -> None:
    """On a disk: what Hadoop wrote beside a file, and folders of the run that are empty now."""
    own = {path for place in places if (path := _path(place))}
    for path in filter(None, map(_path, removed)):
        (path.parent / f".{path.name}.crc").unlink(missing_ok=True)
        with suppress(OSError):  # the first folder that is not empty ends it
            for folder in path.parents:
                if not own & {folder, *folder.parents}:
                    break
                folder.rmdir()


def _path(location: str) -> Path | None:
    address = urlsplit(location)
    return Path(address.path) if address.scheme in ("", "file") else None
