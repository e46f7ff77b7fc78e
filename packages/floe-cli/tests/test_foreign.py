"""Commands that other packages bring."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from floe_cli.foreign import find
from floe_core.findings import FloeError

Run = Callable[..., subprocess.CompletedProcess[str]]

GREET = """
import click
from floe_core.findings import Finding, FloeError, Place, Report

@click.command()
@click.option("--format", "output", default="text")
@click.option("--stop", is_flag=True)
@click.pass_context
def command(ctx, output, stop):
    ctx.obj.say("working \\x1b[2J")
    if stop:
        raise FloeError(Finding("FLOE-E807", "the catalog is asleep", Place("(catalog)")))
    if output == "text":
        click.echo(ctx.obj.table([("A", "B"), ("longer", "x")]))
        click.echo(ctx.obj.verdict("done", ok=True))
    return ctx.obj.emit(Report("floe greet", summary={"said": "hello"}), output)
"""


@pytest.fixture
def greet(tmp_path: Path) -> Callable[[str], str]:
    """A folder for PYTHONPATH with a distribution whose entry point is the command `greet`."""

    def write(code: str) -> str:
        site = tmp_path / "site"
        info = site / "acme_greet-1.0.dist-info"
        info.mkdir(parents=True)
        (site / "acme_greet.py").write_text(code, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-greet\nVersion: 1.0\n", encoding="utf-8")
        entry = "[floe.commands]\ngreet = acme_greet:command\n"
        (info / "entry_points.txt").write_text(entry, encoding="utf-8")
        return str(site)

    return write


def test_a_command_of_another_package_runs_like_one_of_floe(floe: Run, greet: Callable[[str], str]) -> None:
    done = floe("greet", PYTHONPATH=greet(GREET))
    assert (done.returncode, done.stdout) == (0, "A       B\nlonger  x\n✓ done\n")
    assert done.stderr == "working \\x1b[2J\n"


def test_its_report_is_the_same_json(floe: Run, greet: Callable[[str], str]) -> None:
    done = floe("greet", "--format", "json", PYTHONPATH=greet(GREET))
    report = json.loads(done.stdout)
    assert (report["schema"], report["summary"]) == ("floe-report/1", {"said": "hello"})


def test_an_error_that_stops_it_is_a_report_with_its_exit_code(floe: Run, greet: Callable[[str], str]) -> None:
    done = floe("greet", "--stop", "--format", "json", PYTHONPATH=greet(GREET))
    report = json.loads(done.stdout)
    assert (done.returncode, report["command"]) == (3, "floe greet")
    assert [error["code"] for error in report["errors"]] == ["FLOE-E807"]


@pytest.mark.parametrize(
    ("code", "finding"),
    [("raise RuntimeError('broken')", "FLOE-E802"), ("command = 'hello'", "FLOE-E803")],
)
def test_a_broken_command_names_its_package(
    floe: Run, greet: Callable[[str], str], code: str, finding: str
) -> None:
    done = floe("greet", PYTHONPATH=greet(code))
    assert done.returncode == 3
    assert done.stdout.startswith(f"✗ {finding} (command line):1:1  greet of ")


def test_a_command_of_a_package_that_is_not_installed_names_it() -> None:
    with pytest.raises(FloeError) as caught:
        find("nobody-has-this", "floe-spark")
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E801", 3)
    assert finding.message == "floe nobody-has-this needs the package floe-spark, which is not installed"


def test_a_command_that_nobody_knows_is_none() -> None:
    assert find("nobody-has-this", None) is None
