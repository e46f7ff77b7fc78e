"""`floe plugins list`: what is installed, without importing any of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import floe_cli.commands.plugins  # noqa: F401 - one test takes everything off sys.path

Run = Callable[..., subprocess.CompletedProcess[str]]
Install = Callable[..., str]


def test_plugins_are_listed_and_not_imported(floe: Run, install: Install) -> None:
    """The module of each raises when it is imported."""
    sites = (
        install("floe-catalog-polaris", "0.2", "polaris"),
        install("acme-rules", "1.10", "house", "floe.rules"),
    )
    done = floe("plugins", "list", PYTHONPATH=os.pathsep.join(sites))
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["KIND", "NAME", "DISTRIBUTION", "VERSION"]
    assert ["floe.catalogs", "polaris", "floe-catalog-polaris", "0.2"] in rows
    assert ["floe.rules", "house", "acme-rules", "1.10"] in rows


def test_plugins_as_a_report(floe: Run, install: Install) -> None:
    done = floe("plugins", "list", "--format", "json", PYTHONPATH=install("floe-catalog-polaris", "0.2", "polaris"))
    report = json.loads(done.stdout)
    assert (report["schema"], report["command"], report["exit_code"]) == ("floe-report/1", "floe plugins list", 0)
    assert {
        "kind": "floe.catalogs",
        "name": "polaris",
        "distribution": "floe-catalog-polaris",
        "version": "0.2",
    } in report["summary"]["plugins"]


def test_entry_points_of_other_tools_are_not_plugins(floe: Run, install: Install) -> None:
    done = floe("plugins", "list", PYTHONPATH=install("other-tool", "1.0", "tool", "console_scripts"))
    assert "other-tool" not in done.stdout


def test_an_installation_without_plugins_says_so(
    floe_here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    done = floe_here("plugins", "list")
    assert (done.returncode, done.stdout) == (0, "No plugins are installed.\n")
    assert json.loads(floe_here("plugins", "list", "--format=json").stdout)["summary"] == {"plugins": []}
