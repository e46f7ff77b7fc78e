"""Other products of the same repository: two whose names are one in the catalog."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from floe_core.claims import Claim, twins
from floe_core.findings import Finding, FloeError, Severity
from floe_core.git import TIMEOUT
from floe_core.load import load_product
from floe_core.namespaces import as_identifier
from floe_core.resolve import resolve

_NAME = re.compile(rb"\bname:\s*[\"']?([a-z][a-z0-9_-]*)")


def same_name(claim: Claim, folder: Path, severity: Severity) -> list[Finding]:
    """A finding for every other product of the repository that has this product's id."""
    own = folder.resolve()
    found = []
    for other in _products(folder):
        if other.parent.resolve() != own and _may_be(other, claim.metadata.name) and _id(other) == claim.id:
            here, there = (_inside(path, folder) for path in (own, other.parent))
            found.append(twins(claim.id, here, there, claim.place("name"), severity))
    return found


def _products(folder: Path) -> list[Path]:
    """Every floe.yaml that git knows in this repository; none where there is no git."""
    command = [
        "git",
        "-C",
        str(folder),
        "-c",
        "core.fsmonitor=false",
        "ls-files",
        "-z",
        "--full-name",
        "--",
        ":(top,glob)**/floe.yaml",
    ]
    try:
        listed = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=False)  # noqa: S603 - our own arguments, no shell
    except (OSError, subprocess.TimeoutExpired):
        return []
    top = _top(folder)
    names = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [top / name for name in names if name and not listed.returncode]


def _top(folder: Path) -> Path:
    """The folder that holds .git."""
    home = folder.resolve()
    return next((path for path in (home, *home.parents) if (path / ".git").exists()), home)


def _inside(path: Path, folder: Path) -> str:
    return path.resolve().relative_to(_top(folder)).as_posix()


def _may_be(path: Path, name: str) -> bool:
    """Whether the file speaks of such a name at all: most do not, and need not be read with care."""
    try:
        text = path.read_bytes()
    except OSError:
        return False
    wanted = as_identifier(name)
    return any(as_identifier(found.decode()) == wanted for found in _NAME.findall(text))


def _id(path: Path) -> str | None:
    """The id of the product in a file; None for one that cannot be read, which its own compile will say."""
    try:
        return resolve(load_product(path)).product_id
    except FloeError:
        return None
