"""Real processes that use the plugin at the same time, stop in the middle of it, or die there."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from floe_core.findings import FloeError
from floe_testing.conformance.catalog.subject import Subject, Trap

LOADED_BEFORE = frozenset(sys.modules)  # what is imported from here on, using the plugin needs
PATIENCE = 120.0  # seconds for one answer; only a process that hangs takes longer


@dataclass(frozen=True, slots=True)
class Call:
    """A method of the plugin, to be called in another process."""

    method: str
    args: tuple[Any, ...] = ()
    kwargs: tuple[tuple[str, Any], ...] = ()
    trap: int = 0  # which of the client's calls the signal comes before; 0: none
    signal: int = 0


@dataclass(frozen=True, slots=True)
class Done:
    """What the method returned, and which calls its client made for it."""

    value: Any
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """floe's own error."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Broke:
    """An error that nobody expected."""

    traceback: str


@dataclass(frozen=True, slots=True)
class Sprung:
    """The trap went off; the process is about to stop."""


class UnexpectedError(Exception):
    """Another process did something that no test asked for."""


class DiedError(Exception):
    """The process was killed before it could answer."""


class Process:
    """Another process with its own plugin."""

    def __init__(self, subject: Subject) -> None:
        context = multiprocessing.get_context("forkserver")
        used = [name for name in sys.modules if name not in LOADED_BEFORE]
        context.set_forkserver_preload(["__main__", __name__, *used])  # imported once, and not by each process
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(subject, theirs), daemon=True)
        self._process.start()
        theirs.close()

    def send(self, method: str, *args: Any, trap: int = 0, signal: int = 0, **kwargs: Any) -> None:
        self._connection.send(Call(method, args, tuple(kwargs.items()), trap, signal))

    def receive(self) -> Any:
        """The answer as it came: Done, Refused, Sprung; DiedError when none will come."""
        if not self._connection.poll(PATIENCE):
            raise UnexpectedError("a process does not answer any more")
        try:
            answer = self._connection.recv()
        except (EOFError, ConnectionResetError):
            raise DiedError from None
        if isinstance(answer, Broke):
            raise UnexpectedError(f"in another process:\n{answer.traceback}")
        return answer

    def is_busy(self) -> bool:
        """Whether there is no answer yet."""
        return not self._connection.poll()

    def call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        self.send(method, *args, **kwargs)
        return _value(self.receive())

    def wait_until_stopped(self) -> None:
        """After Sprung, until the system has really stopped it."""
        with open(f"/proc/{self._process.pid}/stat") as stat:  # noqa: PTH123 - read again and again
            while stat.read().rpartition(")")[2].split()[0] != "T":
                stat.seek(0)

    def resume(self) -> None:
        assert self._process.pid
        os.kill(self._process.pid, signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._process.close()
        self._connection.close()


def _value(answer: Any) -> Any:
    if not isinstance(answer, Done):
        raise UnexpectedError(f"not an answer: {answer}")
    return answer.value


@contextmanager
def process(subject: Subject) -> Iterator[Process]:
    running = Process(subject)
    try:
        yield running
    finally:
        running.end()


@contextmanager
def processes(subject: Subject, number: int) -> Iterator[Sequence[Process]]:
    running = [Process(subject) for _ in range(number)]
    try:
        yield running
    finally:
        for each in running:
            each.end()


def race(racers: Sequence[Process], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Everybody at once: the answers, in the order of the racers."""
    for racer, (method, *args) in zip(racers, calls, strict=True):
        racer.send(method, *args)
    return [racer.receive() for racer in racers]


def _serve(subject: Subject, connection: Connection) -> None:
    trap = Trap()
    plugin = subject.make(trap)
    while True:
        try:
            call = connection.recv()
        except EOFError:  # whoever asked is gone
            return
        trap.number, trap.calls = call.trap, []
        trap.spring = lambda: _signal(connection, call.signal)  # noqa: B023 - runs within this round
        connection.send(_answer(plugin, call, trap))


def _signal(connection: Connection, number: int) -> None:
    if number == signal.SIGSTOP:
        connection.send(Sprung())
    os.kill(os.getpid(), number)


def _answer(plugin: Any, call: Call, trap: Trap) -> Done | Refused | Broke:
    try:
        return Done(getattr(plugin, call.method)(*call.args, **dict(call.kwargs)), tuple(trap.calls))
    except FloeError as exc:
        return Refused(exc.findings[0].code, exc.findings[0].message)
    except Exception:  # noqa: BLE001 - the process that asked must hear of it
        return Broke(traceback.format_exc())
