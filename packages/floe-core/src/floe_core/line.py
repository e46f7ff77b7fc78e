"""The line that runs the stages of a compile: times each, opens its span, shows its step, keeps what it finds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol, TypeVar

from floe_core.findings import Finding, FloeError, Severity

STEPS = 6
SPAN = "floe.compile"

P = ParamSpec("P")
T = TypeVar("T")


class Watcher(Protocol):
    """Whoever follows a compile while it runs: a terminal, or nobody."""

    def step(self, number: int, of: int, title: str) -> None:
        """A step begins."""

    def note(self, text: str) -> None:
        """A fact about the step."""

    def working(self, text: str) -> None:
        """Something that takes its time begins."""

    def found(self, findings: Sequence[Finding]) -> None:
        """What the step has found."""


class Nobody:
    """Follows nothing."""

    def step(self, number: int, of: int, title: str) -> None:
        pass

    def note(self, text: str) -> None:
        pass

    def working(self, text: str) -> None:
        pass

    def found(self, findings: Sequence[Finding]) -> None:
        pass


def no_span(name: str) -> AbstractContextManager[object]:
    return nullcontext(name)


@dataclass(slots=True)
class Line:
    """Runs stages in order: `run(stage, …)` keeps what it finds, `run.must(stage, …)` stops when that blocks."""

    watcher: Watcher = field(default_factory=Nobody)
    span: Callable[[str], AbstractContextManager[object]] = no_span
    findings: list[Finding] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    _number: int = 0
    _shown: set[Finding] = field(default_factory=set)

    def __call__(self, stage: Callable[P, tuple[T, list[Finding]]], *args: P.args, **kwargs: P.kwargs) -> T:
        name, began = stage.__name__, time.perf_counter()
        try:
            with self.span(f"{SPAN}.{name}"):
                value, found = stage(*args, **kwargs)
        finally:
            self.seconds[name] = time.perf_counter() - began
        self.findings += found
        return value

    def must(self, stage: Callable[P, tuple[T, list[Finding]]], *args: P.args, **kwargs: P.kwargs) -> T:
        before = len(self.findings)
        try:
            value = self(stage, *args, **kwargs)
        except FloeError as exc:
            self.findings += exc.findings
            raise
        found = self.findings[before:]
        if any(item.blocks for item in found):
            raise FloeError(*found)
        return value

    def blocked(self, *, strict: bool = False) -> bool:
        """Whether anything found so far keeps the product from being compiled."""
        return any(item.blocks or (strict and item.severity is Severity.WARNING) for item in self.findings)

    def step(self, title: str) -> None:
        """Begin the next step."""
        self._number += 1
        self.watcher.step(self._number, STEPS, title)

    def last_step(self, title: str) -> None:
        """End before all steps have run."""
        self.say(())
        self._number = STEPS
        self.watcher.step(STEPS, STEPS, title)

    def working(self, text: str) -> None:
        self.watcher.working(text)

    def say(self, lines: Iterable[str], *, later: Sequence[Finding] = ()) -> None:
        """What a step has to say, and what has been found and not shown yet, but for what a later step shows."""
        for line in lines:
            self.watcher.note(line)
        held = set(later)
        new = [item for item in dict.fromkeys(self.findings) if item not in self._shown and item not in held]
        self._shown.update(new)
        if new:
            self.watcher.found(new)
