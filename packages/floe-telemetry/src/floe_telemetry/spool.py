"""Events on disk until they are delivered: bounded, never torn, and shared by runs that go on at the same time.

Each run writes into a box of its own, a folder that it holds a lock on. A box whose lock nobody holds was left
behind; the next run takes it over, whole, and delivers it first. A lock ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from floe_core.files import write_atomically

LIMIT: Final = 64 * 1024 * 1024
ROOM: Final = 0.9  # of the limit, once something had to be dropped
SUFFIX: Final = ".json"
REJECTED: Final = ".rejected"
LOCK: Final = ".lock"


class Kind(StrEnum):
    """What an event is worth: statuses are dropped first, violations never."""

    STATUS = "status"
    EVENT = "event"
    VIOLATION = "violation"


DROPPABLE: Final = (Kind.STATUS, Kind.EVENT)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event that waits: in a file, or in memory where no file could be written."""

    name: str
    path: Path | None = None
    content: bytes = b""

    def read(self) -> bytes | None:
        """The event; None when another run dropped it, to make room."""
        if self.path is None:
            return self.content
        try:
            return self.path.read_bytes()
        except OSError:
            return None


@dataclass(slots=True)
class Spool:
    """What one run has to deliver: its own events and those that earlier runs left behind."""

    folder: Path
    limit: int = LIMIT
    dropped: dict[Kind, int] = field(default_factory=lambda: dict.fromkeys(DROPPABLE, 0))
    problem: str = ""
    _boxes: dict[Path, FileLock] = field(default_factory=dict)
    _own: Path | None = None
    _memory: dict[str, Entry] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)
    _size: int = 0
    _count: int = 0

    def __post_init__(self) -> None:
        box = self.folder / f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not self._hold(box):
                raise OSError(f"{box.name} is held by another process")
            box.mkdir()
            self._own = box
            self._size = sum(_size(path) for path in self._waiting())
        except OSError as exc:
            self.problem = f"{self.folder} cannot be written: {exc.strerror or exc}"

    def put(self, event: bytes, kind: Kind) -> None:
        """Keep an event; a violation is on disk, power cut or not, when this returns."""
        with self._guard:
            self._count += 1
            name = f"{time.time_ns():020d}-{self._count:06d}.{kind}{SUFFIX}"
            if self._own is None:
                self._memory[name] = Entry(name, content=event)
                return
            try:
                if self._size + len(event) > self.limit:
                    self._make_room(len(event))
                _write(self._own / name, event, durable=kind is Kind.VIOLATION)
                self._size += len(event)
            except OSError as exc:
                self.problem = f"{self.folder} cannot be written: {exc.strerror or exc}"
                self._memory[name] = Entry(name, content=event)

    def adopt(self) -> None:
        """Take over every box that nobody holds."""
        try:
            names = {path.stem for path in self.folder.iterdir() if path.is_dir() or path.suffix == LOCK}
        except OSError:
            return
        for box in sorted(self.folder / name for name in names):
            with contextlib.suppress(OSError):
                if box not in self._boxes and self._hold(box) and not _files(box):
                    self._leave(box)

    def pending(self) -> list[Entry]:
        """What waits, oldest box first."""
        with self._guard:
            boxes, memory = sorted(self._boxes), list(self._memory.values())
        return [*(Entry(path.name, path) for box in boxes for path in sorted(_files(box))), *memory]

    def done(self, entry: Entry) -> None:
        """It was delivered."""
        if entry.path is None:
            with self._guard:
                self._memory.pop(entry.name, None)
            return
        with self._guard, contextlib.suppress(OSError):
            self._size -= _size(entry.path)
            entry.path.unlink(missing_ok=True)

    def reject(self, entry: Entry) -> None:
        """The backend will never take it: it is not sent again, and a violation is kept for people."""
        if entry.path is None or not entry.name.endswith(f".{Kind.VIOLATION}{SUFFIX}"):
            self.done(entry)
            return
        with contextlib.suppress(OSError):
            entry.path.rename(entry.path.with_suffix(REJECTED))

    def close(self) -> None:
        """Let the next run have what is left."""
        for box in list(self._boxes):
            self._leave(box)

    def _hold(self, box: Path) -> bool:
        lock = FileLock(box.with_name(box.name + LOCK), thread_local=False)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            return False
        with self._guard:
            self._boxes[box] = lock
        return True

    def _leave(self, box: Path) -> None:
        """Give the lock back; an empty box goes with it."""
        with self._guard:
            lock = self._boxes.pop(box)
        with contextlib.suppress(OSError):
            for unfinished in box.glob("*.tmp"):
                unfinished.unlink(missing_ok=True)
            if box.is_dir():
                box.rmdir()
            Path(lock.lock_file).unlink(missing_ok=True)
        lock.release()

    def _make_room(self, needed: int) -> None:
        """Drop the oldest statuses of every box, then the oldest other events; violations stay."""
        waiting = sorted(self._waiting(), key=lambda path: path.name)
        self._size = sum(map(_size, waiting))
        target = int(self.limit * ROOM) - needed
        for kind in DROPPABLE:
            for path in (path for path in waiting if path.name.endswith(f".{kind}{SUFFIX}")):
                if self._size <= target:
                    return
                size = _size(path)
                with contextlib.suppress(OSError):
                    path.unlink()
                    self._size -= size
                    self.dropped[kind] += 1

    def _waiting(self) -> Iterator[Path]:
        for box in self.folder.iterdir():
            if box.is_dir():
                yield from _files(box)


def _files(box: Path) -> list[Path]:
    try:
        return [Path(item.path) for item in os.scandir(box) if item.name.endswith(SUFFIX)]
    except OSError:  # another run has just delivered its last event
        return []


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _write(path: Path, event: bytes, *, durable: bool) -> None:
    if durable:
        write_atomically(path, event)
        return
    unfinished = path.with_suffix(".tmp")
    try:
        unfinished.write_bytes(event)
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
