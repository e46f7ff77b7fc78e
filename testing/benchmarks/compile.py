"""How `floe compile` grows with the number of models, and how it compares with dbt-bouncer on the same rules.

Both read the same manifest.json in the same session, taking turns. What is compared is CPU time, which other
programs on the machine disturb least; what is demanded are ratios of the fastest runs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from testing.benchmarks._peers import FREE, install, say, without
from testing.benchmarks._project import Generated
from testing.benchmarks.startup import FLOE

BOUNCER = "dbt-bouncer==4.3.0"
SIZES = (1_000, 10_000, 100_000)
COMPARED = {1_000: 7, 10_000: 3}  # models, and rounds of each command
GROWTH = 1.5  # the most that a model may cost at the largest size, in what it costs at the one before
LEAD = 2.0  # how many times faster than dbt-bouncer
READ_SQL = 1_000  # models whose SQL is read for the last table

PRODUCT = """\
apiVersion: floe.dev/v1
kind: DataProduct
metadata: {name: shop, version: "1.0.0"}
platform: {ref: manifest.yaml}
transforms: [{type: dbt, path: .}]
"""
PLATFORM = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: benchmark}
scope: enterprise
naming_conventions: ["bronze_*", "silver_*", "gold_*"]
data_architecture: {naming: {enforcement: strict}}
governance:
  quality_gates: {require_descriptions: true, require_column_descriptions: true}
  custom_rules: [{type: require_tests_of_type, test_types: [not_null, unique], min_columns: 1, applies_to: "*"}]
identity: {enforcement: off}
"""
COVERAGE = PLATFORM.replace("quality_gates: {", "quality_gates: {minimum_test_coverage: 10, ")
CHECKS = """\
manifest_checks:
  - {name: check_model_names, model_name_pattern: "^(bronze|silver|gold)_"}
  - {name: check_model_description_populated}
  - {name: check_model_column_description_populated}
  - {name: check_model_has_tests_by_name, test_names: [not_null]}
  - {name: check_model_has_tests_by_name, test_names: [unique]}
"""
OURS = ["compile", ".", "--check", "--dbt-manifest", "target/manifest.json"]
THEIRS = ["--config-file", "dbt-bouncer.yml"]

# Both children read manifest.json and judge it, several times, and print the best seconds of CPU and by the clock,
# the bytes that it took, and how many findings there are. Imports and configuration are not timed.
FLOE_CHILD = """
import gc, json, resource, sys, time
from pathlib import Path
from floe_core.load import load_product
from floe_core.merge import merge_tiers
from floe_core.resolve import resolve
from floe_core.rules import Context, enforce
from floe_core.rules.judge import read_project
folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
gc.set_threshold(100_000)  # as its own command line does
product = load_product(folder / "floe.yaml")
chain = resolve(product)
merged, _ = merge_tiers(chain.tiers())
before, best = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
for _ in range(rounds):
    project = found = None
    clock, start = time.perf_counter(), time.process_time()
    project = read_project(folder / "target" / "manifest.json", folder)
    found = enforce(Context(product, chain, merged, (project,))).findings
    best.append((time.process_time() - start, time.perf_counter() - clock))
memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
print("FIGURES", json.dumps([*min(best), memory, len(found)]))
"""
BOUNCER_CHILD = """
import contextlib, gc, json, os, resource, sys, time
from pathlib import Path
from dbt_bouncer.cli.run import utils
from dbt_bouncer.enums import ConfigFileSource
from dbt_bouncer.runner import collect_failures
folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
gc.set_threshold(20_000, 25, 25)  # as its own command line does
before, best = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, []
with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
    for _ in range(rounds):
        config = utils._prepare_bouncer_config(
            folder / "dbt-bouncer.yml", ConfigFileSource.COMMANDLINE, utils._parse_only(""), set(), None
        )
        clock, start = time.perf_counter(), time.process_time()
        found = collect_failures(utils._context_from_config(*config))
        best.append((time.process_time() - start, time.perf_counter() - clock))
memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
print("FIGURES", json.dumps([*min(best), memory, sum(item["outcome"] == "failed" for item in found)]))
"""
OUR_CHILD, THEIR_CHILD = (["-c", code, "."] for code in (FLOE_CHILD, BOUNCER_CHILD))


@dataclass(frozen=True, slots=True)
class Run:
    """One run: CPU seconds, seconds by the clock, and how many models broke a rule."""

    cpu: float
    wall: float
    found: int
    memory: int = 0  # bytes that it took at most, without what it took before


@dataclass(frozen=True, slots=True)
class Demand:
    title: str
    ratio: float
    limit: float
    at_least: bool

    @property
    def holds(self) -> bool:
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{'✓' if self.holds else '✗'} {self.title:58}  {self.ratio:6.2f}×  demanded {sign} {self.limit:g}×"


def main() -> int:
    home = install(BOUNCER)
    bouncer = home and home / "bin" / "python"
    with tempfile.TemporaryDirectory(prefix="floe-bench-") as scratch:
        demands = [*compare(Path(scratch), bouncer), *grow(Path(scratch))]
        read_sql(Path(scratch))
    print("\n".join(("", *map(str, demands))))
    missed = 0 if bouncer else without(BOUNCER)
    return missed if all(demand.holds for demand in demands) else 1


def project(folder: Path, size: int, *, sql: bool = True) -> Generated:
    """A generated project with what both tools need, unless it is there."""
    made = Generated(size)
    if not folder.exists():
        say(f"writing a project of {size:,} models")
        made.write(folder, sql=sql)
        for name, text in {"floe.yaml": PRODUCT, "manifest.yaml": PLATFORM, "dbt-bouncer.yml": CHECKS}.items():
            (folder / name).write_text(text)
    return made


def compare(scratch: Path, bouncer: Path | None) -> Iterator[Demand]:
    """floe and dbt-bouncer on the same manifests, as commands and in process."""
    print(f"{'models':>7}  {'':12}  {'floe':>26}  {'dbt-bouncer':>26}")
    for size, rounds in COMPARED.items():
        folder = scratch / str(size)
        planted = project(folder, size).offending()
        for way, ours, theirs in (
            ("cold command", [FLOE, *OURS], [str(bouncer and bouncer.with_name("dbt-bouncer")), *THEIRS]),
            ("in process", [sys.executable, *OUR_CHILD, "3"], [str(bouncer), *THEIR_CHILD, "3"]),
        ):
            mine, other = fastest(folder, [ours, *([theirs] if bouncer else [])], rounds, planted)
            print(f"{size:7,}  {way:12}  {_times(mine)}  {_times(other) if other else 'not measured':>26}")
            if other:
                title = f"dbt-bouncer / floe, {way}, {size:,} models"
                yield Demand(title, other.cpu / mine.cpu, LEAD, at_least=True)


def _times(run: Run) -> str:
    return f"{run.cpu:6.2f} s CPU, {run.wall:6.2f} s in all"


def fastest(folder: Path, sides: list[list[str]], rounds: int, planted: dict[str, int]) -> tuple[Run, Run | None]:
    """The fastest run of each side, which take turns; both must find exactly what was planted."""
    runs: list[list[Run]] = [[] for _ in sides]
    for number in range(rounds):
        for turn in range(len(sides)):
            side = (number + turn) % len(sides)
            runs[side].append(run(sides[side], folder))
            if runs[side][-1].found != sum(planted.values()):
                raise SystemExit(f"{sides[side][0]} found {runs[side][-1].found} of {planted}")
    best = [min(items, key=lambda item: item.cpu) for items in runs]
    return best[0], best[1] if len(best) > 1 else None


def run(command: list[str], folder: Path) -> Run:
    """Run a command in the folder; a child's own figures count where it prints any."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, cwd=folder, env=FREE, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        output.seek(0)
        text = output.read().decode()
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {process.returncode}:\n{text[-2000:]}")
    if figures := re.search(r"^FIGURES (.*)$", text, re.MULTILINE):
        cpu, wall, memory, found = json.loads(figures[1])
        return Run(cpu, wall, found, memory)
    told = re.search(r"FAILED: ([0-9,]+) problem|ERROR=([0-9]+)", text)
    return Run(usage.ru_utime + usage.ru_stime, wall, int((told[1] or told[2]).replace(",", "")) if told else 0)


def grow(scratch: Path) -> Iterator[Demand]:
    """What one model costs, in time and in memory, at each size; each in a process of its own."""
    print(f"\n{'models':>7}  {'CPU':>9}  {'a model':>9}  {'memory':>9}  {'a model':>9}")
    costs: list[tuple[float, float]] = []
    for size in SIZES:
        folder = scratch / str(size)
        planted = project(folder, size, sql=size in COMPARED).offending()
        rounds = 1 if size > 10_000 else 3
        best, _ = fastest(folder, [[sys.executable, *OUR_CHILD, "1"]], rounds, planted)
        costs.append((best.cpu / size, best.memory / size))
        print(
            f"{size:7,}  {best.cpu:7.2f} s  {best.cpu / size * 1e6:6.0f} µs"
            f"  {best.memory / 2**20:5.0f} MiB  {best.memory / size / 2**10:5.1f} KiB"
        )
    for what, before, after in zip(("CPU", "memory"), *costs[-2:], strict=True):
        title = f"{what} of a model, {SIZES[-1]:,} models / {SIZES[-2]:,}"
        yield Demand(title, after / before, GROWTH, at_least=False)


def read_sql(scratch: Path) -> None:
    """What it costs to infer columns from SQL, which dbt-bouncer does not do: nothing is demanded of it."""
    folder = scratch / str(READ_SQL)
    project(folder, READ_SQL)
    (folder / "manifest.yaml").write_text(COVERAGE)
    print(f"\n{READ_SQL:,} models with a minimum of test coverage, for which their SQL is read")
    os.environ["XDG_CACHE_HOME"] = str(scratch / "cache")
    for title in ("first time", "from the cache of facts"):
        print(f"{title:24}  {_times(run([FLOE, *OURS], folder))}")


if __name__ == "__main__":
    sys.exit(main())
