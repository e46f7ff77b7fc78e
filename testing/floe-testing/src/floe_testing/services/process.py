"""A service as a child process: it tells when it is ready, and ends when we do."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

PATIENCE = 60.0  # seconds until a service is ready, on a busy machine


class ServiceError(Exception):
    """A service that should run does not; the message holds what it printed last."""


class ServiceUnavailable(Exception):  # noqa: N818 - not an error of anybody: this machine lacks something
    """This machine cannot run the service, and why."""


@contextmanager
def required() -> Iterator[None]:
    """A test whose service cannot be had here is skipped with the reason; where CI=true, it fails."""
    try:
        yield
    except ServiceUnavailable as exc:
        if os.environ.get("CI") == "true":
            pytest.fail(f"with CI=true nothing may be missing: {exc}", pytrace=False)
        pytest.skip(str(exc))


@contextmanager
def running(command: Sequence[str | Path], log: Path) -> Iterator[str]:
    """Runs a service until the block ends; gives the line that it prints when it is ready.

    The service must end when its standard input does. That is how it ends also when this process is killed: the
    system closes the pipe.
    """
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    try:
        yield _first_line(process, log)
    finally:
        process.kill()
        process.communicate()


def _first_line(process: subprocess.Popen[bytes], log: Path) -> str:
    lines: SimpleQueue[bytes] = SimpleQueue()
    output = process.stdout
    assert output
    threading.Thread(target=lambda: lines.put(output.readline()), daemon=True).start()
    try:
        line = lines.get(timeout=PATIENCE)
    except Empty:
        raise ServiceError(f"not ready after {PATIENCE:.0f} s\n{_tail(log)}") from None
    if not line:
        raise ServiceError(f"ended with {process.wait()} before it was ready\n{_tail(log)}")
    return line.decode().strip()


def _tail(log: Path) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2000:]
