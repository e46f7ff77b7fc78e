"""What a run talks to: it passes each event to spans, metrics and lineage, or to nobody."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Final, Protocol

from floe_telemetry.events import Event, EventsDropped
from floe_telemetry.facts import Facts
from floe_telemetry.outcome import Outcome
from floe_telemetry.settings import Collector, backend, collector

BUDGET: Final = 2.0  # seconds that a run waits for its telemetry, all of it together
LEAST: Final = 0.5  # seconds of it that remain for sending, however long loading took
MARGIN: Final = 0.2  # seconds of it for hanging up


class Flags(Protocol):
    """What the platform wants to be reported; `CompiledArtifacts.observability` is one."""

    @property
    def traces(self) -> bool: ...

    @property
    def metrics(self) -> bool: ...

    @property
    def lineage(self) -> bool: ...


class Sink(Protocol):
    """Where events go. Neither method may raise, and `close` returns at the deadline, in time.monotonic()."""

    def record(self, event: Event) -> None: ...

    def dropped(self) -> EventsDropped: ...

    def close(self, deadline: float) -> Outcome: ...


class Telemetry:
    """The telemetry of one run. Nothing about it can make a run fail, or wait longer than the budget."""

    def __init__(self, sinks: tuple[Sink, ...] = (), problems: tuple[str, ...] = (), spent: float = 0.0) -> None:
        self._sinks = sinks
        self._problems = problems
        self._spent = spent
        self._guard = threading.Lock()  # models end in many threads

    @classmethod
    def of(
        cls, facts: Facts, flags: Flags, environ: Mapping[str, str], spool: Path, platform: str = ""
    ) -> Telemetry:
        """As the platform wants it and the environment allows; `platform` is the lineage backend that it names."""
        began = time.monotonic()
        facts = replace(facts, namespace=environ.get("OPENLINEAGE_NAMESPACE", "").strip() or facts.namespace)
        sinks: list[Sink] = []
        problems: list[str] = []
        for signal, wanted in (("traces", flags.traces), ("metrics", flags.metrics)):
            if wanted and (target := collector(signal, environ)):
                opened = _open(target, facts, environ)
                problems.append(opened) if isinstance(opened, str) else sinks.append(opened)
        if flags.lineage and (found := backend(environ, platform)):
            module, storage = import_module("floe_telemetry.lineage"), import_module("floe_telemetry.spool")
            sinks.append(module.Lineage(facts, found, storage.Spool(spool)))
        return cls(tuple(sinks), tuple(problems), time.monotonic() - began)

    @property
    def active(self) -> bool:
        """Whether anybody listens; if not, what only telemetry needs need not be found out."""
        return bool(self._sinks)

    def record(self, event: Event) -> None:
        if not self._sinks:
            return
        with self._guard:
            began = time.monotonic()
            for sink in self._sinks:
                sink.record(event)
            self._spent += time.monotonic() - began

    def close(self, budget: float = BUDGET) -> Outcome:
        """Send what can be sent within the budget; lineage that cannot stays in the spool.

        The budget is in seconds, and what the run has already spent on its telemetry is part of it.
        """
        deadline = time.monotonic() + max(min(LEAST, budget), budget - self._spent - MARGIN)
        with self._guard:
            sinks, self._sinks = self._sinks, ()
        for lost in (sink.dropped() for sink in sinks):
            if lost.statuses or lost.others:
                for sink in sinks:
                    sink.record(lost)
        closings = [_Closing(sink.close, deadline) for sink in sinks]
        outcome = Outcome(problems=self._problems)
        for closing in closings:
            closing.join(max(0.0, deadline + MARGIN - time.monotonic()))
            outcome += closing.outcome
        return outcome

    def __enter__(self) -> Telemetry:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Closing(threading.Thread):
    """Closes one sink beside the others, so that they share the budget instead of adding up."""

    def __init__(self, close: Callable[[float], Outcome], deadline: float) -> None:
        super().__init__(name="floe-telemetry-close", daemon=True)
        self.outcome = Outcome(problems=("telemetry: it could not be closed in time; lineage waits in the spool",))
        self._close = close
        self._deadline = deadline
        self.start()

    def run(self) -> None:
        self.outcome = self._close(self._deadline)


def _open(target: Collector, facts: Facts, environ: Mapping[str, str]) -> Sink | str:
    """What sends one signal, or why nothing does."""
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # its complaints belong into a log, if any
    try:
        sink: Sink = import_module(f"floe_telemetry.otlp_{target.signal}").open_sink(target, facts, environ)
    except ImportError as exc:
        missing = exc.name or "opentelemetry"
        return f"{target.signal}: OTLP is configured, and {missing} is not installed; install floe-telemetry[otlp]"
    except ValueError as exc:
        return f"{target.signal}: {exc}"
    return sink
