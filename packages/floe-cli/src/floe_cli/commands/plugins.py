"""`floe plugins`: what is installed."""

from __future__ import annotations

import click

from floe_cli.terminal import emit, format_option, table
from floe_core.findings import Report
from floe_core.plugins import installed


@click.group(short_help="Show the plugins that are installed.")
def command() -> None:
    """Show the plugins that are installed."""


@command.command("list")
@format_option
def list_plugins(output: str) -> int:
    """List every plugin that an installed package announces. None of them is imported."""
    found = installed()
    rows = [
        {"kind": item.group, "name": item.name, "distribution": item.distribution, "version": item.version}
        for item in found
    ]
    if output == "json":
        return emit(Report("floe plugins list", summary={"plugins": rows}), output)
    if not rows:
        click.echo("No plugins are installed.")
        return 0
    click.echo(table([("KIND", "NAME", "DISTRIBUTION", "VERSION"), *(tuple(row.values()) for row in rows)]))
    return 0
