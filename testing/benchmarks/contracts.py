"""How long a contract of 100 tables with 20 columns takes to lint and to compare, against two other tools.

datacontract-cli is the linter of record, so its time is what users would wait without floe's own engine: demanded
is at least 10×, in process and as a command. pyodcs (Rust underneath, no positions) is the fastest reader of ODCS
known; the ratio to it is reported, not demanded. Processor seconds are compared, so that a busy machine changes
nothing; ratios are of medians of one session.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from testing.benchmarks._peers import DATACONTRACT, FREE, install, say, without

PEERS = {"datacontract": DATACONTRACT, "pyodcs": "pyodcs==0.9.1"}
TABLES, COLUMNS = 100, 20
ROUNDS = 5
DEMANDED = 10

# Each script does its jobs in process several times and prints the seconds; imports and warm-up do not count.
_FLOE = """\
import json, sys, time
from pathlib import Path
from floe_contracts.lint import lint
from floe_contracts.reference import contract_at
from floe_contracts.version import verdict
old, new, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
times = {"lint": [], "diff": []}
for number in range(-1, rounds):
    start = time.process_time()
    found = lint(Path(old))[1]
    middle = time.process_time()
    judged = verdict(contract_at(old)[0], contract_at(new)[0])
    end = time.process_time()
    assert not found and judged.required.name == "MAJOR", (found, judged.required)
    if number >= 0:
        times["lint"].append(middle - start)
        times["diff"].append(end - middle)
print(json.dumps(times))
"""
_DATACONTRACT = """\
import json, logging, sys, time
logging.disable(logging.CRITICAL)
from datacontract.data_contract import DataContract
old, new, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
times = {"lint": [], "diff": []}
for number in range(-1, rounds):
    start = time.process_time()
    run = DataContract(data_contract_file=old, inline_references=False).lint()
    middle = time.process_time()
    broken = DataContract(data_contract_file=old).breaking(DataContract(data_contract_file=new))
    end = time.process_time()
    assert str(run.result.value) == "passed", run.checks
    if number >= 0:
        times["lint"].append(middle - start)
        times["diff"].append(end - middle)
print(json.dumps(times))
"""
_PYODCS = """\
import json, sys, time
import pyodcs
old, new, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()
def contract(path):
    parsed = pyodcs.parse(read(path))
    return parsed.get("contract", parsed)
times = {"lint": [], "diff": []}
for number in range(-1, rounds):
    start = time.process_time()
    pyodcs.parse_and_validate(read(old))
    middle = time.process_time()
    pyodcs.diff(contract(old), contract(new))
    end = time.process_time()
    if number >= 0:
        times["lint"].append(middle - start)
        times["diff"].append(end - middle)
print(json.dumps(times))
"""


def main() -> int:
    homes = {name: install(requirement) for name, requirement in PEERS.items()}
    if homes["datacontract"] is None:
        return without(DATACONTRACT)
    with tempfile.TemporaryDirectory() as folder:
        old, new = write_contracts(Path(folder))
        held = show(measure(homes, old, new))
    return 0 if held else 1


def write_contracts(folder: Path) -> tuple[Path, Path]:
    """Two versions of a wide contract, as people write them: block YAML."""
    old, new = folder / "old.yaml", folder / "new.yaml"
    old.write_text(contract("1.0.0", COLUMNS))
    new.write_text(contract("2.0.0", COLUMNS - 1))
    return old, new


def contract(version: str, columns: int) -> str:
    lines = [
        *("apiVersion: v3.1.0", "kind: DataContract", "id: wide", "name: wide", f"version: {version}"),
        *("status: active", "team:", "  name: crew", "schema:"),
    ]
    for table in range(TABLES):
        lines += [f"  - name: table_{table}", f"    description: Table number {table}", "    properties:"]
        for column in range(columns):
            lines += [
                f"      - name: column_{column}",
                "        logicalType: string",
                "        physicalType: varchar(80)",
                f"        required: {'true' if column % 2 else 'false'}",
                f"        description: Column number {column}",
            ]
    lines += ["slaProperties:", "  - property: freshness", "    value: PT6H", ""]
    return "\n".join(lines)


def measure(homes: dict[str, Path | None], old: Path, new: Path) -> dict[str, dict[str, list[float]]]:
    """Seconds by tool and job."""
    times: dict[str, dict[str, list[float]]] = {"floe": {}, "datacontract": {}, "pyodcs": {}}
    scripts = {"floe": (sys.executable, _FLOE)}
    for name, script in (("datacontract", _DATACONTRACT), ("pyodcs", _PYODCS)):
        if home := homes[name]:
            scripts[name] = (str(home / "bin" / "python"), script)
    for name, (python, script) in scripts.items():
        say(f"{name} in process")
        merge(times[name], in_process(python, script, old, new))
    floe = [str(Path(sys.executable).with_name("floe")), "contract"]
    theirs = str((homes["datacontract"] or Path()) / "bin" / "datacontract")
    for number in range(ROUNDS):
        say(f"commands, round {number + 1} of {ROUNDS}")
        for name, job, command in (
            ("floe", "lint command", [*floe, "lint", str(old)]),
            ("datacontract", "lint command", [theirs, "lint", str(old)]),
            ("floe", "diff command", [*floe, "diff", str(old), str(new)]),
            ("datacontract", "diff command", [theirs, "breaking", str(old), str(new)]),
        ):
            merge(times[name], {job: [seconds_of(command)]})
    return times


def seconds_of(command: list[str]) -> float:
    """Processor seconds of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=FREE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_process(python: str, script: str, old: Path, new: Path) -> dict[str, list[float]]:
    command = [python, "-c", script, str(old), str(new), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        say(done.stderr[-2000:])
        return {}
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def merge(into: dict[str, list[float]], more: dict[str, list[float]]) -> None:
    for job, seconds in more.items():
        into.setdefault(job, []).extend(seconds)


def show(times: dict[str, dict[str, list[float]]]) -> bool:
    """Print medians and ratios; whether every demanded ratio holds."""
    medians = {name: {job: statistics.median(runs) for job, runs in jobs.items()} for name, jobs in times.items()}
    print(f"{TABLES} tables × {COLUMNS} columns")
    rows: list[tuple[Any, ...]] = []
    held = True
    for job in ("lint", "diff", "lint command", "diff command"):
        ours = medians["floe"].get(job)
        theirs, rust = medians["datacontract"].get(job), medians["pyodcs"].get(job)
        if ours is None or theirs is None:
            held = False
        ratio = theirs / ours if ours and theirs else 0.0
        held = held and ratio >= DEMANDED
        rows.append((job, ours, theirs, ratio, rust))
    print(f"{'job':14}{'floe':>11}{'datacontract':>15}{'ratio':>9}{'pyodcs':>12}{'floe/pyodcs':>13}")
    for job, ours, theirs, ratio, rust in rows:
        mark = "✓" if ratio >= DEMANDED else "✗"
        against = f"{rust * 1e3:9.1f} ms{ours / rust:12.1f}×" if rust and ours else f"{'-':>12}{'-':>13}"
        print(f"{job:14}{(ours or 0) * 1e3:8.1f} ms{(theirs or 0) * 1e3:12.1f} ms{ratio:7.1f}×{mark}{against}")
    print(f"demanded: at least {DEMANDED}× over datacontract-cli")
    return held


if __name__ == "__main__":
    sys.exit(main())
