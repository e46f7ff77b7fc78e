"""Lineage of a run: START and exactly one terminal event for the run, each node and each contract check."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from floe_telemetry import openlineage
from floe_telemetry.backend import Connection
from floe_telemetry.events import (
    ContractChecked,
    Dataset,
    Event,
    EventsDropped,
    Node,
    NodeFinished,
    NodeStarted,
    RunFinished,
    RunStarted,
    Status,
    TestFinished,
)
from floe_telemetry.facets import Json
from floe_telemetry.facts import Facts
from floe_telemetry.openlineage import Writer
from floe_telemetry.outcome import Outcome
from floe_telemetry.sender import Sender
from floe_telemetry.settings import Backend
from floe_telemetry.spool import Kind, Spool


@dataclass(slots=True)
class _Waiting:
    """A node that ended, and the tests about it that have not."""

    done: NodeFinished
    tests: int


class Lineage:
    """Turns what a run tells into OpenLineage events, and hands them to the spool and the sender."""

    def __init__(self, facts: Facts, backend: Backend, spool: Spool) -> None:
        self._writer = Writer(facts)
        self._spool = spool
        self._sender = Sender(Connection(backend), spool)
        self._begun: dict[str, Node] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._tests: dict[str, list[TestFinished]] = {}
        self._read: dict[tuple[str, str], Dataset] = {}
        self._written: dict[tuple[str, str], Dataset] = {}
        self._checks: Counter[str] = Counter()

    def record(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._writer = replace(self._writer, run=event)
                self._emit(self._writer.pipeline_started(event))
            case NodeStarted():
                self._start(event.node, event.at)
            case NodeFinished():
                self._finish(event)
            case TestFinished():
                self._test(event)
            case ContractChecked():
                self._check(event)
            case RunFinished():
                self._end(event)
            case EventsDropped():
                pass

    def dropped(self) -> EventsDropped:
        """What had to be given up since the spool was opened."""
        return EventsDropped(self._spool.dropped[Kind.STATUS], self._spool.dropped[Kind.EVENT])

    def close(self, deadline: float) -> Outcome:
        if self._writer.run:
            self._end(RunFinished(datetime.now(UTC), Status.FAILED, "the run ended early"), openlineage.ABORT)
        reason = self._sender.close(deadline)
        kept, spool = len(self._spool.pending()), self._spool
        spool.close()
        return Outcome(
            delivered=self._sender.delivered,
            kept=kept,
            rejected=self._sender.rejected,
            dropped=sum(spool.dropped.values()),
            problems=tuple(_problems(self._sender, spool, kept, reason)),
        )

    def _start(self, node: Node, at: datetime) -> None:
        self._begun[node.name] = node
        self._emit(self._writer.node_started(node, at))

    def _finish(self, done: NodeFinished) -> None:
        name = done.node.name
        if done.status is Status.SKIPPED:
            if node := self._begun.pop(name, None):
                self._emit(self._writer.node_aborted(node, done.ended))
            return
        if name not in self._begun:
            self._start(done.node, done.started)
        self._read |= {self._key(item): item for item in done.inputs}
        if done.output:
            self._written[self._key(done.output)] = done.output
        self._waiting[name] = _Waiting(done, done.tests - len(self._tests.get(name, ())))
        self._settle(name)

    def _key(self, item: Dataset) -> tuple[str, str]:
        return item.namespace or self._writer.facts.namespace, item.name

    def _test(self, test: TestFinished) -> None:
        self._tests.setdefault(test.model, []).append(test)
        if waiting := self._waiting.get(test.model):
            waiting.tests -= 1
            self._settle(test.model)

    def _settle(self, name: str, *, now: bool = False) -> None:
        """Write the end of a node once all that is to be said about it has been."""
        waiting = self._waiting[name]
        if waiting.tests <= 0 or now:
            del self._waiting[name], self._begun[name]
            self._emit(self._writer.node_finished(waiting.done, self._tests.get(name, ())))

    def _check(self, check: ContractChecked) -> None:
        key = f"{check.contract} {check.check}"
        for violation in check.violations:
            part = self._part(check, f"{key} {violation.type} {violation.element}")
            self._emit(self._writer.check_started(check, part))
            self._emit(self._writer.check_failed(check, violation, part), Kind.VIOLATION)
        if not check.violations:
            part = self._part(check, key)
            self._emit(self._writer.check_started(check, part), Kind.STATUS)
            end = self._writer.check_aborted if check.not_checked else self._writer.check_passed
            self._emit(end(check, part), Kind.STATUS)

    def _part(self, check: ContractChecked, key: str) -> str:
        """What tells this check from others of the run; outside of a run, from those of other times."""
        self._checks[key] += 1
        at = "" if self._writer.run else check.ended.isoformat()
        return f"{key} {at} {self._checks[key]}"

    def _end(self, done: RunFinished, kind: str = "") -> None:
        for name in list(self._waiting):
            self._settle(name, now=True)
        for node in self._begun.values():
            self._emit(self._writer.node_aborted(node, done.at))
        outside = [item for key, item in self._read.items() if key not in self._written]
        self._emit(self._writer.pipeline_finished(done, outside, list(self._written.values()), kind))
        self._writer = replace(self._writer, run=None)
        for memory in (self._begun, self._tests, self._read, self._written, self._checks):
            memory.clear()

    def _emit(self, event: Json, kind: Kind = Kind.EVENT) -> None:
        self._spool.put(json.dumps(event, separators=(",", ":"), allow_nan=False).encode(), kind)
        self._sender.wake()


def _problems(sender: Sender, spool: Spool, kept: int, reason: str) -> Iterable[str]:
    if spool.problem:
        yield f"lineage: {spool.problem}; what this run could not deliver is lost"
    if kept:
        yield f"lineage: {kept} events wait in {spool.folder} for the next run: {reason or 'not sent yet'}"
    if sender.rejected:
        refused = f"lineage: {sender.rejected} events were refused by the backend"
        yield f"{refused}; violations among them are kept in {spool.folder}"
    if dropped := sum(spool.dropped.values()):
        yield f"lineage: {dropped} events were dropped, {spool.folder} is full"
