"""`floe contract list`: the contract versions that the catalog keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from floe_contracts.commands.terminal import folder_option, format_option, host, table
from floe_contracts.registered import is_read_by, registered_here
from floe_core.findings import FloeError, Report
from floe_core.identity import Consumer, RegisteredContract
from floe_core.workplace import workplace


@click.command("list", short_help="List the contract versions that the catalog keeps.")
@click.argument("product", required=False, metavar="[PRODUCT]")
@folder_option
@format_option
@click.pass_context
def command(ctx: click.Context, product: str | None, folder: Path, output: str) -> int:
    """List the registered contract versions of PRODUCT, retired ones too.

    Without PRODUCT those of the product in the folder; in a platform's folder, those of all its products.
    """
    try:
        here = workplace(folder)
        with here.catalog.session():
            rows = [
                (named, item, [reader for reader in here.catalog.list_consumers(named) if is_read_by(item, reader)])
                for named in registered_here(here, product)
                for item in here.catalog.list_registered_contracts(named)
            ]
    except FloeError as exc:
        return host(ctx).emit(Report("floe contract list", exc.findings), output)
    if output == "json":
        summary = {"contracts": [_as_json(*row) for row in rows]}
        return host(ctx).emit(Report("floe contract list", summary=summary), output)
    head = ("PRODUCT", "CONTRACT", "VERSION", "OWNER", "SINCE", "CONSUMERS")
    click.echo(table([head, *(_row(*row) for row in rows)]) if rows else "No contracts are registered.")
    return 0


def _row(product: str, item: RegisteredContract, readers: list[Consumer]) -> tuple[str, ...]:
    version = f"{item.version} retired" if item.retired else item.version
    names = ", ".join(dict.fromkeys(reader.product for reader in readers))
    return product, item.name, version, item.owner or "-", f"{item.registered_at:%Y-%m-%d}", names or "-"


def _as_json(product: str, item: RegisteredContract, readers: list[Consumer]) -> dict[str, Any]:
    return {
        "product": product,
        "contract": item.name,
        "version": item.version,
        "retired": item.retired,
        "owner": item.owner,
        "registered_at": item.registered_at.isoformat(),
        "schema_hash": item.schema_hash,
        "document_hash": item.document_hash,
        "consumers": [{"product": each.product, "port": each.port, "version": each.version} for each in readers],
    }
