"""What `floe doctor` checks: rows, contributed by installed packages (entry-point group `floe.doctor`).

Behind an entry point stands a callable without arguments that returns an iterable of `Check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from floe_core.findings import FloeError, Place
from floe_core.plugins import gather, installed

GROUP = "floe.doctor"
HERE = Place("(this machine)")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that floe needs; `fix` is empty when it is there."""

    name: str
    detail: str
    fix: str = ""
    code: str = "FLOE-E800"


def contributed() -> Iterator[Check]:
    """The checks of every installed package; a package whose checks cannot be had is itself a failed check."""
    for plugin in installed(GROUP):
        try:
            yield from gather(plugin, Check, HERE)
        except FloeError as exc:
            for item in exc.findings:
                yield Check(plugin.name, item.message, item.fix, item.code)
