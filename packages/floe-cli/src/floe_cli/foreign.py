"""Commands that other packages bring, found through the entry points `floe.commands`."""

from __future__ import annotations

import click

from floe_core.commands import GROUP
from floe_core.findings import Finding, FloeError, Place
from floe_core.plugins import load_object

COMMAND_LINE = Place("(command line)")


def find(name: str, package: str | None) -> click.Command | None:
    """The command of that name; `package` is the one that has it when floe knows. None: nobody has."""
    found = load_object(GROUP, name, COMMAND_LINE)
    if found is None and package:
        message = f"floe {name} needs the package {package}, which is not installed"
        fix = f"Install it beside floe-cli, from where floe-cli came:  uv pip install {package}"
        raise FloeError(Finding("FLOE-E801", message, COMMAND_LINE, fix=fix))
    if found is not None and not isinstance(found, click.Command):
        raise FloeError(Finding("FLOE-E803", f"{name} of {GROUP} is not a click command", COMMAND_LINE))
    return found
