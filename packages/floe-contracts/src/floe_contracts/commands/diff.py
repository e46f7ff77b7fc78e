"""`floe contract diff`: what changed between two contracts, and whom it breaks."""

from __future__ import annotations

from pathlib import Path

import click

from floe_contracts.commands.changes import conclusion, show_changes, summary
from floe_contracts.commands.terminal import format_option, host
from floe_contracts.reference import contract_at
from floe_contracts.version import verdict
from floe_core.findings import FloeError, Report

COMMAND = "floe contract diff"


@click.command(short_help="Say what changed between two contracts, and which bump it needs.")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--against",
    type=click.Choice(["registered"]),
    help="Compare the contracts of a product, OLD or the current folder, with those that the catalog keeps.",
)
@click.option("--contract", "name", default="", help="Which contract of the product; all by default.")
@format_option
@click.pass_context
def command(
    ctx: click.Context, old: str | None, new: str | None, against: str | None, name: str, output: str
) -> int:
    """Compare OLD with NEW.

    Each is a file, git:REVISION:path, or what the catalog keeps: catalog:[PRODUCT/]CONTRACT[:VERSION].
    """
    if bool(against) == bool(new):
        raise click.UsageError("Name OLD and NEW, or --against registered and perhaps a product's folder.")
    try:
        if against:
            from floe_contracts.commands.against import against_registered  # files need nothing of what it needs

            return against_registered(ctx, Path(old or ""), name, output)
        return _two(ctx, str(old), str(new), output)
    except FloeError as exc:
        return host(ctx).emit(Report(COMMAND, exc.findings), output)


def _two(ctx: click.Context, old: str, new: str, output: str) -> int:
    before, after = contract_at(old)[0], contract_at(new)[0]
    judged = verdict(before, after)
    if output == "text":
        show_changes(judged)
        click.echo(conclusion(before, after, judged))
    return host(ctx).emit(Report(COMMAND, (), summary(before, after, judged)), output)
