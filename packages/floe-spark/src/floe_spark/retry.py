"""`floe run --retry`: take the last run up where it failed, on what it had built already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from floe_core.findings import Finding, FloeError
from floe_core.run_results import FILE, RunResults, read_results
from floe_dbt.events import Status
from floe_spark.product import Product

if TYPE_CHECKING:
    from floe_dbt.manifest import Manifest  # and all of dbt, before Java is started

AGAIN = {status.value for status in Status if status.bad} | {Status.SKIPPED.value}


@dataclass(frozen=True, slots=True)
class Again:
    """A run that published nothing, and the folder with its staging catalog."""

    run_id: str
    folder: Path
    nodes: frozenset[str]  # that failed or were skipped, by dbt's unique id

    def select(self, manifests: Iterable[Manifest]) -> tuple[str, ...]:
        """The same nodes in dbt's selection language; empty when everything was built, and only checks failed."""
        found = []
        for manifest in manifests:
            for unique_id in sorted(self.nodes):
                node = manifest.nodes.get(unique_id) or manifest.unit_tests.get(unique_id)
                if node:
                    found.append("fqn:" + ".".join(node.fqn))
        return tuple(found)


def take_up(product: Product) -> Again:
    """The last run of the product, if there is something left to do; else FLOE-E721."""
    record = read_results(product.spec.folder / FILE)
    if record is None:
        raise _nothing(product, "there is no record of a run")
    if record.publication.status in ("published", "nothing to publish"):
        raise _nothing(product, f"{record.run_id} has been published")
    folder = product.runs / record.run_id
    origin = record.options.retry_of
    if origin and not folder.is_dir():  # a retry builds on in the folder of the first try
        folder = product.runs / origin
    if not (folder / "staging.db").is_file():
        raise _nothing(product, f"what {record.run_id} had built is not there any more")
    return Again(record.run_id, folder, _left(record))


def _left(record: RunResults) -> frozenset[str]:
    return frozenset(node.id for node in record.nodes if node.status in AGAIN)


def _nothing(product: Product, why: str) -> FloeError:
    return FloeError(Finding("FLOE-E721", f"there is nothing to take up again: {why}", product.place))
