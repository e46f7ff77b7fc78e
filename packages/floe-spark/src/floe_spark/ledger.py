"""What a run has come to know so far; whatever ends it, this becomes its record."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from floe_core import __version__
from floe_core.artifacts import CompiledArtifacts
from floe_core.checks import Source
from floe_core.findings import Finding, FloeError, Report, relative_to_cwd
from floe_core.run_results import (
    CheckResult,
    ContractResult,
    NodeResult,
    Publication,
    PublishedRelation,
    RunOptions,
    RunResults,
    TableResult,
)
from floe_core.verdicts import CheckResult as Checked
from floe_core.verdicts import Score, TableVerdict, show
from floe_dbt.events import NodeFinished, Status
from floe_iceberg import TableSize
from floe_iceberg.publication import Change
from floe_spark.product import Options, Product


def new_run_id() -> str:
    """Readable, sortable, and never the same twice."""
    return f"run-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class Written:
    """What a node wrote: the rows of its table now, and the bytes it added."""

    rows: int | None = None
    bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """The quality score of a contract, and the least that it may be."""

    name: str
    version: str
    score: Score | None
    minimum: float | None
    passed: bool


@dataclass(slots=True)
class Ledger:
    """One run, as far as it has come."""

    run_id: str = field(default_factory=new_run_id)
    began: datetime = field(default_factory=lambda: datetime.now(UTC))
    retry_of: str | None = None
    artifacts: CompiledArtifacts | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    nodes: list[NodeFinished] = field(default_factory=list)
    written: dict[str, Written] = field(default_factory=dict)  # by dbt's unique id
    verdicts: list[TableVerdict] = field(default_factory=list)
    scores: list[Scored] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    published: list[Change] = field(default_factory=list)
    outcome: Literal["published", "withheld", "nothing to publish", "failed"] = "withheld"
    reasons: list[str] = field(default_factory=list)  # why nothing was published
    tables: list[TableSize] = field(default_factory=list)
    telemetry: list[str] = field(default_factory=list)  # what could not be told to observers

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a part of the run; a part that comes twice is added up."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - began

    def stop(self, error: FloeError, why: str = "") -> None:
        """Nothing more is done: what kept it from going on is one of the findings."""
        self.findings += error.findings
        self.reasons.append(why or error.findings[0].message)

    def count(self, *kinds: str) -> int:
        """How many nodes of these kinds did well."""
        return sum(
            node.kind in kinds and not node.status.bad and node.status is not Status.SKIPPED for node in self.nodes
        )

    @property
    def checks(self) -> Iterator[tuple[TableVerdict, Checked]]:
        return ((verdict, result) for verdict in self.verdicts for result in verdict.results)

    def report(self) -> Report:
        return Report("floe run", tuple(self.findings))

    def record(self, product: Product, options: Options) -> RunResults:
        """The run as its record says it."""
        found = Report("floe run", relative_to_cwd(self.findings))
        said = found.to_json()
        metadata = self.artifacts.metadata if self.artifacts else None
        return RunResults(
            run_id=self.run_id,
            product_id=product.id,
            product_version=product.spec.product.metadata.version,
            floe_version=__version__,
            source_hash=metadata.source_hash if metadata else "",
            git_commit=metadata.git_commit if metadata else None,
            trigger=options.trigger,
            catalog=product.catalog.name,
            started_at=_utc(self.began),
            ended_at=_utc(datetime.now(UTC)),
            exit_code=found.exit_code,
            options=RunOptions(
                select=options.select,
                exclude=options.exclude,
                full_refresh=options.full_refresh,
                vars=dict(options.vars),
                retry_of=self.retry_of,
            ),
            seconds={name: round(seconds, 3) for name, seconds in self.seconds.items()},
            nodes=tuple(self._node(node) for node in self.nodes),
            checks=tuple(_check(verdict, result) for verdict, result in self.checks),
            contracts=tuple(_scored(item) for item in self.scores),
            publication=Publication(
                status=self.outcome,
                reasons=tuple(self.reasons),
                relations=tuple(_relation(change) for change in self.published),
            ),
            tables=tuple(
                TableResult(table=table.name, rows=table.rows, snapshots=table.snapshots) for table in self.tables
            ),
            findings=tuple(said["findings"]),
            errors=tuple(said["errors"]),
        )

    def _node(self, node: NodeFinished) -> NodeResult:
        written = self.written.get(node.unique_id, Written(node.failures))
        return NodeResult(
            id=node.unique_id,
            name=node.name,
            kind=node.kind,
            status=node.status.value,
            seconds=round(node.seconds, 3),
            rows=written.rows,
            bytes=written.bytes,
            message=node.message if node.status.bad or node.status is Status.WARN else "",
            path=node.path,
            line=node.line,
        )


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _relation(change: Change) -> PublishedRelation:
    return PublishedRelation(name=str(change.after), kind=change.after.kind.value, is_new=change.is_new)


def _scored(item: Scored) -> ContractResult:
    value = round(item.score.value, 2) if item.score else None
    return ContractResult(
        name=item.name, version=item.version, score=value, minimum=item.minimum, passed=item.passed
    )


def _check(verdict: TableVerdict, result: Checked) -> CheckResult:
    check = result.check
    legal = f"{check.operator.value} {show(check.threshold)}" if check.operator else ""
    status: Any = {True: "passed", False: "failed", None: "not measured"}[result.passed]
    return CheckResult(
        contract=verdict.contract.name,
        version=verdict.contract.version,
        table=".".join(verdict.identifier) or verdict.table,
        column=check.column,
        metric=check.metric,
        status="not run" if check.source is Source.NOBODY else status,
        legal=f"{legal}{' %' if check.percent else ''}",
        value=None if result.value is None else show(result.value),
        reason=result.reason,
        source="" if check.source is Source.NOBODY else result.source.value,
        seconds=round(result.seconds, 4),
    )
