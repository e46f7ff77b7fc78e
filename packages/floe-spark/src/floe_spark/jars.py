"""The jars that Spark needs beyond its own: fetched once, kept in the cache, run only when their hash is right."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from floe_core.catalog import Jar
from floe_core.doctor import HERE
from floe_core.files import cache_folder
from floe_core.findings import Finding, FloeError
from floe_spark import ivy
from floe_spark.cache import disk_errors
from floe_spark.java import find_java

PATIENCE = 1800  # seconds that another process may take to fetch
UNFINISHED = "fetch-"


ICEBERG = Jar(
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
    "3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82",
    48_309_426,
)
SQLITE = Jar(
    "org.xerial:sqlite-jdbc:3.54.1.0",
    "f8dce420a6016278497f4f0560f65602b9db858de141b541cf91a4644ebe4639",
    12_132_578,
)
JARS = (ICEBERG, SQLITE)


def matches(jar: Jar, path: Path) -> bool:
    """Whether the file is this jar, byte for byte."""
    with path.open("rb") as file:
        if jar.size is not None and os.fstat(file.fileno()).st_size != jar.size:
            return False
        return hashlib.file_digest(file, "sha256").hexdigest() == jar.sha256


def jar_folder() -> Path:
    """Where fetched jars are kept."""
    return cache_folder() / "jars"


def find_jars(jars: Iterable[Jar]) -> dict[Jar, Path | None]:
    """Where each jar is, its hash checked; None for one that is not there, or is damaged. Reads only."""
    folder = jar_folder()
    with disk_errors(folder):
        return {jar: _cached(jar, folder) for jar in jars}


def _cached(jar: Jar, folder: Path) -> Path | None:
    path = folder / jar.group / jar.file_name
    try:
        return path if matches(jar, path) else None
    except FileNotFoundError:
        return None


def ensure_jars(jars: Sequence[Jar] = JARS, progress: Callable[[str], None] = lambda _: None) -> tuple[Path, ...]:
    """Every jar as a file whose hash is right, in order; fetches what is not in the cache."""
    named = os.environ.get("FLOE_SPARK_JARS")
    if named:
        return tuple(_provided(jar, named) for jar in jars)
    found = find_jars(jars)
    if not all(found.values()):
        _fetch(jars, progress)
        found = find_jars(jars)
    missing = [jar for jar, path in found.items() if path is None]
    if missing:  # fetched, checked, and gone or changed since
        where = jar_folder() / missing[0].group / missing[0].file_name
        raise FloeError(Finding("FLOE-E702", f"{where} changed while it was being used", HERE))
    return tuple(path for path in found.values() if path)


def _provided(jar: Jar, named: str) -> Path:
    """The jar in the folder, or among the files, that FLOE_SPARK_JARS names."""
    entries = [Path(part) for part in named.split(os.pathsep) if part]
    files = [entry / jar.file_name if entry.is_dir() else entry for entry in entries]
    path = next((file for file in files if file.name == jar.file_name and file.is_file()), None)
    if path is None:
        message = f"{jar.file_name} ({jar.coordinates}) is not in {named}"
        raise FloeError(Finding("FLOE-E706", message, HERE))
    with disk_errors(path):
        if not matches(jar, path):
            raise _wrong(jar, path, str(path), f"Put the jar with sha256 {jar.sha256} there.")
    return path.absolute()


def _fetch(jars: Sequence[Jar], progress: Callable[[str], None]) -> None:
    folder = jar_folder()
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder / "lock", progress):
            missing = [jar for jar, path in find_jars(jars).items() if path is None]
            if missing:  # another process may have fetched them while this one waited
                _fetch_missing(missing, folder, progress)


@contextmanager
def _alone(path: Path, progress: Callable[[str], None]) -> Iterator[None]:
    """Holds the lock; the system gives it back when its process dies."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress("Waiting for another process that fetches the jars")
        try:
            lock.acquire(timeout=PATIENCE)
        except Timeout as exc:
            message = f"another process has held {path} for {PATIENCE} s"
            raise FloeError(Finding("FLOE-E701", message, HERE)) from exc
    try:
        yield
    finally:
        lock.release()


def _fetch_missing(jars: Sequence[Jar], folder: Path, progress: Callable[[str], None]) -> None:
    """With the lock held: what a killed process left behind is nobody's."""
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)
    size = sum(jar.size or 0 for jar in jars)
    _check_space(folder, size)
    progress(f"Fetching {', '.join(jar.file_name for jar in jars)} ({size / 1e6:.0f} MB)")
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=folder, ignore_cleanup_errors=True) as work:
        ivy.retrieve((jar.coordinates for jar in jars), Path(work), find_java())
        for jar in jars:
            fresh = Path(work) / jar.group / jar.file_name
            if not fresh.is_file():
                raise FloeError(Finding("FLOE-E701", f"{jar.coordinates} was not delivered", HERE))
            if not matches(jar, fresh):
                fix = "Ask whoever runs the repository or mirror; FLOE_SPARK_JARS takes jars from elsewhere."
                raise _wrong(jar, fresh, "what was delivered", fix)
            target = folder / jar.group / jar.file_name
            target.parent.mkdir(exist_ok=True)
            fresh.replace(target)


def _check_space(folder: Path, size: int) -> None:
    """Twice the size: Ivy keeps one copy and retrieves another."""
    free = shutil.disk_usage(folder).free
    if free < 2 * size:
        reason = f"{os.strerror(errno.ENOSPC)}: {free / 1e6:.0f} MB free, {2 * size / 1e6:.0f} MB needed"
        raise OSError(errno.ENOSPC, reason, str(folder))


def _wrong(jar: Jar, path: Path, what: str, fix: str) -> FloeError:
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    message = f"{what} is not {jar.coordinates}: its sha256 is {actual}"
    return FloeError(Finding("FLOE-E702", message, HERE, fix=fix, expected=jar.sha256, actual=actual))
