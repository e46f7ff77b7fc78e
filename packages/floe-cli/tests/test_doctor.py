"""`floe doctor`: each failure comes with its fix, and with exit code 3."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Install = Callable[..., str]


HIDE = """
from floe_core import distributions, plugins
def some():
    for item in distributions.distributions():
        if item.folder.name.startswith("acme_") or "[floe.doctor]" not in item.announces():
            yield item
plugins.distributions = some
"""


@pytest.fixture(name="floe")
def floe_with_its_own_rows(floe: Run, startup_code: Callable[[str], str]) -> Run:
    """`floe` without the packages of this machine that contribute rows: what they say depends on the machine."""
    hidden = startup_code(HIDE)

    def command(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(filter(None, (hidden, variables.pop("PYTHONPATH", ""))))
        return floe(*args, **variables, PYTHONPATH=path)

    return command


@pytest.fixture
def with_git(tmp_path: Path) -> str:
    """A PATH on which there is a git, whatever this machine has."""
    folder = tmp_path / "with git"
    folder.mkdir()
    (folder / "git").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "git").chmod(0o755)
    return str(folder)


def test_a_sound_installation_passes(floe: Run, with_git: str) -> None:
    done = floe("doctor", PATH=with_git)
    assert (done.returncode, done.stderr) == (0, "")
    versions = f"floe-cli {metadata.version('floe-cli')}, floe-core {metadata.version('floe-core')}"
    assert f"✓ floe  {versions}\n" in done.stdout
    assert f"✓ git  {with_git}/git\n" in done.stdout
    assert "✗" not in done.stdout


def test_a_sound_installation_as_a_report(floe: Run, with_git: str) -> None:
    report = json.loads(floe("doctor", "--format=json", PATH=with_git).stdout)
    assert (report["command"], report["exit_code"], report["errors"]) == ("floe doctor", 0, [])
    assert [check["name"] for check in report["summary"]["checks"]] == ["Python", "floe", "YAML", "git", "Plugins"]
    assert all(check["ok"] for check in report["summary"]["checks"])


def test_without_git_the_line_that_installs_it_is_shown(floe: Run, tmp_path: Path) -> None:
    done = floe("doctor", PATH=str(tmp_path))
    assert done.returncode == 3
    assert "✗ git  not on PATH\n" in done.stdout
    assert (
        "✗ FLOE-E800 (this machine):1:1  git: not on PATH\n    Fix: Install git: apt-get install git" in done.stdout
    )
    assert "✓ YAML" in done.stdout


def test_without_git_the_report_ends_the_same_way(floe: Run, tmp_path: Path) -> None:
    done = floe("doctor", "--format=json", PATH=str(tmp_path))
    report = json.loads(done.stdout)
    assert (done.returncode, report["exit_code"], report["findings"]) == (3, 3, [])
    assert [(error["code"], error["line"]) for error in report["errors"]] == [("FLOE-E800", 1)]
    assert {"name": "git", "ok": False, "detail": "not on PATH"} in report["summary"]["checks"]


def test_two_packages_with_one_plugin_are_named_and_not_imported(
    floe: Run, install: Install, with_git: str
) -> None:
    sites = (install("floe-catalog-polaris", "0.2", "polaris"), install("acme-polaris", "9.0", "polaris"))
    done = floe("doctor", PATH=with_git, PYTHONPATH=os.pathsep.join(sites))
    assert done.returncode == 3
    assert "✗ floe.catalogs  polaris of acme-polaris and of floe-catalog-polaris\n" in done.stdout
    assert "✗ FLOE-E805 (this machine):1:1" in done.stdout
    assert "Fix: Uninstall one of the two packages." in done.stdout


def test_rows_of_other_packages_join_and_a_broken_one_is_named(
    floe: Run, install: Install, with_git: str, tmp_path: Path
) -> None:
    sites = [
        install("acme-fine", "1.0", "fine", "floe.doctor"),
        install("acme-broken", "9.0", "broken", "floe.doctor"),
    ]
    code = (
        "from floe_core.doctor import Check\ndef Catalog():\n    return [Check('Vault', 'locked', 'Unlock it.')]\n"
    )
    (tmp_path / "acme-fine" / "fine_plugin.py").write_text(code, encoding="utf-8")
    done = floe("doctor", PATH=with_git, PYTHONPATH=os.pathsep.join(sites))
    assert done.returncode == 3
    assert "✗ Vault  locked\n" in done.stdout
    assert "✗ FLOE-E800 (this machine):1:1  Vault: locked\n    Fix: Unlock it." in done.stdout
    assert "✗ broken  broken of acme-broken 9.0 cannot be imported: RuntimeError: imported\n" in done.stdout
    assert "✗ FLOE-E802 (this machine):1:1" in done.stdout
