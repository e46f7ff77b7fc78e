"""Java services: jars by their coordinates, their hashes checked, and one source file compiled against them.

Java, mirrors, proxies and certificates are what `floe run` uses. The compiler is a jar as well: a machine without a
JDK can start every service.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from floe_core.catalog import Jar
from floe_core.files import cache_folder
from floe_core.findings import FloeError
from floe_spark.jars import ensure_jars
from floe_spark.java import find_java
from floe_testing.services.process import ServiceUnavailable

COMPILER = Jar("org.eclipse.jdt:ecj:3.41.0", "47bda183cd94a8bdb704f5b35690224f75b7d2fb563c8b8f9bbcfab987c3029b")
LEVEL = "-17"  # of the language and the classes; --release would need a JDK


def read_jars(text: str) -> list[Jar]:
    """Lines as sha256sum writes them, with coordinates for file names."""
    rows = (line.split() for line in text.splitlines())
    return [Jar(coordinates, sha256) for sha256, coordinates in rows]


def java_command(source: Path, jars: Sequence[Jar], options: Sequence[str]) -> list[str]:
    """What runs the one class of `source`: fetched, checked and compiled, unless it is there already."""
    try:
        java = str(find_java().executable)
        libraries = [str(path) for path in ensure_jars(jars)]
        classes = cache_folder() / "services" / f"{source.stem}-{_short_hash(source, jars)}"
        classes.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(classes.with_suffix(".lock")):
            if not classes.is_dir():
                _compile(java, source, libraries, classes)
    except FloeError as exc:
        raise ServiceUnavailable(str(exc)) from exc
    return [java, *options, "-cp", os.pathsep.join([str(classes), *libraries]), source.stem]


def _short_hash(source: Path, jars: Sequence[Jar]) -> str:
    return hashlib.sha256(source.read_bytes() + repr([COMPILER, *jars]).encode()).hexdigest()[:16]


def _compile(java: str, source: Path, libraries: list[str], classes: Path) -> None:
    [compiler] = ensure_jars([COMPILER])
    with tempfile.TemporaryDirectory(prefix="compile-", dir=classes.parent) as work:
        made = Path(work) / "classes"
        command = [java, "-jar", str(compiler), LEVEL, "-nowarn", "-d", str(made)]
        command += ["-cp", os.pathsep.join(libraries), str(source)]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as exc:
            raise ServiceUnavailable(f"{source.name}: {exc}") from exc
        if done.returncode:
            raise ServiceUnavailable(f"{source.name} cannot be compiled: {done.stderr[-1000:]}")
        made.replace(classes)
