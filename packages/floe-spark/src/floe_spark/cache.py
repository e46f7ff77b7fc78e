"""What a refusal of the disk means, where floe keeps what it fetched."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError

FULL = (errno.ENOSPC, errno.EDQUOT)
NO_SPACE = "No space left on device"  # as Java and Linux word it


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turns what the disk refuses into E703 and E704."""
    try:
        yield
    except OSError as exc:
        where, reason = exc.filename or folder, exc.strerror or str(exc)
        if exc.errno in FULL:
            raise FloeError(Finding("FLOE-E704", f"{where}: {reason}", HERE)) from exc
        raise FloeError(Finding("FLOE-E703", f"{where}: {reason}", HERE)) from exc
