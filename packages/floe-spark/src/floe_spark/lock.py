"""One run of a product at a time, on this machine. The lock is the system's: it ends with its process, however."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from floe_core.findings import Finding, FloeError, Place

SUFFIX = ".run"  # beside the lock: the id of the run that holds it


@contextmanager
def alone(lock: Path, run_id: str, place: Place, *, wait: bool, say: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a product; without `wait`, a run that is going on is FLOE-E720."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    holder, held = lock.with_suffix(SUFFIX), FileLock(lock)
    try:
        held.acquire(timeout=0)
    except Timeout as exc:
        first = _read(holder)
        if not wait:
            message = f"{first} is still running"
            raise FloeError(Finding("FLOE-E720", message, place)) from exc
        say(f"Waiting for {first}")
        held.acquire()
    try:
        holder.write_text(run_id, encoding="utf-8")
        yield
    finally:
        holder.unlink(missing_ok=True)
        held.release()


def _read(holder: Path) -> str:
    """Who holds the lock; a run that has just begun may not have said so yet."""
    try:
        return holder.read_text(encoding="utf-8") or "another run"
    except OSError:
        return "another run"
