"""How a command of another package works inside `floe` (entry-point group `floe.commands`).

The entry point is a click command. What the terminal already does, it asks of `ctx.obj`, a CommandHost, so that it
needs no import of the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:  # a command that starts fast imports none of this
    from pathlib import Path

    from floe_core.compile import Outcome
    from floe_core.findings import Report

GROUP = "floe.commands"


class CommandHost(Protocol):
    """What `floe` does for every command."""

    def emit(self, report: Report, output: str) -> int:
        """Print a report as text or JSON, and return the exit code."""

    def compile(self, root: Path, output: str) -> Outcome:
        """Compile a product before it is run, as `floe compile` does, steps shown when the output is text."""

    def say(self, line: str) -> None:
        """Show progress: on stderr, harmless to the terminal."""

    def verdict(self, text: str, ok: bool) -> str:
        """A line that says how something came out, in its colour."""

    def table(self, rows: list[tuple[str, ...]]) -> str:
        """Columns, each as wide as its widest cell."""
