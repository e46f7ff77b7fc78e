"""`floe compile`: check products against everything they inherit, and write what a run needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from floe_cli.compose import environment
from floe_cli.formats import FORMATS
from floe_cli.terminal import Steps, Waiting, choose_format, emit, verdict
from floe_cli.tracing import spans
from floe_core.compile import Outcome, compile_project
from floe_core.env import Env
from floe_core.findings import Place, Report, as_seen_from_here
from floe_core.line import Line


@click.command(short_help="Check products against the platform's guardrails.")
@click.argument("products", nargs=-1, type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only check: write nothing beside the product, register nothing.")
@click.option("--register", is_flag=True, help="Register also what is not committed yet.")
@click.option("--strict", is_flag=True, help="Let warnings fail the command too.")
@click.option(
    "--dbt-manifest",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A manifest.json of your own dbt, instead of one that floe makes. Refused when files have changed since.",
)
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="List at most N findings; counts stay true.")
@choose_format(*FORMATS)
def command(
    products: tuple[Path, ...],
    check: bool,
    register: bool,
    strict: bool,
    dbt_manifest: Path | None,
    limit: int | None,
    output: str,
) -> int:
    """Check PRODUCTS, folders with a floe.yaml, against the platform's guardrails.

    Loads each product, follows its references to the domain and the enterprise, merges what they demand, and
    checks the product against it. When nothing blocks, writes target/floe/compiled_artifacts.json in its folder.
    Without PRODUCTS, the current folder is compiled.
    """
    if check and register:
        raise click.UsageError("--check registers nothing, so it cannot go with --register.")
    if dbt_manifest and len(products) > 1:
        raise click.UsageError("--dbt-manifest is the manifest of one product; name that one.")
    env = environment(check=check, register=register, strict=strict, dbt_manifest=dbt_manifest)
    outcomes = _compile_all(products or (Path(),), env, show=output == "text")
    found = tuple(dict.fromkeys(item for outcome in outcomes for item in outcome.findings))  # shared parents: once
    report = Report("floe compile", found, strict=strict, limit=limit)
    code = emit(replace(report, summary=_summary(report, outcomes)), output)
    if output == "text":
        click.echo(_last_line(report, outcomes, check))
    return code


def _compile_all(products: tuple[Path, ...], env: Env, *, show: bool) -> list[Outcome]:
    span, send, problem = spans()
    if problem:
        click.echo(problem, err=True)
    outcomes = []
    try:
        for root in products:
            if show and len(products) > 1:
                click.echo(click.style(f"{root}:", bold=True), err=True)
            outcomes.append(compile_project(root, env, Line(Steps() if show else Waiting(), span)))
    finally:
        send()
    return outcomes


def _summary(report: Report, outcomes: list[Outcome]) -> dict[str, Any]:
    products = [_product(item) for item in outcomes if item.chain]
    return {"products": products, "counts": report.counts(), "not_listed": report.left_out}


def _product(outcome: Outcome) -> dict[str, Any]:
    assert outcome.chain  # noqa: S101 - the caller has looked
    product, path = outcome.chain.product.document.metadata, outcome.written.path
    return {
        "product": product.name,
        "version": product.version,
        "product_id": outcome.chain.product_id,
        "mode": outcome.chain.mode,
        "artifacts": as_seen_from_here(Place(str(path))).path if path else None,
        "not_checked": outcome.not_checked,
        **outcome.summary,
    }


def _last_line(report: Report, outcomes: list[Outcome], check: bool) -> str:
    if report.exit_code:
        problems = sum(report.fails(item) for item in report.found)
        return verdict(f"Compilation FAILED: {_count(problems, 'problem')}", ok=False)
    lines = dict.fromkeys(_compiled(outcome, check) for outcome in outcomes)
    return "\n".join(verdict(line, ok=True) for line in lines)


def _compiled(outcome: Outcome, check: bool) -> str:
    """What is known now, and what is not."""
    assert outcome.chain  # noqa: S101 - nothing blocked, so the chain is there
    done = f"{outcome.chain.product_id} {'checked, nothing written' if check else 'compiled'}"
    left = ", ".join(step.replace("_", " ") for step in outcome.not_checked)
    return f"{done}; not checked: {left}" if left else done


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
