"""`floe contract history`: what happened to registered contracts, and to those who read them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from floe_contracts.commands.terminal import folder_option, format_option, host, table
from floe_core.findings import Finding, FloeError, Place, Report
from floe_core.identity import Action, HistoryEntry
from floe_core.workplace import workplace

ABOUT = (
    Action.REGISTER_CONTRACT,
    Action.RETIRE_CONTRACT,
    Action.REGISTER_CONSUMER,
    Action.REMOVE_CONSUMER,
)


@click.command(short_help="Show what happened to registered contracts.")
@click.argument("contract", required=False, metavar="[CONTRACT]")
@click.option("--product", default=None, help="Whose contracts; the product in the folder by default.")
@folder_option
@format_option
@click.pass_context
def command(ctx: click.Context, contract: str | None, product: str | None, folder: Path, output: str) -> int:
    """Show every change of CONTRACT and of its consumers, oldest first; of all contracts without a name."""
    try:
        here = workplace(folder)
        named = here.product(product)
        lines = [line for line in here.catalog.product_history(named) if is_about(line, contract)]
        if contract and not lines:
            message = f"{named} has never registered a contract {contract}"
            raise FloeError(Finding("FLOE-E632", message, Place("(command line)")))
    except FloeError as exc:
        return host(ctx).emit(Report("floe contract history", exc.findings), output)
    if output == "json":
        summary = {"history": [_as_json(line) for line in lines]}
        return host(ctx).emit(Report("floe contract history", summary=summary), output)
    head = ("WHEN", "WHAT", "SUBJECT", "BY", "WHY")
    click.echo(table([head, *(_row(line) for line in lines)]) if lines else "No contracts are registered.")
    return 0


def is_about(line: HistoryEntry, contract: str | None) -> bool:
    """A line's subject ends with PRODUCT/CONTRACT, and :VERSION unless it is about a consumer."""
    if line.action not in ABOUT:
        return False
    name = line.subject.rpartition("/")[2].partition(":")[0]
    return contract in (None, name)


def _row(line: HistoryEntry) -> tuple[str, ...]:
    who = line.by.run or line.by.user or "-"
    return f"{line.at:%Y-%m-%d %H:%M:%S}", line.action.value, line.subject, who, line.reason or "-"


def _as_json(line: HistoryEntry) -> dict[str, Any]:
    return {**asdict(line), "at": line.at.isoformat()}
