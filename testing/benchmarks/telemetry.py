"""What its telemetry costs a run: with nothing configured, with backends that work, and with dead ones.

A run of 50 models with three tests each is told to `Telemetry`, in a process of its own, as fast as it can be.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from floe_telemetry import (
    CheckType,
    Column,
    ContractChecked,
    Dataset,
    Facts,
    Node,
    NodeFinished,
    Origin,
    Result,
    RunFinished,
    RunStarted,
    Telemetry,
    TestFinished,
    Violation,
    ViolationSeverity,
    ViolationType,
)
from floe_testing.services.lineage import lineage_backend
from floe_testing.services.otlp import otlp_collector
from floe_testing.services.proxy import refused_address

ROUNDS = 5
MODELS = 50
COLUMNS = 20
TESTS = 3
VIOLATIONS = 3
LIMIT = 2.0  # seconds that a dead backend may cost a run, all of its telemetry together
INERT = 50e-6  # seconds for an event that nobody listens to

NOTHING, WORKING = "nothing configured", "working backends"
REFUSING, SILENT = "refusing backends", "silent backends"


@dataclass(frozen=True)
class Flags:
    traces: bool = True
    metrics: bool = True
    lineage: bool = True


@dataclass(frozen=True)
class Cost:
    """Seconds of one run, and what became of its lineage."""

    opened: float
    recorded: float
    closed: float
    delivered: int
    kept: int
    violations: int  # that wait in the spool

    @property
    def total(self) -> float:
        return self.opened + self.recorded + self.closed


def main() -> int:
    if sys.argv[1:]:
        print(json.dumps(vars(report(Path(sys.argv[1])))))
        return 0
    with tempfile.TemporaryDirectory() as folder, backends(Path(folder)) as places:
        costs = {
            name: [in_a_process(environ, Path(folder)) for _ in range(ROUNDS)] for name, environ in places.items()
        }
    return 0 if show(costs) else 1


@contextmanager
def backends(folder: Path) -> Iterator[Mapping[str, Mapping[str, str]]]:
    with (
        otlp_collector(folder) as collector,
        lineage_backend(folder) as lineage,
        refused_address() as refused,
        black_hole() as hole,
    ):
        yield {
            NOTHING: {},
            WORKING: {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.grpc, "OPENLINEAGE_URL": lineage.uri},
            REFUSING: {"OTEL_EXPORTER_OTLP_ENDPOINT": refused, "OPENLINEAGE_URL": refused},
            SILENT: {"OTEL_EXPORTER_OTLP_ENDPOINT": hole, "OPENLINEAGE_URL": hole},
        }


@contextmanager
def black_hole() -> Iterator[str]:
    """An address that swallows every packet: the queue of whoever listens there is full, and stays so."""
    with ExitStack() as open_sockets:
        listening = open_sockets.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def in_a_process(environ: Mapping[str, str], folder: Path) -> Cost:
    left_out = ("OTEL_", "OPENLINEAGE_", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    with tempfile.TemporaryDirectory(dir=folder) as spool:
        command = [sys.executable, "-m", "testing.benchmarks.telemetry", spool]
        done = subprocess.run(command, env={**kept, **environ}, stdout=subprocess.PIPE, text=True, check=True)
    return Cost(**json.loads(done.stdout))


def report(spool: Path) -> Cost:
    """Tell of one run, in this process."""
    facts = Facts("customer-360", "1.0.0", "mesh", "sales.customer-360", "0.1.0", "sales", "acme")
    now = datetime.now(UTC)
    columns = tuple(Column(f"column_{number}", "string") for number in range(COLUMNS))
    start = time.perf_counter()
    telemetry = Telemetry.of(facts, Flags(), os.environ, spool)
    opened = time.perf_counter()
    telemetry.record(RunStarted("run", now))
    for number in range(MODELS):
        name, before = f"silver_{number}", f"silver_{number - 1}"
        lineage = {column.name: (Origin(before, column.name),) for column in columns}
        inputs, output = (Dataset(before, columns=columns),), Dataset(name, columns=columns)
        node = Node(name, "silver", "table")
        telemetry.record(
            NodeFinished(node, now, now, rows=1, inputs=inputs, output=output, column_lineage=lineage, tests=TESTS)
        )
        for test in range(TESTS):
            telemetry.record(TestFinished(f"test_{test}", name, now, now, Result.PASS))
    late = Violation(ViolationType.FRESHNESS, ViolationSeverity.ERROR, "late")
    telemetry.record(ContractChecked("c", "1.0.0", CheckType.FRESHNESS, now, now, violations=(late,) * VIOLATIONS))
    telemetry.record(RunFinished(datetime.now(UTC)))
    recorded = time.perf_counter()
    outcome = telemetry.close()
    closed = time.perf_counter()
    waiting = len(list(spool.rglob("*.violation.json")))
    return Cost(opened - start, recorded - opened, closed - recorded, outcome.delivered, outcome.kept, waiting)


def show(costs: Mapping[str, list[Cost]]) -> bool:
    """Print the table and the verdicts; whether all of them hold."""
    width = max(map(len, costs))
    print(f"{'medians':{width}}  {'open':>8}  {'record':>8}  {'close':>8}  {'worst run':>9}  lineage")
    for name, runs in costs.items():
        print(f"{name:{width}}  {row(runs)}")
    print()
    events = MODELS * (TESTS + 1) + 3
    quiet = statistics.median(run.total for run in costs[NOTHING]) / events
    dead = [run for name in (REFUSING, SILENT) for run in costs[name]]
    worst, lost = max(run.total for run in dead), sum(VIOLATIONS - run.violations for run in dead)
    kept = sum(run.kept for run in costs[WORKING])
    verdicts = [
        verdict(f"an event that nobody listens to: {quiet * 1e6:.1f} µs", f"≤ {INERT * 1e6:g}", quiet <= INERT),
        verdict(f"dead backends, the worst run: {worst:.2f} s", f"≤ {LIMIT:g}", worst <= LIMIT),
        verdict(f"violations lost with them: {lost}", "0", lost == 0),
        verdict(f"events that working backends did not get: {kept}", "0", kept == 0),
    ]
    return all(verdicts)


def row(runs: Sequence[Cost]) -> str:
    parts = [statistics.median(getattr(run, part) for run in runs) for part in ("opened", "recorded", "closed")]
    last, worst = runs[-1], max(run.total for run in runs)
    shown = "  ".join(f"{seconds * 1e3:5.0f} ms" for seconds in parts)
    return f"{shown}  {worst:7.2f} s  {last.delivered} sent, {last.kept} kept"


def verdict(found: str, demanded: str, holds: bool) -> bool:
    print(f"{'✓' if holds else '✗'} {found}, demanded {demanded}")
    return holds


if __name__ == "__main__":
    sys.exit(main())
