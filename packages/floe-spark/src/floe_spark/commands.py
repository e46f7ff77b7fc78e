"""`floe run`: build a product on Spark and Iceberg, check it, publish it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from floe_core.commands import CommandHost
from floe_core.compile import Outcome
from floe_core.findings import Report
from floe_core.run_results import FILE
from floe_dbt.events import NodeFinished, Status
from floe_spark.ledger import Ledger
from floe_spark.lock import alone
from floe_spark.product import Options, Product, prepare
from floe_spark.run import finish_interrupted, run_product
from floe_spark.staging import sweep

MARKS = {Status.SKIPPED: "-", Status.WARN: "!"}
NODES = ("model", "seed", "snapshot")
TESTS = ("test", "unit_test")


@click.command(short_help="Run a product on Spark and Iceberg.")
@click.argument("product", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--select", "-s", multiple=True, metavar="NODES", help="Build only these, in dbt's own selection language."
)
@click.option("--exclude", multiple=True, metavar="NODES", help="Leave these out.")
@click.option("--full-refresh", is_flag=True, help="Build incremental models from scratch; their history is kept.")
@click.option("--vars", "variables", default="{}", metavar="JSON", help="dbt variables, as a JSON object.")
@click.option("--retry", is_flag=True, help="Take up the last run where it failed, on what it had built already.")
@click.option("--artifacts", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Run exactly these artifacts; refuse when they do not match the product.")  # fmt: skip
@click.option("--trigger", type=click.Choice(["manual", "scheduled", "sensor"]), default="manual",
              show_default=True, help="What started the run, for its record and its telemetry.")  # fmt: skip
@click.option("--wait", is_flag=True, help="Wait for another run of this product instead of refusing.")
@click.option(
    "--sweep", "sweeping", is_flag=True, help="Run nothing: remove what runs left that published nothing."
)
@click.option("--verbose", is_flag=True, help="Show what Spark and dbt log.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text", show_default=True,
              help="How to print the result.")  # fmt: skip
@click.pass_context
def command(ctx: click.Context, /, product: Path, sweeping: bool, variables: str, output: str, **given: Any) -> int:
    """Build PRODUCT, a folder with a floe.yaml, with its dbt project, check its data contracts, and publish it.

    Everything is built in a private staging catalog. Consumers see it in {domain}.{product}.{layer} of the
    platform's Iceberg catalog once all tests and contracts are kept, and nothing of it before. Without a platform
    that names a catalog, that is a SQLite file. Without PRODUCT, the current folder is run.
    """
    host: CommandHost = ctx.obj
    options = Options(vars=_read_vars(variables), **given)
    say: Callable[[str], None] = host.say if output == "text" else lambda _: None
    made = prepare(product)
    if sweeping:
        return _sweep(host, made, say, wait=options.wait, output=output)
    say(f"Running {made.id} on Spark, catalog {made.catalog.name} ({made.catalog.describe()})")
    ledger = run_product(made, options, Terminal(say, partial(host.compile, product, output)))
    report = Report("floe run", tuple(ledger.findings), _summary(made, ledger))
    if output == "json":
        return host.emit(report, output)
    return _show(host, made, ledger, report)


def _read_vars(text: str) -> Mapping[str, Any]:
    try:
        read = json.loads(text)
    except ValueError as exc:
        raise click.UsageError(f"--vars is not JSON: {exc}") from exc
    if not isinstance(read, dict):
        raise click.UsageError('--vars is not a JSON object like {"start": "2026-01-01"}')
    return read


@dataclass(frozen=True, slots=True)
class Terminal:
    """A line for each model, seed and snapshot; of the tests, only those that did not pass."""

    say: Callable[[str], None]
    compile: Callable[[], Outcome]

    def finished(self, node: NodeFinished, rows: int | None) -> None:
        if node.kind in TESTS and not (node.status.bad or node.status is Status.WARN):
            return
        mark = MARKS.get(node.status, "✗" if node.status.bad else "✓")
        counted = "" if rows is None else f"{rows:>14,} rows"
        self.say(f"  {mark} {node.kind:<9} {node.name:<40} {node.seconds:5.1f} s{counted}")


def _sweep(host: CommandHost, product: Product, say: Callable[[str], None], *, wait: bool, output: str) -> int:
    """Under the lock of the product: the runs that left something are over, or wait for `--retry`."""
    with alone(product.lock, "floe run --sweep", product.place, wait=wait, say=say):
        finish_interrupted(product, say)
        folders = sorted(path for path in product.runs.glob("*/") if path.is_dir())
        removed = sweep(product.catalog, product.namespace, folders) if folders else []
    report = Report("floe run", (), {"product_id": product.id, "runs": len(folders), "files": len(removed)})
    if output == "text":
        text = f"{product.id}: {len(removed):,} files of {len(folders)} runs removed"
        click.echo(host.verdict(text if folders else f"{product.id}: nothing to remove", ok=True))
    return host.emit(report, output)


def _summary(product: Product, ledger: Ledger) -> dict[str, Any]:
    return {
        "product_id": product.id,
        "run_id": ledger.run_id,
        "catalog": product.catalog.name,
        "published": ledger.outcome,
        "reasons": list(ledger.reasons),
        "record": str(product.spec.folder / FILE),
        "nodes": [
            {
                "id": node.unique_id,
                "kind": node.kind,
                "status": node.status.value,
                "seconds": round(node.seconds, 3),
            }
            for node in ledger.nodes
        ],
        "tables": [
            {"table": table.name, "rows": table.rows, "snapshots": table.snapshots} for table in ledger.tables
        ],
    }


def _show(host: CommandHost, product: Product, ledger: Ledger, report: Report) -> int:
    """What stands in the catalog, what the contracts say, what is wrong, and how it ended."""
    if ledger.tables:
        rows = [(table.name, str(table.rows), str(table.snapshots)) for table in ledger.tables]
        click.echo(host.table([("TABLE", "ROWS", "SNAPSHOTS"), *rows]))
        click.echo()
    for line in _contracts(ledger):
        click.echo(line)
    for problem in ledger.telemetry:
        host.say(f"telemetry: {problem}")
    code = host.emit(report, "text")
    click.echo(host.verdict(_verdict(product, ledger), ok=code == 0))
    host.say(f"Record: {FILE.as_posix()} of the product")
    if ledger.outcome == "withheld" and product.runs.is_dir():
        host.say("What this run built is kept for `floe run --retry`; `floe run --sweep` removes it.")
    return code


def _contracts(ledger: Ledger) -> list[str]:
    """One line for each contract: what held, what did not, what nobody could tell."""
    lines = []
    for item in ledger.scores:
        mine = [result for verdict, result in ledger.checks if verdict.contract.name == item.name]
        counts = [(sum(one.passed is verdict for one in mine), word) for verdict, word in VERDICTS]
        told = ", ".join(f"{number} {word}" for number, word in counts if number)
        score = f", quality {item.score.value:.0f}" if item.score else ""
        lines.append(f"Contract {item.name} {item.version}: {told or 'no checks'}{score}")
    return [*lines, ""] if lines else []


VERDICTS: tuple[tuple[bool | None, str], ...] = ((True, "passed"), (False, "failed"), (None, "not measured"))


def _verdict(product: Product, ledger: Ledger) -> str:
    built, tested = ledger.count(*NODES), ledger.count(*TESTS)
    done = f"{product.id}: {built} built, {tested} tests passed"
    match ledger.outcome:
        case "published":
            return f"{done}, {len(ledger.published)} published"
        case "nothing to publish":
            return f"{done}, nothing has changed"
        case "failed":
            return f"{done}; publication is not complete: {'; '.join(ledger.reasons)}"
        case "withheld":
            why = "; ".join(ledger.reasons[:3]) + (" …" if len(ledger.reasons) > 3 else "")
            return f"{done}; nothing published: {why}"
