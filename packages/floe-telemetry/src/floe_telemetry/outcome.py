"""What became of the telemetry of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of lineage events, and sentences for the end of a run; none is a reason to fail it."""

    delivered: int = 0
    kept: int = 0
    rejected: int = 0
    dropped: int = 0
    problems: tuple[str, ...] = ()

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.delivered + other.delivered,
            self.kept + other.kept,
            self.rejected + other.rejected,
            self.dropped + other.dropped,
            (*self.problems, *other.problems),
        )
