"""dbt's manifest of a product: used while it belongs to the files, made anew by the transform plugin when not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from floe_core import __version__
from floe_core.artifacts import HOME
from floe_core.distributions import version_of
from floe_core.env import Env, Project, Spec, TransformLoader
from floe_core.files import cache_folder, digest_of, write_atomically
from floe_core.findings import Finding, FloeError, Place
from floe_core.fingerprint import (
    Files,
    Fingerprint,
    Layout,
    hash_files,
    hash_lock,
    hash_packages,
    hash_setting,
    layout_of,
)
from floe_core.own_manifest import refuse_stale
from floe_core.plugins import installed
from floe_core.project import Project as DbtProject
from floe_core.schemas.data_product import TransformConfig
from floe_core.transforms import GROUP, TransformRequest, request_of

RECORD = "fingerprint.json"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ReadProject:
    """A dbt project of the product, with the hashes of what it was read from."""

    path: str  # relative to the product's folder
    manifest: Path
    files: str
    lock: str
    project: Project | None = None


@dataclass(frozen=True, slots=True)
class Dbt:
    """The dbt projects of a product, in the order of its transforms. `problem` says why they are not known."""

    projects: tuple[ReadProject, ...] = ()
    problem: str = ""

    def read(self) -> tuple[Project, ...]:
        return tuple(item.project for item in self.projects if item.project is not None)


def read_dbt(spec: Spec, env: Env, progress: Progress) -> tuple[Dbt, list[Finding]]:
    """Every dbt project of the product. One that dbt cannot parse leaves all of them unknown."""
    try:
        return Dbt(tuple(_read_all(spec, env, progress))), []
    except FloeError as exc:
        return Dbt(problem=_problem(exc.findings[0])), list(exc.findings)


def _problem(finding: Finding) -> str:
    return "dbt could not parse" if finding.code == "FLOE-E300" else finding.message


def _read_all(spec: Spec, env: Env, progress: Progress) -> Iterator[ReadProject]:
    seen: dict[Path, TransformConfig] = {}
    if env.dbt_manifest and not spec.product.transforms:
        raise _wrong_usage("--dbt-manifest names a manifest, and the product has no transforms that it could be of")
    for number, transform in enumerate(spec.product.transforms):
        _refuse_path(spec, transform.path, number)
        layout = layout_of(spec.folder, transform.path)
        if layout.root in seen:  # two folders of one project
            continue
        seen[layout.root] = transform
        place = spec.chain.product.place(("transforms", number, "type"))
        files = hash_files(layout)
        if env.dbt_manifest:
            if len(seen) > 1:
                raise _wrong_usage("--dbt-manifest names one manifest, and the product has several dbt projects")
            manifest = env.dbt_manifest.absolute()
        else:
            manifest = _Maker(spec, transform, layout, files, env.check, place, env.transforms).manifest(progress)
        project = env.read_project(manifest, layout.root) if env.read_project else None
        if env.dbt_manifest:
            refuse_stale(manifest, layout, files, project.manifest if isinstance(project, DbtProject) else None)
        yield ReadProject(_inside(spec, layout), manifest, files.digest, hash_lock(layout), project)


def _wrong_usage(message: str) -> FloeError:
    return FloeError(Finding("FLOE-E001", message, Place("(command line)"), fix="Leave --dbt-manifest out."))


def _refuse_path(spec: Spec, path: str, number: int) -> None:
    """Raise for a path that leads nowhere or out of the product: the nearest project would not be its own."""
    top = spec.folder.resolve()
    here = (top / path).resolve()
    place = spec.chain.product.place(("transforms", number, "path"))
    if not here.is_relative_to(top):
        raise FloeError(Finding("FLOE-E302", f"path {path!r} leads out of the product's folder", place))
    if not here.exists():
        raise FloeError(Finding("FLOE-E301", f"path {path!r} does not exist", place))


def _inside(spec: Spec, layout: Layout) -> str:
    return layout.root.relative_to(spec.folder.resolve()).as_posix()


def _slug(spec: Spec, layout: Layout) -> str:
    return _inside(spec, layout).replace("/", "__").strip(".") or "project"


def _home(spec: Spec, layout: Layout) -> Path:
    return spec.folder.resolve() / HOME / "dbt" / _slug(spec, layout)


def requests_of(spec: Spec, *, nested: bool = True) -> tuple[TransformRequest, ...]:
    """What a run is told about each dbt project, in order. It works where the compile has, so dbt parses once."""
    layouts: dict[Path, TransformRequest] = {}
    for transform in spec.product.transforms:
        layout = layout_of(spec.folder, transform.path)
        if layout.root not in layouts:
            request = request_of(spec.chain, spec.merged, transform, _home(spec, layout), nested=nested)
            layouts[layout.root] = request
    return tuple(layouts.values())


@dataclass(frozen=True, slots=True)
class _Maker:
    """Finds or makes the manifest of one dbt project."""

    spec: Spec
    transform: TransformConfig
    layout: Layout
    files: Files
    check: bool
    place: Place
    load: TransformLoader

    def manifest(self, progress: Progress) -> Path:
        kept = self._kept(self._home())
        if kept is None and self.check:
            kept = self._kept(self._cache())
        return kept or self._make(self._cache() if self.check else self._home(), progress)

    def _home(self) -> Path:
        return _home(self.spec, self.layout)

    def _cache(self) -> Path:
        """Outside the product, one folder for each product on this machine."""
        owner = hashlib.sha256(str(self.spec.folder.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        return cache_folder() / "compile" / owner / _slug(self.spec, self.layout)

    def _kept(self, folder: Path) -> Path | None:
        """The manifest in the folder, if it still belongs to the files."""
        try:
            record = json.loads((folder / RECORD).read_bytes())
            manifest = folder / record["manifest"]
            is_current = record["fingerprint"] == asdict(self._fingerprint())
            return manifest if is_current and record["sha256"] == digest_of(manifest) else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _fingerprint(self) -> Fingerprint:
        request = asdict(self._request(Path()))
        shape = {key: value for key, value in request.items() if key not in ("product", "work")}
        setting = hash_setting(_versions(), shape, self.files.variables)
        return Fingerprint(self.files.digest, hash_lock(self.layout), hash_packages(self.layout), setting)

    def _request(self, work: Path) -> TransformRequest:
        return request_of(self.spec.chain, self.spec.merged, self.transform, work)

    def _make(self, folder: Path, progress: Progress) -> Path:
        plugin = self.load(self.transform.type, self.place)
        progress(f"Parsing the dbt project (dbt {_version('dbt-core')})")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            manifest = plugin.make_manifest(self._request(folder), progress)
            self._record(folder, manifest)
        except OSError as exc:
            message = f"{exc.filename or folder} cannot be written: {exc.strerror or exc}"
            fix = "Set FLOE_CACHE to a folder that can be written." if self.check else ""
            raise FloeError(Finding("FLOE-E900", message, Place(str(folder)), fix=fix)) from exc
        return manifest

    def _record(self, folder: Path, manifest: Path) -> None:
        """Last, and as one step: a manifest without its record is made again."""
        record: dict[str, Any] = {
            "fingerprint": asdict(self._fingerprint()),
            "manifest": manifest.relative_to(folder).as_posix(),
            "sha256": digest_of(manifest),
        }
        write_atomically(folder / RECORD, json.dumps(record, indent=2).encode())


def _versions() -> dict[str, str]:
    """Of everything that takes part in making a manifest; nothing is imported for it."""
    plugins = {plugin.distribution: plugin.version for plugin in installed(GROUP)}
    return {"floe-core": __version__, **plugins, **{name: _version(name) for name in ("dbt-core", "dbt-spark")}}


def _version(name: str) -> str:
    return version_of(name) or "not installed"
