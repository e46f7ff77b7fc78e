"""The tools that floe is compared with, each in an environment of its own, made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from floe_core.files import cache_folder

ROOT = Path(__file__).resolve().parents[2]
UV = str(ROOT / ".ci" / "uv")
DATACONTRACT = "datacontract-cli==1.2.8"
FREE = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}  # as users have it


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def home_of(requirement: str) -> Path:
    """Where a tool is kept; another Python has it for itself."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return cache_folder() / "bench" / f"{requirement.replace('==', '-')}-py{version}"


def install(requirement: str) -> Path | None:
    """The tool's environment; None when it cannot be had here."""
    folder = home_of(requirement)
    make = [UV, "venv", "--clear", "--no-project", "--python", sys.executable, str(folder)]
    fill = [UV, "pip", "install", "--compile-bytecode", "--python", str(folder / "bin" / "python"), requirement]
    return folder if made(folder, requirement, make, fill) else None


def made(folder: Path, what: str, *steps: list[str]) -> bool:
    """Whether a folder is complete; it is filled by the steps unless it is already."""
    complete = folder / ".complete"
    if complete.is_file():
        return True
    say(f"installing {what} in {folder}")
    for step in steps:
        if subprocess.run(step, cwd=ROOT, stdout=sys.stderr).returncode:
            say(f"{what} cannot be installed, see above; the comparison with it is left out")
            return False
    complete.touch()
    return True


def without(what: str) -> int:
    """The exit code of a benchmark that went without a peer: CI demands the comparison."""
    say(f"{what} was not compared")
    return 1 if os.environ.get("CI") == "true" else 0
