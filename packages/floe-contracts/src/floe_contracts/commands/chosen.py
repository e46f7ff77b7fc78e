"""The contracts that a command line chooses."""

from __future__ import annotations

from pathlib import Path

import click

from floe_contracts.commands.terminal import host
from floe_contracts.read import is_folder
from floe_contracts.reference import CATALOG, Target, contract_at
from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError

NAME = "Leave --contract out."


def chosen(ctx: click.Context, path: Path, name: str) -> Target:
    """The contract of a file or of the catalog, or those of a product. Raises FloeError."""
    if is_folder(path) or path.name == "floe.yaml":
        from floe_contracts.target import product_at  # files need nothing of what a product needs

        return product_at(path.absolute(), name, host(ctx).say)
    reference = str(path) if str(path).startswith(CATALOG) else str(path.absolute())
    contract, findings = contract_at(reference)
    if name not in ("", contract.name):
        message = f"the file holds no contract {name[:60]!r}"
        raise FloeError(Finding("FLOE-E500", message, contract.place(), expected=contract.name, fix=NAME))
    return Target((contract,), tuple(findings))


def one(target: Target, path: Path) -> Contract:
    """The only contract there; without any, what kept them from being read."""
    if len(target.contracts) == 1:
        return target.contracts[0]
    if not target.contracts:
        raise FloeError(*target.findings)
    names = ", ".join(contract.name for contract in target.contracts)
    raise click.UsageError(f"{path} has these contracts: {names}. Choose one with --contract.")
