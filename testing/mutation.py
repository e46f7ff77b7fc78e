"""Breaks order.py and merge.py in every way mutmut knows, and counts how many breaks the tests notice.

Everything happens in a temporary copy. A break that survives must be listed in mutation.md with the reason why
it changes nothing; a survivor that is not listed, or a score below the bar, fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "packages" / "floe-core"
LIST = ROOT / "testing" / "mutation.md"
BAR = 95.0

MUTATED = ("order", "merge")
TESTS = ("test_order", "test_merge", "test_merge_laws", "test_defaults", "test_spec_tables")
BESIDE = ("manifests", "conftest")
CAUGHT = ("killed", "timeout", "segfault")

CONFIG = f"""
[tool.pytest.ini_options]
addopts = ["--import-mode=importlib", "-p", "no:cacheprovider"]
filterwarnings = ["error"]

[tool.mutmut]
source_paths = ["src"]
only_mutate = {[f"src/floe_core/{name}.py" for name in MUTATED]}
pytest_add_cli_args_test_selection = ["tests"]
"""

# Fewer draws than `make test`, and the same ones each time.
FASTER = {"FLOE_EXAMPLES": "15", "FLOE_PAIRS": "5000", "CI": "1"}


def prepare(folder: Path) -> None:
    shutil.copytree(CORE / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tests").mkdir()
    for name in (*TESTS, *BESIDE):
        shutil.copy(CORE / "tests" / f"{name}.py", folder / "tests")
    (folder / "pyproject.toml").write_text(CONFIG, encoding="utf-8")


def mutmut(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder,
        env=os.environ | FASTER,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )


def run(folder: Path) -> None:
    """All mutants, with a line of progress now and then."""
    printed, last = [], ""
    with mutmut(folder, "run", "--max-children", str(os.cpu_count() or 1)) as process:
        for line in process.stdout or ():  # mutmut redraws one line; universal newlines make each drawing a line
            printed.append(line)
            if (shown := progress(line)) not in ("", last):
                print(f"  {shown}", flush=True)
                last = shown
    if process.returncode:
        sys.exit("".join(printed[-40:]) + "\nmutmut could not run")


def progress(line: str) -> str:
    """What a drawing of mutmut's says, in steps of fifty mutants."""
    if count := re.search(r"(\d+)/(\d+)", line):
        return f"{int(count[1]) // 50 * 50} of {count[2]} mutants"
    stage = re.search(r"(Generating|Running) [a-z ]+[a-z]", line)
    return stage[0] if stage else ""


def answer(folder: Path, *arguments: str) -> str:
    with mutmut(folder, *arguments) as process:
        printed = process.communicate()[0]
    if process.returncode:
        sys.exit(printed)
    return printed


def results(folder: Path) -> dict[str, str]:
    """The fate of every mutant, by name."""
    rows = re.findall(r"^\s+(\S+__mutmut_\d+): (.+)$", answer(folder, "results", "--all", "true"), re.MULTILINE)
    return dict(rows)


def change(folder: Path, mutant: str) -> str:
    """The lines that a mutant takes out and puts in."""
    lines = answer(folder, "show", mutant).splitlines()
    changed = (line for line in lines if line[:1] in ("-", "+") and line[:3] not in ("---", "+++"))
    return "\n".join(f"{line[0]} {line[1:].strip()}" for line in changed)


def main() -> int:
    listed = LIST.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="floe-mutation-") as temporary:
        folder = Path(temporary)
        prepare(folder)
        run(folder)
        fates = results(folder)
        survivors = {name: change(folder, name) for name, fate in fates.items() if fate not in CAUGHT}
    score = 100 * (1 - len(survivors) / len(fates))
    unlisted = [name for name, lines in survivors.items() if lines not in listed]
    for name, lines in survivors.items():
        print(f"\n{fates[name]}: {name}{' (not listed in mutation.md)' if name in unlisted else ''}\n{lines}")
    counts = ", ".join(f"{number} {fate}" for fate, number in Counter(fates.values()).most_common())
    print(f"\n{len(fates)} mutants: {counts}; {score:.1f} % caught, {BAR:g} % needed")
    return 1 if unlisted or score < BAR else 0


if __name__ == "__main__":
    sys.exit(main())
