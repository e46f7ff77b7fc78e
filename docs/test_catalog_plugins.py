"""The plugin that the guide builds passes the conformance kit, from outside of this repository."""

# ruff: noqa: S101 - assert is how pytest speaks

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from docs.markdown import fences
from docs.repo import read
from docs.walk import walk

PAGE = "docs/guide/catalog-plugins.md"


def install(folder: Path) -> None:
    """What an installer writes beside the modules of a package."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    about = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    lines = []
    for group, entries in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in entries.items())]
    (about / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")


def test_the_plugin_of_the_guide_passes_the_kit(tmp_path: Path) -> None:
    walk(read(PAGE), tmp_path)
    install(tmp_path)
    [line] = [fence.body.strip() for fence in fences(read(PAGE)) if fence.language == "sh"]
    _, *arguments = shlex.split(line)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "-q", "-p", "no:cacheprovider", "--floe-rounds=1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
