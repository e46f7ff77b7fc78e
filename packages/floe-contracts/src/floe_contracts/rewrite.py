"""Puts a new version where the old one is written, and touches nothing else."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError, Place
from floe_core.source import parse

_SCALAR = re.compile(r"""(["']?)[0-9]+(?:\.[0-9]+)*\1""")


def write_version(contract: Contract, version: str) -> Path:
    """Change the version in the file it comes from: the contract's own, or floe.yaml for a generated one."""
    place = contract.place(("version",))
    path = Path(place.path)
    try:
        before = path.read_bytes()
    except OSError as exc:
        raise _unwritable(path, place, exc) from exc
    after = _spliced(before, place.line, place.column, version)
    if after is None or not _only_the_version_changed(before, after, str(path)):
        fix = f"Write version {version} there yourself."
        message = f"the version is written in a way that floe does not change: {contract.version}"
        raise FloeError(Finding("FLOE-E521", message, place, fix=fix))
    try:
        _replace(path, after)
    except OSError as exc:
        raise _unwritable(path, place, exc) from exc
    return path


def _unwritable(path: Path, place: Place, exc: OSError) -> FloeError:
    message = f"{path.name} cannot be written: {exc.strerror}"
    return FloeError(Finding("FLOE-E100", message, place, fix="Check the file's permissions."))


def _spliced(data: bytes, line: int, column: int, version: str) -> bytes | None:
    """The file with another scalar at one place; comments, quotes and line ends stay as they are."""
    lines = data.decode("utf-8").splitlines(keepends=True)
    if line > len(lines):
        return None
    text = lines[line - 1]
    start = column - 1 + text.startswith("\ufeff")
    found = _SCALAR.match(text, start)
    if found is None:
        return None
    lines[line - 1] = f"{text[:start]}{found[1]}{version}{found[1]}{text[found.end() :]}"
    return "".join(lines).encode("utf-8")


def _only_the_version_changed(before: bytes, after: bytes, path: str) -> bool:
    try:
        old, new = parse(before, path).root.plain(), parse(after, path).root.plain()
    except FloeError:
        return False
    block, other = (data.get("metadata", data) if "version" not in data else data for data in (old, new))
    block.pop("version", None)
    other.pop("version", None)
    return bool(old == new)


def _replace(path: Path, data: bytes) -> None:
    """All or nothing: a crash leaves the old file."""
    mode = path.stat().st_mode
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        file.write(data)
    try:
        Path(file.name).chmod(mode)
        Path(file.name).replace(path.resolve())
    except OSError:
        Path(file.name).unlink(missing_ok=True)
        raise
