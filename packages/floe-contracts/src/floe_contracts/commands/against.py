"""`floe contract diff --against registered`: what a product would change, and whom that breaks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from floe_contracts.commands.changes import conclusion, show_changes, summary
from floe_contracts.commands.chosen import chosen
from floe_contracts.commands.terminal import host, table
from floe_contracts.impact import Impact, impacts
from floe_core.findings import Report
from floe_core.workplace import workplace


def against_registered(ctx: click.Context, folder: Path, name: str, output: str) -> int:
    """The product's contracts as they are here, each beside what it would replace."""
    target = chosen(ctx, folder, name)
    found = impacts(workplace(folder), target.contracts)
    if output == "text":
        for impact in found:
            _show(impact)
        for contract in target.contracts:
            if contract.name not in {impact.new.name for impact in found}:
                click.echo(f"{contract.name}: not registered yet, nothing to compare with")
    return host(ctx).emit(
        Report("floe contract diff", target.findings, {"contracts": [_as_json(impact) for impact in found]}), output
    )


def _show(impact: Impact) -> None:
    show_changes(impact.verdict)
    click.echo(conclusion(impact.old, impact.new, impact.verdict))
    if impact.broken:
        click.echo(f"{impact.new.name}: breaks {len(impact.broken)} registered consumers")
        head = ("consumer", "port", "reads", "owner", "repository")
        rows = [
            (each.product, each.port, each.version, each.owner or "-", each.repository or "-")
            for each in impact.broken
        ]
        click.echo(table([head, *rows]))


def _as_json(impact: Impact) -> dict[str, Any]:
    readers = [{**asdict(each), "registered_at": each.registered_at.isoformat()} for each in impact.broken]
    return {**summary(impact.old, impact.new, impact.verdict), "broken_consumers": readers}
