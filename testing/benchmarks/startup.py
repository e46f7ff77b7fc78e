"""How long `floe` takes to start, against the least a click program can take and against datacontract-cli.

All commands run in one session, interleaved, so that a slow moment of the machine slows all of them. What is
demanded are ratios of medians, which hold on fast and slow machines alike.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
UV = str(ROOT / ".ci" / "uv")
FLOE = str(Path(sys.executable).with_name("floe"))
DATACONTRACT = "datacontract-cli==1.2.8"

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
    installed = install_datacontract()
    if installed:
        commands[OTHER] = [str(installed / "bin" / "datacontract"), "--help"]
    held = show(measure(commands))
    if installed is None and os.environ.get("CI") == "true":
        say(f"{DATACONTRACT} was not compared, and CI demands it")
        return 1
    return 0 if held else 1


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def install_datacontract() -> Path | None:
    """The environment of datacontract-cli, made once; None when it cannot be had here."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache() / "bench" / f"{DATACONTRACT.replace('==', '-')}-py{version}"
    complete = folder / ".complete"
    if complete.is_file():
        return folder
    say(f"installing {DATACONTRACT} in {folder}")
    for step in (
        [UV, "venv", "--clear", "--no-project", "--python", sys.executable, str(folder)],
        [UV, "pip", "install", "--compile-bytecode", "--python", str(folder / "bin" / "python"), DATACONTRACT],
    ):
        if subprocess.run(step, cwd=ROOT, stdout=sys.stderr).returncode:
            say(f"{DATACONTRACT} cannot be installed, see above; the comparison with it is left out")
            return None
    complete.touch()
    return folder


def cache() -> Path:
    """The folder that .ci/uv uses too."""
    if chosen := os.environ.get("FLOE_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "floe"


def measure(commands: dict[str, list[str]]) -> dict[str, list[float]]:
    """Seconds of every run of every command. Each round starts with another command."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    times: dict[str, list[float]] = {name: [] for name in commands}
    names = list(commands)
    for number in range(-WARM_UPS, ROUNDS):
        if number % 15 == 0:
            say(f"round {number} of {ROUNDS}")
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if name == OTHER and number % SLOW_EVERY:
                continue
            seconds = time_of(commands[name], variables)
            if number >= 0:
                times[name].append(seconds)
    return times


def time_of(command: list[str], variables: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
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
