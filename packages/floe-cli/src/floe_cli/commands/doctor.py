"""`floe doctor`: what this installation can do, and how to repair what it cannot."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from itertools import pairwise

import click

import floe_cli
import floe_core
from floe_cli.terminal import emit, format_option, verdict
from floe_core.doctor import HERE, Check, contributed
from floe_core.findings import Finding, Report
from floe_core.plugins import installed
from floe_core.source import HAS_LIBYAML


@click.command(short_help="Check this installation, and say how to repair it.")
@format_option
def command(output: str) -> int:
    """Check this installation. Each failure says how to repair it."""
    checks = list(_checks())
    failed = [Finding(item.code, f"{item.name}: {item.detail}", HERE, fix=item.fix) for item in checks if item.fix]
    if output == "text":
        for item in checks:
            click.echo(f"{verdict(item.name, ok=not item.fix)}  {item.detail}")
        click.echo()
    rows = [{"name": item.name, "ok": not item.fix, "detail": item.detail} for item in checks]
    return emit(Report("floe doctor", tuple(failed), {"checks": rows}), output)


def _checks() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Check("Python", version, "" if sys.version_info >= (3, 11) else "Install Python 3.11 or newer.")
    yield Check("floe", f"floe-cli {floe_cli.__version__}, floe-core {floe_core.__version__}")
    wheel = "pip install --force-reinstall --only-binary :all: PyYAML"
    yield Check("YAML", "with libyaml", "") if HAS_LIBYAML else Check("YAML", "without libyaml, slow", wheel)
    git = shutil.which("git")
    yield Check(
        "git", git or "not on PATH", "" if git else "Install git: apt-get install git, or brew install git."
    )
    yield from contributed()
    yield from _plugins()


def _plugins() -> Iterator[Check]:
    found = installed()
    for plugin, other in pairwise(found):
        if (plugin.group, plugin.name) == (other.group, other.name):
            detail = f"{plugin.name} of {plugin.distribution} and of {other.distribution}"
            yield Check(plugin.group, detail, "Uninstall one of the two packages.", "FLOE-E805")
    yield Check("Plugins", f"{len(found)} installed")
