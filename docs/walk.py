"""Pages that can be walked through: their files are written, their commands are run, their output is compared.

In a page that starts with `<!-- walk: FOLDER -->` (a folder to start from, or `empty`):

- a `yaml file=PATH` block, or one in any other language, becomes that file;
- a `diff file=PATH` block edits it: each run of `-` lines gives way to the `+` lines after it;
- a `console` block holds `$ floe …` lines, each followed by what the command prints; `exit=1` is how they end;
- a `python` block without one is run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docs.markdown import Fence, fences
from docs.repo import FLOE, ROOT

_START = re.compile(r"^<!-- walk: (\S+) -->", re.MULTILINE)


def can_be_walked(text: str) -> bool:
    return bool(_START.search(text))


def walk(text: str, folder: Path) -> str:
    """Do what the page says in an empty folder; return the page with what the commands really print."""
    start = _START.search(text)
    if start and start[1] != "empty":
        shutil.copytree(ROOT / start[1], folder, dirs_exist_ok=True)
    parts, end = [], 0
    for fence in fences(text):
        parts += [text[end : fence.start], do(fence, folder)]
        end = fence.end
    return "".join([*parts, text[end:]])


def do(fence: Fence, folder: Path) -> str:
    """Do what one block says; return its text as it should read."""
    match fence.language, fence.words:
        case "console", _:
            commands = [line for line in fence.body.splitlines() if line.startswith("$ ")]
            exit_code = int(fence.words.get("exit", "0"))
            return "".join(f"{line}\n{run(line, folder, exit_code)}" for line in commands)
        case "python", words if "file" not in words:
            subprocess.run([sys.executable, "-c", fence.body], cwd=folder, check=True)
        case "diff", {"file": name}:
            path = folder / name
            path.write_text(edited(path.read_text(encoding="utf-8"), fence.body), encoding="utf-8")
        case _, {"file": name}:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fence.body, encoding="utf-8")
    return fence.body


def run(line: str, folder: Path, exit_code: int) -> str:
    """What a person sees, without colours."""
    _, name, *arguments = line.split()
    if name != "floe":
        raise ValueError(f"only floe is run here: {line}")
    done = subprocess.run(
        [FLOE, *arguments],
        cwd=folder,
        env={**os.environ, "COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    if done.returncode != exit_code:
        raise ValueError(f"{line} ends with {done.returncode}, not {exit_code}:\n{done.stdout}")
    return done.stdout


def edited(text: str, diff: str) -> str:
    """The text after the edits of a diff block; what is taken out must stand there once."""
    for edit in re.finditer(r"((?:^-.*\n)+)((?:^\+.*\n)*)", diff, re.MULTILINE):
        old, new = (re.sub(r"^[-+]", "", side, flags=re.MULTILINE) for side in edit.groups())
        if text.count(old) != 1:
            raise LookupError(f"expected once:\n{old}")
        text = text.replace(old, new)
    return text
