"""No backend makes a run wait or fail, and none makes it lose an event."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from customer_run import FACTS, LATE, Flags, at, fresh, whole_run
from network import black_hole

from floe_telemetry import Node, NodeFinished, Outcome, RunFinished, RunStarted, Telemetry
from floe_telemetry.lineage import Lineage
from floe_telemetry.settings import backend as lineage_settings
from floe_telemetry.spool import Spool
from floe_testing.services.lineage import FORBIDDEN, LineageBackend
from floe_testing.services.otlp import Collector, attributes
from floe_testing.services.proxy import Fault, every, fault_proxy, nth, refused_address

LINEAGE = Flags(traces=False, metrics=False)
PATIENCE = 60.0  # seconds; a guard, not a measure
EVENTS = 16  # of a whole run
HERE = str(Path(__file__).parent)


def run(
    spool: Path, uri: str, run_id: str = "r", *, budget: float = PATIENCE, flags: Flags = LINEAGE, **said: str
) -> Outcome:
    telemetry = Telemetry.of(FACTS, flags, {"OPENLINEAGE_URL": uri, **said}, spool)
    for event in whole_run(run_id):
        telemetry.record(event)
    return telemetry.close(budget)


def keys(events: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """What tells events apart, and how often each came."""
    return Counter((event["run"]["runId"], event["eventType"]) for event in events)


def files(spool: Path) -> list[Path]:
    return sorted(path for path in spool.rglob("*") if path.is_file() and path.suffix != ".lock")


def test_what_a_dead_backend_did_not_take_comes_first_in_the_next_run(
    backend: LineageBackend, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    with refused_address() as dead:
        outcome = run(spool, dead, "first")
    assert (outcome.delivered, outcome.kept) == (0, EVENTS)
    [problem] = outcome.problems
    assert problem == (
        f"lineage: {EVENTS} events wait in {spool} for the next run: {dead}/api/v1/lineage: Connection refused"
    )
    assert run(spool, backend.uri, "second").delivered == 2 * EVENTS
    ids = [event["run"]["facets"]["floe"]["pipeline"]["run_id"] for event in backend.events()]
    assert ids == ["first"] * EVENTS + ["second"] * EVENTS
    assert set(keys(backend.events()).values()) == {1}
    assert files(spool) == []


@pytest.mark.parametrize("fault", list(Fault))
def test_no_fault_loses_an_event_or_holds_the_run(backend: LineageBackend, tmp_path: Path, fault: Fault) -> None:
    spool = tmp_path / "spool"
    with fault_proxy(backend.uri) as proxy:
        proxy.apply(every(fault))
        started = time.monotonic()
        run(spool, proxy.uri, "first", budget=0.5)
        assert time.monotonic() - started < PATIENCE / 2
        proxy.reset()
        run(spool, proxy.uri, "second")
    assert len(keys(backend.events())) == 2 * EVENTS
    assert files(spool) == []


def test_a_lost_answer_means_a_second_delivery(backend: LineageBackend, tmp_path: Path) -> None:
    with fault_proxy(backend.uri) as proxy:
        proxy.apply(nth(3, Fault.LOSE))
        run(tmp_path / "spool", proxy.uri)
    run(tmp_path / "spool", backend.uri, "again")  # and whatever a busy machine was too slow for
    lost = backend.events()[2]
    found = keys(backend.events())
    assert len(found) == 2 * EVENTS
    assert found[lost["run"]["runId"], lost["eventType"]] >= 2


def test_a_run_goes_on_while_the_backend_is_silent(backend: LineageBackend, tmp_path: Path) -> None:
    with fault_proxy(backend.uri) as proxy:
        proxy.apply(every(Fault.SWALLOW))
        telemetry = Telemetry.of(FACTS, LINEAGE, {"OPENLINEAGE_URL": proxy.uri}, tmp_path / "spool")
        events = list(whole_run())
        telemetry.record(events[0])
        assert proxy.wait_for(1)
        for event in events[1:]:
            telemetry.record(event)
        assert len(files(tmp_path / "spool")) == EVENTS
        assert telemetry.close(0.2).kept == EVENTS


def test_a_backend_that_comes_back_gets_everything_in_the_same_run(backend: LineageBackend, tmp_path: Path) -> None:
    with fault_proxy(backend.uri) as proxy:
        proxy.apply(every(Fault.FAIL))
        telemetry = Telemetry.of(FACTS, LINEAGE, {"OPENLINEAGE_URL": proxy.uri}, tmp_path / "spool")
        events = list(whole_run())
        telemetry.record(events[0])
        assert proxy.wait_for(1)
        proxy.reset()
        for event in events[1:]:
            telemetry.record(event)
        assert telemetry.close(PATIENCE).delivered == EVENTS


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_a_process_ends_when_nobody_answers_at_all(tmp_path: Path, protocol: str) -> None:
    code = f"""
import sys; sys.path.insert(0, {HERE!r})
import os
from pathlib import Path
from customer_run import FACTS, Flags, whole_run
from floe_telemetry import Telemetry
telemetry = Telemetry.of(FACTS, Flags(), os.environ, Path("spool"))
for event in whole_run(): telemetry.record(event)
print(*telemetry.close().problems, sep="|")
"""
    with black_hole() as hole:
        environ = {
            **os.environ,
            "OPENLINEAGE_URL": hole,
            "OTEL_EXPORTER_OTLP_ENDPOINT": hole,
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
        }
        command = [sys.executable, "-c", code]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=PATIENCE, check=True
        )
    traces, metrics, lineage = done.stdout.strip().split("|")
    assert traces.startswith("traces: ")
    assert metrics.startswith("metrics: ")
    assert lineage.startswith(f"lineage: {EVENTS} events wait in spool for the next run: {hole}")
    assert done.stderr == ""


def test_a_key_is_sent_and_written_nowhere(backend: LineageBackend, tmp_path: Path) -> None:
    key = "k-7f3e9c"
    with fault_proxy(backend.uri) as proxy:
        proxy.apply(every(Fault.DENY))
        outcome = run(tmp_path / "spool", proxy.uri, OPENLINEAGE_API_KEY=key)
    assert outcome.kept == EVENTS
    assert "401" in outcome.problems[0]
    assert key not in repr(outcome)
    assert not [path for path in files(tmp_path / "spool") if key in path.read_text(encoding="utf-8")]
    run(tmp_path / "spool", backend.uri, "again", OPENLINEAGE_API_KEY=key)
    assert {request["authorization"] for request in backend.requests()} == {f"Bearer {key}"}


def test_the_path_is_the_backends_own(backend: LineageBackend, tmp_path: Path) -> None:
    run(tmp_path / "spool", f"{backend.uri}/", OPENLINEAGE_ENDPOINT="/in/lineage?source=floe")
    assert {request["path"] for request in backend.requests()} == {"/in/lineage?source=floe"}


def test_a_proxy_is_used_unless_no_proxy_says_otherwise(
    backend: LineageBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", backend.uri.replace("//", "//ann:word@"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    run(tmp_path / "spool", "http://lineage.invalid:5000")
    run(tmp_path / "spool", backend.uri)
    paths = Counter(request["path"] for request in backend.requests())
    assert paths == {"http://lineage.invalid:5000/api/v1/lineage": EVENTS, "/api/v1/lineage": EVENTS}


def test_an_address_that_is_none_keeps_the_events(backend: LineageBackend, tmp_path: Path) -> None:
    outcome = run(tmp_path / "spool", "marquez:5000", budget=2.0)
    assert outcome.kept == EVENTS
    assert outcome.problems[0].endswith("OPENLINEAGE_URL is not of the form http://HOST or https://HOST")
    assert run(tmp_path / "spool", backend.uri, "mended").delivered == 2 * EVENTS


def test_an_event_that_the_backend_refuses_does_not_hold_the_others(
    backend: LineageBackend, tmp_path: Path
) -> None:
    telemetry = Telemetry.of(FACTS, LINEAGE, {"OPENLINEAGE_URL": backend.uri}, tmp_path / "spool")
    telemetry.record(RunStarted("r", at(0)))
    telemetry.record(NodeFinished(Node(FORBIDDEN), at(1), at(2)))
    telemetry.record(RunFinished(at(3)))
    outcome = telemetry.close(PATIENCE)
    assert (outcome.delivered, outcome.rejected, outcome.kept) == (2, 2, 0)
    assert outcome.problems[0].startswith("lineage: 2 events were refused by the backend")


def test_without_a_folder_the_run_delivers_what_it_can_and_says_so(backend: LineageBackend, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    outcome = run(tmp_path / "file" / "spool", backend.uri)
    assert (outcome.delivered, outcome.kept) == (EVENTS, 0)
    assert "cannot be written" in outcome.problems[0]


KILLED = f"""
import sys; sys.path.insert(0, {HERE!r})
from pathlib import Path
from customer_run import FACTS, Flags, LATE, at, fresh
from floe_telemetry import RunStarted, Telemetry
telemetry = Telemetry.of(FACTS, Flags(False, False), {{"OPENLINEAGE_URL": sys.argv[1]}}, Path(sys.argv[2]))
telemetry.record(RunStarted("killed", at(0)))
telemetry.record(fresh(8.0, violations=(LATE,)))
print("recorded", flush=True)
sys.stdin.read()
"""


def test_a_killed_run_loses_no_violation(backend: LineageBackend, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    with refused_address() as dead:
        command = [sys.executable, "-c", KILLED, dead, str(spool)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            assert process.stdout.readline() == "recorded\n"
            process.send_signal(signal.SIGKILL)
    run(spool, backend.uri)
    killed = [e for e in backend.events() if e["run"]["facets"]["floe"]["pipeline"]["run_id"] == "killed"]
    assert [event["eventType"] for event in killed] == ["START", "START", "FAIL"]
    assert files(spool) == []


SHARING = f"""
import sys; sys.path.insert(0, {HERE!r})
from pathlib import Path
from customer_run import FACTS, Flags, whole_run
from floe_telemetry import Telemetry
uri, spool, name = sys.argv[1:]
sys.stdin.readline()
for number in range(5):
    telemetry = Telemetry.of(FACTS, Flags(False, False), {{"OPENLINEAGE_URL": uri}}, Path(spool))
    for event in whole_run(f"{{name}}-{{number}}"): telemetry.record(event)
    telemetry.close(0.05 if number % 2 else 60)
"""


def test_runs_that_share_a_spool_lose_and_tear_nothing(backend: LineageBackend, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    with refused_address() as dead:
        run(spool, dead, "left")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SHARING, backend.uri, str(spool), str(number)], stdin=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    run(spool, backend.uri, "last")
    assert len(keys(backend.events())) == (1 + 4 * 5 + 1) * EVENTS
    assert files(spool) == []


def test_what_a_full_spool_dropped_is_counted(collector: Collector, tmp_path: Path) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.grpc}
    with refused_address() as dead:
        target = lineage_settings({"OPENLINEAGE_URL": dead})
        assert target
        lineage = Lineage(FACTS, target, Spool(tmp_path / "spool", limit=20_000))
        telemetry = Telemetry.of(FACTS, Flags(traces=False, lineage=False), environ, tmp_path)
        telemetry = Telemetry((*telemetry._sinks, lineage))
        for _ in range(30):
            telemetry.record(fresh())
        telemetry.record(fresh(8.0, violations=(LATE,)))
        outcome = telemetry.close(PATIENCE)
    [metric] = [metric for metric in collector.metrics() if metric["name"] == "floe.lineage.events_dropped"]
    [point] = metric["sum"]["dataPoints"]
    assert (attributes(point), int(point["asInt"])) == ({"event": "status"}, outcome.dropped)
    assert outcome.dropped > 0
    assert any(path.name.endswith(".violation.json") for path in files(tmp_path / "spool"))
    assert all(json.loads(path.read_text(encoding="utf-8")) for path in files(tmp_path / "spool"))
