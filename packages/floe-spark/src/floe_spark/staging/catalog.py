"""A run's private catalog: dbt builds in it with the real names, and nobody sees that until it is published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog

from floe_core.findings import Place
from floe_core.namespaces import Namespace
from floe_iceberg.metadata import Metadata, MetadataFiles, next_location
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_iceberg.tables import namespaces_of
from floe_spark.session import SparkCatalog
from floe_spark.staging.changes import Identifier, Staged, collect, moved_relations, refuse_homeless
from floe_spark.staging.conf import Plugin, client_properties, settings_of, spark_catalog
from floe_spark.staging.database import Begun, StagingFile
from floe_spark.staging.guard import guarded, unguarded
from floe_spark.staging.sweep import COPIES, FILE, storage_errors, sweep


@dataclass(frozen=True)
class Staging:
    """The staging catalog of one run, in `folder`, which is this run's own.

    `spark_catalog` is known at once, so that Spark can start early; `fill` comes before Spark is used. Afterwards
    `publishable` is what to hand to the catalog's `publish`, and `clean` removes what is left over once that is
    done. A run that publishes nothing leaves its folder, and `sweep` removes what it wrote.
    """

    plugin: Plugin
    namespace: Namespace
    folder: Path
    run_id: str
    place: Place  # of what is wrong with the run as a whole

    @property
    def database(self) -> Path:
        return (self.folder / FILE).absolute()

    @cached_property
    def warehouse(self) -> str:
        """The catalog's; or a folder of the run, for what the service has not been asked a place for."""
        return (self.plugin.warehouse or (self.folder / "warehouse").absolute().as_uri()).rstrip("/")

    @cached_property
    def settings(self) -> dict[str, str]:
        return settings_of(self.plugin)

    @cached_property
    def files(self) -> MetadataFiles:
        return MetadataFiles(self.settings)

    @property
    def spark_catalog(self) -> SparkCatalog:
        """What the session of the run works on."""
        return spark_catalog(self.plugin, self.settings, self.database, self.warehouse, self.namespace)

    @contextmanager
    def open(self) -> Iterator[Catalog]:
        """The staging catalog as PyIceberg sees it; it lists tables, and no views."""
        properties = client_properties(self.settings, self.database, self.warehouse)
        with SqlCatalog(self.plugin.name, **properties) as catalog:
            yield catalog

    def fill(self, tables: Iterable[Identifier] = (), namespaces: Iterable[Namespace] = ()) -> None:
        """Begin with the product as it is, and with what it reads: single tables or views, and whole products.

        What is not there is left out. FLOE-E733 when the metadata of something cannot be read or copied.
        """
        file, wanted = self._file, set(tables)
        with self.plugin.open() as catalog:
            whole = {parts for own in (self.namespace, *namespaces) for parts in namespaces_of(catalog, own)}
        pointers = [
            pointer
            for pointer in self.plugin.pointers(sorted(whole | {identifier[:-1] for identifier in wanted}))
            if pointer.namespace in whole or pointer.identifier in wanted
        ]
        with storage_errors(self.plugin):
            read = self.files.read_all(pointer.location for pointer in pointers)
            begun = [Begun(pointer, self._copy_of(pointer), read[pointer.location]) for pointer in pointers]
            file.make()
            file.announce(begun)
            self.files.write_all({item.copy: guarded(item) for item in begun})
        file.fill(begun, sorted(whole | {pointer.namespace for pointer in pointers}))

    def metadata_of(self, identifier: Identifier) -> Metadata | None:
        """What a relation of the staging catalog is like at this moment; None when there is none of that name."""
        found = self._file.pointer(identifier)
        if found is None:
            return None
        with storage_errors(self.plugin):
            return self.files.read(found.location)

    def changes(self) -> list[Change]:
        """What the run has changed, as it is in the staging; FLOE-E731 for what must never be published."""
        return self._collect(self._staged())

    def publishable(self) -> list[Change]:
        """The same with metadata files for consumers, which are written here: nothing of the staging is in them."""
        staged = self._staged()
        changes = [self._final(change, staged) for change in self._collect(staged)]
        self._file.write_down(change.after for change, _ in changes)
        with storage_errors(self.plugin):
            self.files.write_all({change.after.location: new for change, new in changes if new})
        return [change for change, _ in changes]

    def clean(self) -> list[str]:
        """Remove what this run wrote and nobody reads, and its folder. Returns the files, for a test or a log."""
        return sweep(self.plugin, self.namespace, [self.folder])

    @property
    def _file(self) -> StagingFile:
        return StagingFile(self.database, self.plugin.name)

    def _staged(self) -> Staged:
        begun = self._file.begun()
        moved = tuple(moved_relations(begun, self._file.now()))
        with storage_errors(self.plugin):
            read = self.files.read_all(relation.now.location for relation in moved if relation.now)
        return Staged(moved, read, {item.uuid: item for item in begun})

    def _collect(self, staged: Staged) -> list[Change]:
        changes = collect(staged, self.namespace, self.place)
        if not self.plugin.warehouse:
            refuse_homeless(changes, self.warehouse, self.place)
        return changes

    def _final(self, change: Change, staged: Staged) -> tuple[Change, Metadata | None]:
        """The change with its final metadata file, and what to write into that; None: it is there already."""
        metadata = staged.read[change.after.location]
        if change.after.kind is RelationKind.VIEW:
            return change, None
        clean = unguarded(metadata, staged.begun.get(metadata["table-uuid"]))
        if clean == metadata:
            return change, None
        return replace(change, after=replace(change.after, location=next_location(change.after.location))), clean

    def _copy_of(self, pointer: Pointer) -> str:
        """Where the private copy of a metadata file goes. It keeps its name: clients count on from the version."""
        folder, _, name = pointer.location.rpartition("/")
        if self.plugin.warehouse:
            return "/".join((self.warehouse, COPIES, self.run_id, *pointer.identifier, name))
        return "/".join((folder, COPIES, self.run_id, name))
