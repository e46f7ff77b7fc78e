"""Writing files so that a reader, or a kill at any moment, never meets half of one; and where scratch work goes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

_CHUNK = 1024 * 1024


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file as one step: what was there stays until all of the new content is on disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(path))
        os.replace(name, path)  # noqa: PTH105 - the one call that the atomicity hangs on, by its own name
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)  # noqa: PTH108 - as above
        raise
    _sync_folder(path.parent)


def _mode(path: Path) -> int:
    """The permissions of the file that is replaced, else what the umask leaves: mkstemp makes files private."""
    try:
        return path.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power cut too, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, read in pieces."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


def cache_folder() -> Path:
    """What floe keeps outside every checkout, fetched or derived: FLOE_CACHE, else the user's cache."""
    if chosen := os.environ.get("FLOE_CACHE"):
        return Path(chosen).expanduser().absolute()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "floe"
    try:
        return Path.home() / ".cache" / "floe"
    except RuntimeError:  # no HOME, and no entry for this user
        return Path(tempfile.gettempdir()) / "floe"
