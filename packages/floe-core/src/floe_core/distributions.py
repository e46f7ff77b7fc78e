"""The packages that are installed, by the folders of metadata that an installer writes on sys.path.

importlib.metadata reads the same and more; importing it takes a tenth of the time of a small command. What it finds
besides, packages inside a zip file, floe does not.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ABOUT = {
    ".dist-info": "METADATA",
    ".egg-info": "PKG-INFO",
}  # a folder's ending, and the file that names the package
_BODY = re.compile(r"\r?\n\r?\n")
_FIELD = re.compile(r"^(name|version):(.*)$", re.IGNORECASE | re.MULTILINE)
_DASHES = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class Distribution:
    """An installed package. Nothing of it has been imported; files are read when somebody asks."""

    folder: Path
    about: str

    def announces(self) -> str:
        """Its entry points, as the installer wrote them."""
        return _text(self.folder / "entry_points.txt")

    def name_and_version(self) -> tuple[str, str]:
        """As the head of the metadata says; "" where it does not: what an uninstall left behind."""
        head = _BODY.split(_text(self.folder / self.about), maxsplit=1)[0]
        said = {key.lower(): value.strip() for key, value in _FIELD.findall(head)}
        return said.get("name", ""), said.get("version", "")


def distributions(only: str = "") -> Iterator[Distribution]:
    """Of packages that are there several times, the first on sys.path: the one that imports."""
    wanted, seen = _folded(only), set[str]()
    for top in dict.fromkeys(sys.path):
        for name, ending in _folders(top or "."):
            folded = _folded(name.removesuffix(ending).partition("-")[0])
            if folded in seen or (wanted and folded != wanted):
                continue
            found = Distribution(Path(top or ".", name), ABOUT[ending])
            if found.name_and_version()[0] if wanted else os.path.exists(found.folder / found.about):  # noqa: PTH110
                seen.add(folded)
                yield found


def version_of(name: str) -> str | None:
    """The version of a package; None when it is not installed."""
    return next((found.name_and_version()[1] for found in distributions(name)), None)


def _folders(top: str) -> Iterator[tuple[str, str]]:
    try:
        names = os.listdir(top)  # noqa: PTH208 - a Path for each name would cost more than everything else
    except OSError:  # sys.path may name what is not there
        return
    for name in names:
        ending = os.path.splitext(name)[1]  # noqa: PTH122
        if ending in ABOUT:
            yield name, ending


def _folded(name: str) -> str:
    return _DASHES.sub("_", name).lower()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
