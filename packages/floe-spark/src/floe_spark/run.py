"""A run of a product, as a visible straight line: build in private, check there, publish everything or nothing."""

from __future__ import annotations

from collections.abc import Callable

from floe_core.findings import FloeError
from floe_core.run_results import FILE, write_results
from floe_spark.context import Run, Watcher
from floe_spark.ledger import Ledger
from floe_spark.lock import alone
from floe_spark.product import Options, Product
from floe_spark.retry import take_up
from floe_spark.session import start_engine
from floe_spark.staging import Staging, sweep
from floe_spark.staging.sweep import JOURNAL
from floe_spark.tail import following


def run_product(product: Product, options: Options, watcher: Watcher) -> Ledger:
    """Build, check, publish, and write down how it went.

    The JVM starts while the product is compiled and parsed. Only an interrupt leaves no record, and what is raised
    before anything has begun: a second run at once, or nothing to take up again.
    """
    ledger = Ledger()
    with alone(product.lock, ledger.run_id, product.place, wait=options.wait, say=watcher.say):
        finish_interrupted(product, watcher.say)
        run = begin(product, options, watcher, ledger)
        try:
            product.catalog.prepare()
            start_and_work(run)
        except FloeError as exc:
            ledger.stop(exc)
        write_results(ledger.record(product, options), product.spec.folder / FILE)
    return ledger


def begin(product: Product, options: Options, watcher: Watcher, ledger: Ledger) -> Run:
    """A staging catalog of its own, or that of the run that is taken up again."""
    again = take_up(product) if options.retry else None
    folder = again.folder if again else product.runs / ledger.run_id
    ledger.retry_of = again.run_id if again else None
    staging = Staging(product.catalog, product.namespace, folder, folder.name, product.place)
    return Run(product, options, watcher, ledger, staging, again)


def start_and_work(run: Run) -> None:
    """Java first: the rest of floe, with dbt, is imported while it starts, and takes as long."""
    product, options = run.product, run.options
    logs = [product.work / "spark.log", *(request.work / "logs" / "dbt.log" for request in product.requests)]
    with (
        following(logs if options.verbose else (), run.watcher.say),
        start_engine(
            run.staging.spark_catalog,
            product.work,
            product.settings,
            level="info" if options.verbose else "warn",
            progress=run.watcher.say,
        ) as engine,
    ):
        from floe_spark.work import work

        work(run, engine)


def finish_interrupted(product: Product, say: Callable[[str], None]) -> None:
    """Publications that a crash cut off are completed before anything else."""
    for journal in sorted(product.runs.glob(f"*/{JOURNAL}")):
        done = product.catalog.resume(journal)
        names = ", ".join(map(str, done.now)) if done else ""
        say(f"Finished the publication of {journal.parent.name}: {names or 'nothing was left to do'}")
        sweep(product.catalog, product.namespace, [journal.parent])
