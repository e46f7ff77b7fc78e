"""One row of the table of codes, and how a command ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

DOCS = "https://docs.floe.dev/codes"


class Exit(IntEnum):
    """How a command ends; when several apply, the highest wins."""

    CLEAN = 0
    FINDINGS = 1
    INPUT = 2
    UNCHECKED = 3
    BUG = 70


@dataclass(frozen=True, slots=True)
class Code:
    """One thing that can be wrong, why it matters, and what to do."""

    id: str
    title: str
    exit: Exit
    why: str
    fix: str

    @property
    def docs(self) -> str:
        return f"{DOCS}#{self.id.lower()}"


def rows(exit_code: Exit, *rows: tuple[str, str, str, str]) -> tuple[Code, ...]:
    """Rows that end a command in the same way."""
    return tuple(Code(f"FLOE-{number}", title, exit_code, why, fix) for number, title, why, fix in rows)
