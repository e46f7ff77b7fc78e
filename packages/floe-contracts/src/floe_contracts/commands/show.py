"""`floe contract show`: a contract for other readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floe_contracts.commands.chosen import chosen, one
from floe_contracts.commands.terminal import PATH, host, table
from floe_contracts.export import FORMATS, export
from floe_core.contract import Contract
from floe_core.findings import FloeError, Report, as_seen_from_here

COMMAND = "floe contract show"


@click.command(short_help="Print a contract for other readers.")
@click.argument("path", type=PATH)
@click.option("--contract", "name", default="", help="Which contract, when PATH is a product with several.")
@click.option("--format", "output", type=click.Choice(FORMATS), default="odcs", show_default=True)
@click.option("--origins", is_flag=True, help="Show where each value comes from instead.")
@click.pass_context
def command(ctx: click.Context, path: Path, name: str, output: str, origins: bool) -> int:
    """Print the contract at PATH as other tools read it.

    PATH is a file, a product, or what the catalog keeps: catalog:[PRODUCT/]CONTRACT[:VERSION].
    """
    try:
        target = chosen(ctx, path, name)
        blocking = tuple(item for item in target.findings if item.blocks)
        contract = one(target, path)
        if origins:
            click.echo(_origins(contract))
            return host(ctx).emit(Report(COMMAND, blocking), "text") if blocking else 0
        if blocking:  # a document that lacks what could not be read is not the contract
            raise FloeError(*blocking)
        text = export(contract, output)
    except FloeError as exc:
        return host(ctx).emit(Report(COMMAND, exc.findings), "text")
    click.echo(text, nl=not text.endswith("\n"))
    return 0


def _origins(contract: Contract) -> str:
    """Every value of the document with the file and line that says it."""

    def walk(value: Any, path: tuple[str | int, ...], spelt: str) -> Any:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from walk(inner, (*path, key), f"{spelt}.{key}" if spelt else str(key))
        elif isinstance(value, list):
            for number, inner in enumerate(value):
                label = inner.get("name") or inner.get("property") if isinstance(inner, dict) else None
                yield from walk(inner, (*path, number), f"{spelt}[{label or number}]")
        else:
            origin = contract.origin(path)
            yield spelt, str(value), origin.source, str(as_seen_from_here(origin.place))

    return table([("field", "value", "from", "where"), *walk(contract.document, (), "")])
