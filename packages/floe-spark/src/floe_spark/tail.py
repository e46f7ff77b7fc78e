"""Shows log files while they grow."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

INTERVAL = 0.2  # seconds between two looks


@contextmanager
def following(files: Iterable[Path], say: Callable[[str], None]) -> Iterator[None]:
    """Say each line that is added to the files until the end; what was in them before is left out."""
    read = {file: file.stat().st_size if file.exists() else 0 for file in files}
    done = threading.Event()

    def follow() -> None:
        while not done.wait(INTERVAL):
            show()

    def show() -> None:
        for file in read:
            read[file] = _show_from(file, read[file], say)

    watcher = threading.Thread(target=follow, name="floe-logs", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        show()


def _show_from(file: Path, start: int, say: Callable[[str], None]) -> int:
    """Say the whole lines after `start`, and return where they end; a file that was begun anew is read anew."""
    try:
        with file.open("rb") as log:
            start = 0 if log.seek(0, 2) < start else start
            log.seek(start)
            whole = log.read().rpartition(b"\n")[0]
    except OSError:
        return start
    for line in whole.decode("utf-8", errors="replace").splitlines():
        say(line)
    return start + len(whole) + 1 if whole else start
