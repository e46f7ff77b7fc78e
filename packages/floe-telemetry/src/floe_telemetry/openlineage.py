"""Run events of OpenLineage, as plain JSON: one function for each kind of job that floe has."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from floe_telemetry import facets, standard
from floe_telemetry.events import (
    ContractChecked,
    Dataset,
    Node,
    NodeFinished,
    RunFinished,
    RunStarted,
    Status,
    TestFinished,
    Violation,
)
from floe_telemetry.facets import Json
from floe_telemetry.facts import Facts

START: Final = "START"
COMPLETE: Final = "COMPLETE"
FAIL: Final = "FAIL"
ABORT: Final = "ABORT"

PIPELINE: Final = "PIPELINE"
CHECK: Final = "CONTRACT_CHECK"

IDS: Final = uuid.uuid5(uuid.NAMESPACE_URL, "https://floe.dev/lineage")


def job_name(node: Node) -> str:
    return f"ingest.{node.ingestion.source}" if node.ingestion else node.name


def check_name(check: ContractChecked) -> str:
    return f"contract_check.{check.contract}"


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the events of one run, or of checks that belong to none."""

    facts: Facts
    run: RunStarted | None = None

    def run_id(self, kind: str, job: str, part: str = "") -> str:
        """The same UUID whenever the same event is written again; a model may be called like its product."""
        run = self.run.run_id if self.run else ""
        return str(uuid.uuid5(IDS, "\n".join((self.facts.namespace, kind, job, run, part))))

    def pipeline_started(self, run: RunStarted) -> Json:
        return self._event(START, run.at, self.facts.product, PIPELINE)

    def pipeline_finished(
        self, done: RunFinished, inputs: Sequence[Dataset], outputs: Sequence[Dataset], kind: str = ""
    ) -> Json:
        failed = done.status is not Status.SUCCESS
        event = self._event(kind or (FAIL if failed else COMPLETE), done.at, self.facts.product, PIPELINE)
        if failed:
            event["run"]["facets"]["errorMessage"] = standard.error(self.facts.producer, done.message)
        event["inputs"] = [self._named(item) for item in inputs]
        event["outputs"] = [self._dataset(item) for item in outputs]
        return event

    def node_started(self, node: Node, at: datetime) -> Json:
        return self._event(START, at, job_name(node), _job_type(node))

    def node_aborted(self, node: Node, at: datetime) -> Json:
        return self._event(ABORT, at, job_name(node), _job_type(node))

    def node_finished(self, done: NodeFinished, tests: Sequence[TestFinished]) -> Json:
        failed = done.status is not Status.SUCCESS
        event = self._event(FAIL if failed else COMPLETE, done.ended, job_name(done.node), _job_type(done.node))
        if failed:
            event["run"]["facets"]["errorMessage"] = standard.error(self.facts.producer, done.message)
        event["inputs"] = [self._dataset(item) for item in done.inputs]
        if done.output:
            event["outputs"] = [self._output(done, done.output, tests)]
        return event

    def check_started(self, check: ContractChecked, part: str) -> Json:
        return self._event(START, check.started, check_name(check), CHECK, part)

    def check_passed(self, check: ContractChecked, part: str) -> Json:
        event = self._event(COMPLETE, check.ended, check_name(check), CHECK, part)
        event["run"]["facets"]["contractStatus"] = facets.contract_status(self.facts.producer, check)
        return self._with_checked(event, check)

    def check_failed(self, check: ContractChecked, violation: Violation, part: str) -> Json:
        event = self._event(FAIL, check.ended, check_name(check), CHECK, part)
        event["run"]["facets"]["contractViolation"] = facets.contract_violation(
            self.facts.producer, check, violation
        )
        return self._with_checked(event, check)

    def check_aborted(self, check: ContractChecked, part: str) -> Json:
        event = self._event(ABORT, check.ended, check_name(check), CHECK, part)
        event["run"]["facets"]["errorMessage"] = standard.error(self.facts.producer, check.not_checked)
        return event

    def _with_checked(self, event: Json, check: ContractChecked) -> Json:
        if check.dataset:
            found = {"dataQualityAssertions": standard.assertions(self.facts.producer, check)}
            event["inputs"] = [{**self._named(check.dataset), "inputFacets": found}]
        return event

    def _event(self, kind: str, at: datetime, job: str, job_kind: str, part: str = "") -> Json:
        facts, name = self.facts, self.facts.product
        about: Json = {"floe": facets.floe(facts, run=self.run)}
        if self.run and job_kind != PIPELINE:
            pipeline = self.run_id(PIPELINE, name)
            about["parent"] = standard.parent(facts.producer, pipeline, facts.namespace, name)
        return {
            "eventType": kind,
            "eventTime": facets.written(at),
            "producer": facts.producer,
            "schemaURL": standard.EVENT,
            "run": {"runId": self.run_id(job_kind, job, part), "facets": about},
            "job": {
                "namespace": facts.namespace,
                "name": job,
                "facets": {"jobType": standard.job_type(facts.producer, job_kind)},
            },
            "inputs": [],
            "outputs": [],
        }

    def _named(self, item: Dataset) -> Json:
        return {"namespace": item.namespace or self.facts.namespace, "name": item.name}

    def _dataset(self, item: Dataset) -> Json:
        """A dataset with its schema and its classes; it is of this product when it names no other namespace."""
        producer, own = self.facts.producer, item.namespace in ("", self.facts.namespace)
        about = {
            "schema": standard.schema(producer, item.columns),
            "dataClassification": facets.classification(producer, item.columns),
            "floe": facets.floe(self.facts, item.layer) if own else None,
        }
        return {**self._named(item), "facets": facets.said(**about)}

    def _output(self, done: NodeFinished, item: Dataset, tests: Sequence[TestFinished]) -> Json:
        producer, dataset = self.facts.producer, self._dataset(item)
        dataset["facets"] |= facets.said(
            columnLineage=standard.column_lineage(producer, self.facts.namespace, done.column_lineage),
            quality=facets.quality(producer, tests, done.coverage),
        )
        dataset["outputFacets"] = facets.said(outputStatistics=standard.statistics(producer, done.rows, done.bytes))
        return dataset


def _job_type(node: Node) -> str:
    return "INGESTION" if node.ingestion else node.kind.upper()
