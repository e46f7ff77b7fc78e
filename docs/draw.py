"""Terminal pictures: the demo's commands, run on a real terminal, drawn as SVG."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs.examples.demo import BREAKS, fresh
from docs.repo import FLOE
from rich.console import Console
from rich.text import Text

MARGIN = 2
COMPILE = "floe compile customer-360"
REGISTER = "floe product register --in customer-360"
WHY = "floe why minimum_test_coverage --product customer-360"


@dataclass(frozen=True)
class Scene:
    """One picture: what happens to the example first, and what is typed then."""

    name: str
    title: str
    prepare: Callable[[Path], None]
    commands: Sequence[str]


def _register(mesh: Path) -> None:
    subprocess.run([FLOE, *REGISTER.split()[1:]], cwd=mesh, check=True, capture_output=True)


SCENES = (
    Scene("compile", "A product that keeps its guardrails", _register, (COMPILE, WHY)),
    *(Scene(item.name, item.story, item.apply, (item.command,)) for item in BREAKS),
)


def draw(scene: Scene, folder: Path) -> str:
    """The picture of a scene, played in an empty folder."""
    mesh = fresh(folder)
    scene.prepare(mesh)
    lines = [
        line
        for command in scene.commands
        for line in (Text.assemble(("$ ", "green"), (command, "bold")), *on_a_terminal(command, mesh), Text())
    ][:-1]
    width = max(line.cell_len for line in lines) + MARGIN
    console = Console(record=True, width=width, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for line in lines:
        console.print(line, no_wrap=True, overflow="ignore")
    return standalone(console.export_svg(title=scene.title, unique_id=f"floe-{scene.name}"))


def standalone(picture: str) -> str:
    """Without web fonts, so that no network is needed; with every space kept, whatever draws it."""
    local = re.sub(r"\s*@font-face \{.*?\}", "", picture, flags=re.DOTALL)
    return local.replace("<svg ", '<svg xml:space="preserve" ', 1) + "\n"


def on_a_terminal(command: str, cwd: Path) -> Sequence[Text]:
    """What the command prints when a person looks at it: stdout and stderr, with colours."""
    ours, theirs = pty.openpty()
    plain = ("NO_COLOR", "FORCE_COLOR", "CI")
    env = {name: value for name, value in os.environ.items() if name not in plain} | {"TERM": "xterm-256color"}
    with subprocess.Popen([FLOE, *command.split()[1:]], cwd=cwd, env=env, stdout=theirs, stderr=theirs):
        os.close(theirs)
        printed = b"".join(iter(lambda: _read(ours), b""))
    os.close(ours)
    text = printed.decode("utf-8").replace("\r\n", "\n").rstrip("\n")
    return [Text.from_ansi(line) for line in text.split("\n")]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux says that nobody writes to this terminal any more
        return b""
