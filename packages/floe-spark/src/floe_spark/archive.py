"""Spark's classes as Java keeps them once they are read and verified: half of a cold start is saved with them.

An archive belongs to one Java and one class path. Java itself looks whether it still does, and goes on without when
it does not.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from floe_core.files import cache_folder
from floe_spark.java import Java

SUFFIX = ".jsa"
KEPT = 3  # archives of 200 MB, the ones used last: each environment on a machine has its own


def archive_folder() -> Path:
    return cache_folder() / "java"


def archive_of(java: Java, class_path: Sequence[str]) -> Path:
    """Where the archive of this Java and these jars is, if there is one."""
    known = hashlib.sha256(java.version.encode())
    for path in (java.executable.resolve(), *_files(class_path)):
        found = path.stat()
        known.update(f"\0{path}\0{found.st_size}\0{found.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    return archive_folder() / f"{known.hexdigest()[:32]}{SUFFIX}"


def base_of(java: Java) -> Path | None:
    """Where the archive of Java's own classes is kept, which Spark's stands on; None for a Java that brings one."""
    brought = java.executable.resolve().parents[1] / "lib" / "server" / "classes.jsa"
    return None if brought.is_file() else archive_of(java, ()).with_suffix(".base")


def _files(class_path: Sequence[str]) -> Iterator[Path]:
    for part in map(Path, class_path):
        yield from sorted(part.parent.glob("*.jar")) if part.name == "*" else (part,)


def find_archive(java: Java, class_path: Sequence[str]) -> Path | None:
    """The archive to start with: only one that nobody else could have written, for there is code in it."""
    try:
        archive, base = archive_of(java, class_path), base_of(java)
        if not (is_ours(archive) and (base is None or is_ours(base))):
            return None
        os.utime(archive)
    except OSError:
        return None
    return archive


def is_ours(archive: Path) -> bool:
    """Whether it is there and only its owner, who runs floe, can write it."""
    try:
        found = archive.stat()
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def keep_newest() -> None:
    """Remove the archives that have not been used for longest."""
    used = sorted(archive_folder().glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in used[KEPT:]:
        path.unlink(missing_ok=True)
