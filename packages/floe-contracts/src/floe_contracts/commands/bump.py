"""`floe contract bump`: the version that a change needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from floe_contracts.commands.changes import conclusion, show_changes, summary
from floe_contracts.commands.chosen import chosen, one
from floe_contracts.commands.terminal import PATH, format_option, host, safe
from floe_contracts.impact import Impact, impacts
from floe_contracts.read import is_folder
from floe_contracts.reference import Target, contract_at
from floe_contracts.rewrite import write_version
from floe_contracts.version import check_version, release, verdict
from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError, Place, Report, as_seen_from_here
from floe_core.workplace import workplace

COMMAND = "floe contract bump"


@click.command(short_help="Find, and write, the version that a change needs.")
@click.argument("path", type=PATH, required=False)
@click.option(
    "--baseline",
    help="What was promised before: a file, git:REVISION:path, or catalog:[PRODUCT/]CONTRACT[:VERSION]. "
    "Without it, what the catalog keeps of the product.",
)
@click.option("--contract", "name", default="", help="Which contract, when PATH is a product with several.")
@click.option("--write", is_flag=True, help="Write the version where it stands.")
@format_option
@click.pass_context
def command(
    ctx: click.Context, path: Path | None, baseline: str | None, name: str, write: bool, output: str
) -> int:
    """Compare a contract with what was promised before, and name the version that it needs.

    PATH is a contract file or a product. With a baseline it is datacontract.yaml by default, else the product in
    the current folder, each of whose contracts is compared with the registered one.
    """
    try:
        if baseline:
            where = path or Path("datacontract.yaml")
            target = chosen(ctx, where, name)
            compared = [_with(contract_at(baseline)[0], target, where)]
        else:
            where = path or Path()
            target = chosen(ctx, where, name)
            compared = _with_registered(target, where)
        told = () if write else tuple(item for each in compared for item in _complaints(each, target))
        written = _write(compared) if write else {}
    except FloeError as exc:
        return host(ctx).emit(Report(COMMAND, exc.findings), output)
    if output == "text":
        _show(target, compared, written)
    report = [
        {**summary(each.old, each.new, each.verdict), "written": _written(each, written)} for each in compared
    ]
    about = report[0] if baseline else {"contracts": report}
    return host(ctx).emit(Report(COMMAND, (*target.findings, *told), about), output)


def _with(before: Contract, target: Target, path: Path) -> Impact:
    after = one(target, path)
    return Impact(before, after, verdict(before, after, target.rules))


def _with_registered(target: Target, path: Path) -> list[Impact]:
    if not (is_folder(path) or path.name == "floe.yaml"):
        raise click.UsageError(
            f"{path} is a file: name its --baseline, or the folder of a product that is registered."
        )
    return impacts(workplace(path), target.contracts)


def _complaints(each: Impact, target: Target) -> list[Finding]:
    return check_version(each.old, each.new, target.rules)


def _place(each: Impact) -> Place:
    return each.new.place(("version",))


def _write(compared: Sequence[Impact]) -> dict[Place, str]:
    """What was written where. Contracts that share a version, as generated ones do, get the largest of theirs."""
    wanted: dict[Place, Impact] = {}
    for each in compared:
        other = wanted.get(_place(each))
        if each.verdict.version != each.new.version and (other is None or _release(each) > _release(other)):
            wanted[_place(each)] = each
    for each in wanted.values():
        write_version(each.new, each.verdict.version)
    return {place: each.verdict.version for place, each in wanted.items()}


def _release(each: Impact) -> tuple[int, int, int]:
    return release(each.verdict.version) or (0, 0, 0)


def _written(each: Impact, written: Mapping[Place, str]) -> str:
    return as_seen_from_here(_place(each)).path if _place(each) in written else ""


def _show(target: Target, compared: Sequence[Impact], written: Mapping[Place, str]) -> None:
    for each in compared:
        show_changes(each.verdict)
        path = _written(each, written)
        other = written.get(_place(each), each.verdict.version)
        version = "" if other == each.verdict.version else f"version {other} "
        done = f" ({version}written to {path})" if path else ""
        click.echo(f"{conclusion(each.old, each.new, each.verdict)}{safe(done)}")
    for contract in target.contracts:
        if all(each.new is not contract for each in compared):
            click.echo(safe(f"{contract.name}: not registered yet, nothing to compare with"))
