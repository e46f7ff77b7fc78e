"""`floe contract lint`: check contract files by themselves."""

from __future__ import annotations

from pathlib import Path

import click

from floe_contracts.commands.terminal import PATH, host, report_option, safe
from floe_contracts.lint import lint as lint_file
from floe_contracts.read import contract_files, is_folder
from floe_core.contract import Contract
from floe_core.findings import Finding, Place, Report, as_seen_from_here
from floe_core.source import cut


@click.command(short_help="Check contract files by themselves.")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("--record", is_flag=True, help="Ask datacontract-cli as well, the linter of record (takes seconds).")
@click.option("--strict", is_flag=True, help="Let warnings fail the command too.")
@report_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[Path, ...], record: bool, strict: bool, output: str) -> int:
    """Check contract files at PATHS, or every contract file of the products there."""
    findings: list[Finding] = []
    checked: list[dict[str, str]] = []
    for path in paths:
        files = contract_files(path) if is_folder(path) else [path]
        if not files:
            findings.append(no_contract(path))
        for file in files:
            contract, found = lint_file(file.absolute(), of_record=record)
            findings += found
            checked += [identity(contract)] if contract else []
    report = Report("floe contract lint", tuple(findings), {"contracts": checked}, strict)
    code = host(ctx).emit(report, output)
    if output == "text" and code == 0:
        for item in checked:
            click.echo(safe(f"✓ {cut(item['name'])} {cut(item['version'])} is valid"))
    return code


def no_contract(path: Path) -> Finding:
    return Finding("FLOE-E500", f"{path.name or path} holds no contract file", Place(str(path)))


def identity(contract: Contract) -> dict[str, str]:
    return {"name": contract.name, "version": contract.version, "path": as_seen_from_here(contract.place()).path}
