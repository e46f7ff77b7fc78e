"""What a run does while and after Spark starts, from understanding the product to the last pointer."""

from __future__ import annotations

from collections.abc import Sequence

from floe_core.contract import Contract
from floe_core.findings import FloeError
from floe_iceberg import sizes_of
from floe_spark import steps
from floe_spark.context import Run
from floe_spark.lineage import Lineage
from floe_spark.ownership import refuse_strangers
from floe_spark.reporting import Observers, observed
from floe_spark.session import Engine


def work(run: Run, engine: Engine) -> None:
    """Understand the product while Spark starts, then build it; whoever observes it is told."""
    product, ledger, options = run.product, run.ledger, run.options
    with ledger.phase("compile"):
        ledger.artifacts = steps.compiled(run)
        refuse_strangers(product.spec, product.catalog)
        projects, contracts = steps.understand(run)
    lineage = Lineage(product.spec, ledger.artifacts, product.catalog, projects, contracts)
    with observed(product, options, ledger, lineage) as observers:
        build_and_publish(run, engine, observers, contracts)
        with ledger.phase("read back"), product.catalog.open() as catalog:
            ledger.tables += sizes_of(catalog, product.namespace)


def build_and_publish(run: Run, engine: Engine, observers: Observers, contracts: Sequence[Contract]) -> None:
    """From the first model to the last pointer. What stops it is on the ledger, and nothing is published then."""
    ledger = run.ledger
    try:
        with ledger.phase("parse"):
            parsed = [steps.parse_project(request, run.watcher.say) for request in run.product.requests]
        with ledger.phase("staging"):
            locations = steps.fill(run, [manifest for _, manifest in parsed])
        with ledger.phase("start"):
            engine.session()
        with ledger.phase("build"):
            steps.build(run, parsed, locations, observers)
            engine.check()
        if ledger.reasons:
            return
        with ledger.phase("checks"):
            changes = steps.check(run, engine, observers, contracts)
        if ledger.reasons:
            return
        with ledger.phase("publish"):
            steps.publish(run, changes)
    except FloeError as exc:
        ledger.stop(exc)
