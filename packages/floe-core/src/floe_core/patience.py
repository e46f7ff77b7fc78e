"""How long somebody waits for a catalog that answers, but slowly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from time import monotonic

PROMPT = 1.0  # seconds: whatever takes longer is slow
OF_A_PERSON = 8.0  # seconds of slow answers in a row; with one more and the start of floe, less than 15


class TooSlowError(Exception):
    """Answers come, and all of them late."""


@dataclass(slots=True)
class Patience:
    """Runs out when slow answers follow one another; a prompt one restores it."""

    limit: float = inf
    spent: float = field(default=0.0, init=False)

    @contextmanager
    def one(self) -> Iterator[None]:
        """One question and its answer."""
        if self.spent > self.limit:
            raise TooSlowError(f"given up: it took {self.spent:.0f} s for its last answers")
        started = monotonic()
        try:
            yield
        finally:
            took = monotonic() - started
            self.spent = self.spent + took if took > PROMPT else 0.0
