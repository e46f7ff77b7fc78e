"""Whether a dbt manifest still belongs to its project: a hash of what dbt reads, never of when it was written.

Four parts, because they are known at different times. `files` is what people wrote and is taken before dbt runs;
`lock` and `packages` are what `dbt deps` leaves behind and are taken after; `setting` is everything else that
shapes a manifest: versions, the request, and the environment variables that the project asks for.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floe_core.files import digest_of
from floe_core.findings import Finding, FloeError, Place
from floe_core.source import Source, read_source

PROJECT_FILE = "dbt_project.yml"
ROOT_FILES = (PROJECT_FILE, "packages.yml", "dependencies.yml", "selectors.yml", ".dbtignore")
LOCK_FILE = "package-lock.yml"
PATHS = {  # keys of dbt_project.yml that name folders, and what they are when absent
    "model-paths": ("models",),
    "seed-paths": ("seeds",),
    "snapshot-paths": ("snapshots",),
    "macro-paths": ("macros",),
    "test-paths": ("tests",),
    "analysis-paths": ("analyses",),
    "docs-paths": (),
}
CODE = (".sql", ".py")
READ = frozenset({".sql", ".py", ".yml", ".yaml", ".md", ".csv"})
NEVER = frozenset({"target", "logs", "dbt_packages", ".floe", ".git", ".venv", "node_modules", "__pycache__"})
_VARIABLE = re.compile(rb"""env_var\(\s*\\?['"]([A-Za-z_][A-Za-z0-9_]*)""")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a dbt project keeps what."""

    root: Path
    folders: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(PATHS))
    packages: str = "dbt_packages"
    is_known: bool = (
        True  # False: paths are computed by Jinja, or the file cannot be read; then every folder counts
    )

    def under(self, *keys: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for key in keys for name in self.folders[key]))


@dataclass(frozen=True, slots=True)
class Files:
    """What people wrote: one digest, the environment variables it asks for, and dbt's checksums of its code."""

    digest: str
    variables: tuple[str, ...] = ()
    code: Mapping[str, str] = field(default_factory=dict)  # by the path inside the project; "" when not UTF-8


def project_root(product: Path, path: str) -> Path | None:
    """The dbt project of a transform: the nearest one from its path up to the product; None when floe makes one."""
    top = product.resolve()
    here = (product / path).resolve()
    for folder in (here, *here.parents):
        if folder.is_relative_to(top) and (folder / PROJECT_FILE).is_file():
            return folder
    return None


def layout_of(product: Path, path: str) -> Layout:
    """Where the project of a transform keeps its files."""
    root = project_root(product, path)
    if root is None:  # floe's own dbt_project.yml names one folder
        return Layout(product.resolve(), {**PATHS, "model-paths": (path.strip("/") or ".",)})
    try:
        source = read_source(root / PROJECT_FILE)
    except FloeError:
        return Layout(root, is_known=False)
    folders = {key: _texts(source, key, default) for key, default in PATHS.items()}
    [packages] = _texts(source, "packages-install-path", ("dbt_packages",))[:1] or ("dbt_packages",)
    is_known = not any("{" in name for names in (*folders.values(), (packages,)) for name in names)
    return Layout(root, folders, packages, is_known)


def _texts(source: Source, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    node = source.node((key,))
    match node.plain() if node else None:
        case str(text):
            return (text,)
        case list(items) if items:
            return tuple(str(item) for item in items)
        case _:
            return default


def hash_files(layout: Layout) -> Files:
    """Every file that dbt reads, by its path inside the project and its content. Each is read once."""
    found, variables, code = hashlib.sha256(), set[str](), dict[str, str]()
    for name, path in sorted(_sources(layout)):
        try:
            if path.endswith(".csv"):  # only data, however large
                digest = digest_of(Path(path))
            else:
                with open(path, "rb") as file:  # noqa: PTH123 - as in walk
                    data = file.read()
                digest = hashlib.sha256(data).hexdigest()
                variables |= {name.decode() for name in _VARIABLE.findall(data)} if b"env_var" in data else set()
                if path.endswith(CODE):
                    code[name] = dbt_checksum(data)
        except FileNotFoundError:  # gone since the folder was listed
            continue
        except OSError as exc:
            raise _unreadable(path, exc) from exc
        found.update(f"{name}\0{digest}\n".encode("utf-8", "surrogateescape"))
    return Files(found.hexdigest(), tuple(sorted(variables)), code)


def _unreadable(path: str, cause: OSError) -> FloeError:
    """dbt leaves out a folder that it may not read, and says of a file only what Python says."""
    message = f"{os.path.basename(path)} cannot be read: {cause.strerror}"  # noqa: PTH119
    return FloeError(Finding("FLOE-E100", message, Place(path), fix="Correct its permissions."))


def dbt_checksum(data: bytes) -> str:
    """The checksum that dbt keeps of a file; "" for what it could not have read."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return hashlib.sha256(text.strip().encode()).hexdigest()


def _sources(layout: Layout) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    tops = layout.under(*PATHS) if layout.is_known else (".",)
    candidates: Iterable[str] = (
        *(str(layout.root / name) for name in ROOT_FILES),
        *(path for top in tops for path in _walk(str(layout.root / top))),
    )
    start = f"{layout.root}{os.sep}"
    for path in candidates:
        name = path.removeprefix(start) if path.startswith(start) else os.path.relpath(path, layout.root)
        if name not in seen and _is_regular(path):
            seen.add(name)
            yield name, path


def walk(top: Path) -> Iterator[Path]:
    """The files below a folder that dbt could read. Links are followed as dbt does, each folder once."""
    return map(Path, _walk(str(top)))


def _walk(top: str) -> Iterator[str]:
    """In plain strings: a Path for each file would cost more than reading it."""
    visited: set[tuple[int, int]] = set()
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            about = os.stat(folder)  # noqa: PTH116 - strings, see above
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except PermissionError as exc:
            raise _unreadable(folder, exc) from exc
        except OSError:  # absent, a link to nowhere: dbt will say so when it matters
            continue
        if (about.st_dev, about.st_ino) in visited:
            continue
        visited.add((about.st_dev, about.st_ino))
        for entry in entries:
            if os.path.splitext(entry.name)[1] in READ:  # noqa: PTH122
                yield f"{folder}{os.sep}{entry.name}"
            elif entry.name not in NEVER and _is_folder(entry):
                waiting.append(f"{folder}{os.sep}{entry.name}")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a loop of links
        return False


def _is_regular(path: str | Path) -> bool:
    """Whether it can be read to an end: not a pipe, not a device, not a link to nowhere."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return False


def hash_lock(layout: Layout) -> str:
    """Which versions of packages were chosen; "" when there is no lock."""
    path = layout.root / LOCK_FILE
    return digest_of(path) if _is_regular(path) else ""


def hash_packages(layout: Layout) -> str:
    """Which packages are installed: each one's name and project file, and all of a package that is only a link."""
    folder = layout.root / layout.packages
    found = hashlib.sha256()
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return ""
    for name in names:
        paths = walk(folder / name) if (folder / name).is_symlink() else iter((folder / name / PROJECT_FILE,))
        for path in sorted(paths):
            digest = digest_of(path) if _is_regular(path) else "absent"
            found.update(f"{name}\0{path.relative_to(folder).as_posix()}\0{digest}\n".encode())
    return found.hexdigest()


def hash_setting(versions: Mapping[str, str], request: Mapping[str, Any], variables: Iterable[str]) -> str:
    """Everything outside the project that shapes its manifest. Values of variables are hashed, never kept."""
    values = {name: os.environ.get(name) for name in sorted(variables)}
    text = json.dumps([dict(versions), dict(request), values], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a manifest was made from."""

    files: str
    lock: str
    packages: str
    setting: str
