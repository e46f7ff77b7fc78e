"""`floe contract plan`: the checks that a contract asks for."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from floe_contracts.commands.chosen import chosen
from floe_contracts.commands.terminal import PATH, format_option, host, safe, table
from floe_contracts.plan import plan as plan_of
from floe_core.checks import Check, CheckPlan
from floe_core.findings import FloeError, Report
from floe_core.order import show


@click.command(short_help="Show the checks that a contract asks for.")
@click.argument("path", type=PATH)
@click.option("--contract", "name", default="", help="Which contract, when PATH is a product with several.")
@format_option
@click.pass_context
def command(ctx: click.Context, path: Path, name: str, output: str) -> int:
    """Show every check of the contract at PATH, a file or a product, and the cheapest place that answers it."""
    try:
        target = chosen(ctx, path, name)
    except FloeError as exc:
        return host(ctx).emit(Report("floe contract plan", exc.findings), output)
    plans = [plan_of(contract) for contract in target.contracts]
    if output == "text":
        for item in plans:
            _show(item)
    summary = {
        "plans": [{"contract": item.contract, "checks": [_json(check) for check in item.checks]} for item in plans]
    }
    return host(ctx).emit(Report("floe contract plan", target.findings, summary), output)


def _show(plan: CheckPlan) -> None:
    if plan.checks:
        click.echo(table([("source", "table", "column", "check", "legal", "asked by"), *map(_row, plan.checks)]))
        click.echo()
    counts = Counter(check.source.value for check in plan.checks)
    told = ", ".join(f"{number} {source}" for source, number in counts.items()) or "no checks"
    click.echo(safe(f"{plan.contract}: {told}"))


def _row(check: Check) -> tuple[str, ...]:
    return check.source.value, check.table, check.column or "-", check.metric, _legal(check), check.origin


def _legal(check: Check) -> str:
    if check.reason or check.operator is None:
        return check.reason
    unit = " %" if check.percent else " s" if check.metric == "freshness" else ""
    return f"{check.operator.value} {show(check.threshold)}{unit}"


def _json(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "table": check.table,
        "column": check.column,
        "metric": check.metric,
        "source": check.source.value,
        "operator": check.operator.value if check.operator else None,
        "threshold": list(check.threshold) if isinstance(check.threshold, tuple) else check.threshold,
        "reason": check.reason,
    }
