"""What all steps of one run have in common. Nothing here imports dbt: Java is started first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from floe_core.compile import Outcome
from floe_dbt.events import NodeFinished
from floe_spark.ledger import Ledger
from floe_spark.product import Options, Product
from floe_spark.retry import Again
from floe_spark.staging import Staging
from floe_spark.staging.sweep import JOURNAL


class Watcher(Protocol):
    """Whoever started the run."""

    def say(self, line: str) -> None:
        """Progress, in a line."""

    def compile(self) -> Outcome:
        """Compile the product, as `floe compile` does."""

    def finished(self, node: NodeFinished, rows: int | None) -> None:
        """dbt is done with a node."""


@dataclass(frozen=True)
class Run:
    """What all steps of one run have in common."""

    product: Product
    options: Options
    watcher: Watcher
    ledger: Ledger
    staging: Staging
    again: Again | None = None

    @property
    def journal(self) -> Path:
        return self.staging.folder / JOURNAL
