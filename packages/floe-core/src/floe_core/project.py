"""A dbt project as floe sees it: the fields of dbt's manifest.json that rules read, typed, and nothing else.

msgspec decodes straight into these structs and skips every other key, so a manifest of 100,000 models costs one
pass and no intermediate dictionaries.
"""

from __future__ import annotations

import gc
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from floe_core.circles import circles
from floe_core.findings import Finding, FloeError, Place
from floe_core.places import Places

KINDS = frozenset({"model", "seed", "snapshot"})  # what rules look at
VERSIONS = (11, 12)
_VERSION = re.compile(r"/manifest/v([0-9]+)\.json\Z")
_REF = re.compile(r"""ref\(([^)]*)\)""")
_WORD = re.compile(r"""['"]([^'"]+)['"]""")


class Config(Struct, frozen=True, omit_defaults=True, gc=False):
    """The configuration of a node that rules look at."""

    enabled: bool = True
    materialized: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    tags: list[str] | str = field(default_factory=list)
    severity: str = ""
    unique_key: Any = None
    # of tests only: which rows they look at, and how many failures they bear
    where: str | None = None
    error_if: str = "!= 0"


class ColumnConfig(Struct, frozen=True, omit_defaults=True, gc=False):
    """Where dbt 1.10 and later keep a column's meta."""

    meta: dict[str, Any] = field(default_factory=dict)
    tags: list[str] | str = field(default_factory=list)


class Constraint(Struct, frozen=True, omit_defaults=True, gc=False):
    """A dbt constraint of a model or a column."""

    type: str
    columns: list[str] = field(default_factory=list)


class Column(Struct, frozen=True, omit_defaults=True, gc=False):
    """A column that the project's YAML declares."""

    name: str
    description: str = ""
    data_type: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    config: ColumnConfig = field(default_factory=ColumnConfig)


class DependsOn(Struct, frozen=True, omit_defaults=True, gc=False):
    nodes: list[str] = field(default_factory=list)


class Checksum(Struct, frozen=True, omit_defaults=True, gc=False):
    name: str = ""
    checksum: str = ""


class TestMetadata(Struct, frozen=True, omit_defaults=True, gc=False):
    """Which generic test it is, and its arguments."""

    name: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    namespace: str | None = None


class Ref(Struct, frozen=True, omit_defaults=True, gc=False):
    """A `ref()` as it was written."""

    name: str


class RawNode(Struct, frozen=True, omit_defaults=True, gc=False):
    """One entry of `nodes` in manifest.json, whatever its kind: model, seed, snapshot, test, analysis, hook."""

    unique_id: str
    name: str
    resource_type: str
    package_name: str
    original_file_path: str
    path: str = ""
    patch_path: str | None = None
    alias: str = ""
    schema: str | None = None
    relation_name: str | None = None
    description: str = ""
    language: str = "sql"
    raw_code: str = ""
    compiled_code: str | None = None
    columns: dict[str, Column] = field(default_factory=dict)
    config: Config = field(default_factory=Config)
    tags: list[str] = field(default_factory=list)
    meta: dict[str, Any] = field(default_factory=dict)
    depends_on: DependsOn = field(default_factory=DependsOn)
    constraints: list[Constraint] = field(default_factory=list)
    checksum: Checksum = field(default_factory=Checksum)
    version: Any = None
    refs: list[Ref] = field(default_factory=list)
    group: str | None = None
    access: str | None = None
    # of tests only
    column_name: str | None = None
    attached_node: str | None = None
    test_metadata: TestMetadata | None = None

    @property
    def test_name(self) -> str:
        """Of a test: which one it is, `not_null` for example; a singular test goes by its own name."""
        return self.test_metadata.name if self.test_metadata else self.name

    @property
    def all_meta(self) -> dict[str, Any]:
        return {**self.meta, **self.config.meta} if self.config.meta else self.meta

    @property
    def all_tags(self) -> frozenset[str]:
        written = [self.config.tags] if isinstance(self.config.tags, str) else self.config.tags
        return frozenset((*self.tags, *written))


class RawSource(Struct, frozen=True, omit_defaults=True, gc=False):
    """One entry of `sources`: a table that another system writes."""

    unique_id: str
    name: str
    source_name: str
    package_name: str
    original_file_path: str
    relation_name: str | None = None
    description: str = ""
    columns: dict[str, Column] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)


class Metadata(Struct, frozen=True, omit_defaults=True, gc=False):
    dbt_schema_version: str = ""
    dbt_version: str = ""
    project_name: str | None = None


class Disabled(Struct, frozen=True, omit_defaults=True, gc=False):
    """One entry of `disabled`: only which file it is."""

    package_name: str = ""
    original_file_path: str = ""
    checksum: Checksum = field(default_factory=Checksum)


class RawManifest(Struct, frozen=True, omit_defaults=True, gc=False):
    """manifest.json, versions 11 and 12."""

    metadata: Metadata
    nodes: dict[str, RawNode] = field(default_factory=dict)
    sources: dict[str, RawSource] = field(default_factory=dict)
    disabled: dict[str, list[Disabled]] = field(default_factory=dict)


class _Header(Struct, frozen=True, omit_defaults=True, gc=False):
    metadata: Metadata


def read_manifest(path: Path) -> RawManifest:
    """Read dbt's manifest.json; what cannot be read, or is of another version, is a FloeError."""
    place = Place(str(path))
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise FloeError(Finding("FLOE-E131", f"{path.name} cannot be read: {exc.strerror}", place)) from exc
    try:
        with _no_collection():
            manifest = msgspec.json.decode(data, type=RawManifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        _check_version(_header(data, place), place)  # another version may well have another shape
        raise _not_a_manifest(exc, place) from exc
    _check_version(manifest, place)
    return manifest


@contextmanager
def _no_collection() -> Iterator[None]:
    """Millions of objects that all stay: looking for garbage among them would take most of the time, now and later.

    Frozen objects still go when nobody refers to them; only circles among them would stay, and JSON has none.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.enable()


def _header(data: bytes, place: Place) -> _Header:
    try:
        return msgspec.json.decode(data, type=_Header)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise _not_a_manifest(exc, place) from exc


def _not_a_manifest(cause: Exception, place: Place) -> FloeError:
    reason = "it is nested too deeply" if isinstance(cause, RecursionError) else str(cause)
    return FloeError(Finding("FLOE-E132", f"{Path(place.path).name} is not a dbt manifest: {reason}", place))


def _check_version(manifest: RawManifest | _Header, place: Place) -> None:
    written = manifest.metadata.dbt_schema_version
    found = _VERSION.search(written)
    if found and int(found[1][:9]) in VERSIONS:
        return
    accepted = " and ".join(f"v{number}" for number in VERSIONS)
    actual = f"v{found[1]}" if found else repr(written[:80]) if written else "without a version"
    message = f"{Path(place.path).name} is {actual}; floe reads {accepted}"
    raise FloeError(Finding("FLOE-E130", message, place, expected=accepted, actual=actual))


@dataclass(frozen=True)
class Project:
    """What rules ask of a dbt project: its own nodes, their tests, what reads what, and where it is written.

    Everything is derived on first use, in one pass over the manifest.
    """

    manifest: RawManifest
    folder: Path  # of dbt_project.yml

    @property
    def name(self) -> str:
        return self.manifest.metadata.project_name or ""

    @cached_property
    def nodes(self) -> Sequence[RawNode]:
        """The models, seeds and snapshots of the project itself: enabled, and not of an installed package."""
        own = self.name
        return [
            node
            for node in self.manifest.nodes.values()
            if node.resource_type in KINDS and node.config.enabled and node.package_name == own
        ]

    @cached_property
    def by_name(self) -> dict[str, list[RawNode]]:
        """The project's own nodes by name; a versioned model has several."""
        named: defaultdict[str, list[RawNode]] = defaultdict(list)
        for node in self.nodes:
            named[node.name].append(node)
        return dict(named)

    @cached_property
    def tests(self) -> dict[str, list[RawNode]]:
        """The enabled tests of each node, by the node's id."""
        grouped: defaultdict[str, list[RawNode]] = defaultdict(list)
        for test in self.manifest.nodes.values():
            if test.resource_type == "test" and test.config.enabled:
                for target in _targets(test, self.manifest.nodes):
                    grouped[target].append(test)
        return dict(grouped)

    @cached_property
    def places(self) -> Places:
        return Places(self.folder)

    def parents(self, node: RawNode) -> Iterator[RawNode]:
        """The models, seeds and snapshots that a node reads, also those of installed packages."""
        for parent in dict.fromkeys(node.depends_on.nodes):
            if (found := self.manifest.nodes.get(parent)) and found.resource_type in KINDS:
                yield found

    @cached_property
    def order(self) -> Sequence[RawNode]:
        """Every model, seed and snapshot after all that it reads; those in circles, and behind them, are absent."""
        waits = {name: len(reads) for name, reads in self._graph.items()}
        readers: defaultdict[str, list[str]] = defaultdict(list)
        for name, reads in self._graph.items():
            for parent in reads:
                readers[parent].append(name)
        ready = [name for name, count in waits.items() if not count]
        for name in ready:  # it grows on the way, by all that waits for no circle
            for reader in readers.get(name, ()):
                waits[reader] -= 1
                if not waits[reader]:
                    ready.append(reader)
        return [self.manifest.nodes[name] for name in ready]

    @cached_property
    def circles(self) -> Sequence[Sequence[RawNode]]:
        """Groups of nodes that read each other, each from its first name on."""
        ordered = {node.unique_id for node in self.order}
        waiting = {name: reads for name, reads in self._graph.items() if name not in ordered}
        return [[self.manifest.nodes[name] for name in circle] for circle in circles(waiting)]

    @cached_property
    def _graph(self) -> dict[str, list[str]]:
        kinds = {name: node for name, node in self.manifest.nodes.items() if node.resource_type in KINDS}
        return {
            node.unique_id: [
                kinds[name].unique_id for name in dict.fromkeys(node.depends_on.nodes) if name in kinds
            ]
            for node in kinds.values()
        }


def _targets(test: RawNode, nodes: dict[str, RawNode]) -> list[str]:
    """The nodes that a test is about: what it is attached to, else what it names, else all it reads."""
    if test.attached_node:
        return [test.attached_node]
    reads = test.depends_on.nodes
    if test.test_metadata is None or len(reads) < 2:
        return reads
    written = _REF.search(str(test.test_metadata.kwargs.get("model", "")))
    words = _WORD.findall(written[1]) if written else []
    return [name for name in reads if name in nodes and nodes[name].name in words] or reads
