"""How long `floe` takes to start, against the least a click program can take and against datacontract-cli.

All commands run in one session, interleaved, so that a slow moment of the machine slows all of them. What is
demanded are ratios of medians, which hold on fast and slow machines alike.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from testing.benchmarks._peers import DATACONTRACT, FREE, install, say, without

FLOE = str(Path(sys.executable).with_name("floe"))

ROUNDS = 60
SLOW_EVERY = 5  # rounds; the slow command runs in every one of these
WARM_UPS = 2

VERSION, HELP, CLICK, OTHER = "floe --version", "floe --help", "python -c 'import click'", "datacontract --help"


@dataclass(frozen=True)
class Bound:
    """A demand: the time of `slower`, divided by the time of `faster`."""

    slower: str
    faster: str
    limit: float
    at_least: bool

    def holds(self, ratio: float) -> bool:
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}×"


BOUNDS = (
    Bound(VERSION, CLICK, 1.5, at_least=False),
    Bound(HELP, CLICK, 1.5, at_least=False),
    Bound(OTHER, VERSION, 10, at_least=True),
    Bound(OTHER, HELP, 10, at_least=True),
)


def main() -> int:
    commands = {
        VERSION: [FLOE, "--version"],
        HELP: [FLOE, "--help"],
        CLICK: [sys.executable, "-c", "import click"],
    }
    installed = install(DATACONTRACT)
    if installed:
        commands[OTHER] = [str(installed / "bin" / "datacontract"), "--help"]
    held = show(measure(commands))
    missed = 0 if installed else without(DATACONTRACT)
    return missed if held else 1


def measure(commands: dict[str, list[str]]) -> dict[str, list[float]]:
    """Seconds of every run of every command. Each round starts with another command."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    names = list(commands)
    for number in range(-WARM_UPS, ROUNDS):
        if number % 15 == 0:
            say(f"round {number} of {ROUNDS}")
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if name == OTHER and number % SLOW_EVERY:
                continue
            seconds = time_of(commands[name])
            if number >= 0:
                times[name].append(seconds)
    return times


def time_of(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=FREE, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def show(times: dict[str, list[float]]) -> bool:
    """Print the two tables; whether every bound that could be judged holds."""
    medians = {name: statistics.median(runs) for name, runs in times.items()}
    width = max(map(len, medians))
    print(f"{'command':{width}}  {'median':>9}  {'fastest':>9}  {'runs':>4}")
    for name, runs in times.items():
        print(f"{name:{width}}  {medians[name] * 1e3:6.1f} ms  {min(runs) * 1e3:6.1f} ms  {len(runs):4}")
    print()
    verdicts = []
    for bound in BOUNDS:
        title = f"{bound.slower} / {bound.faster}"
        if bound.slower not in medians:
            print(f"- {title:{2 * width + 3}}  not measured  demanded {bound}")
            continue
        ratio = medians[bound.slower] / medians[bound.faster]
        verdicts.append(bound.holds(ratio))
        print(f"{'✓' if verdicts[-1] else '✗'} {title:{2 * width + 3}}  {ratio:6.2f}×  demanded {bound}")
    return all(verdicts)


if __name__ == "__main__":
    sys.exit(main())
