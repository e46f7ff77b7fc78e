"""What a staged build must pass before consumers see it: tests, contracts, the changes of its schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pyiceberg.schema import Schema

from floe_core.artifacts import CompiledArtifacts, CompiledModel
from floe_core.codes import Exit
from floe_core.contract import Contract
from floe_core.env import Spec
from floe_core.findings import Finding, Place, Severity
from floe_core.merge import Merged
from floe_core.namespaces import Namespace
from floe_core.schemas.levels import ContractEnforcement, SchemaEvolution
from floe_core.table import Column
from floe_core.verdicts import TableVerdict, judge_score, score
from floe_iceberg.columns import read_columns
from floe_iceberg.metadata import Metadata, MetadataFiles
from floe_iceberg.publication import Change
from floe_spark.checks import Located, Subject
from floe_spark.evolution import judge_evolution
from floe_spark.ledger import Scored

CONTRACTS = ("data_contracts", "enforcement")
GATES = ("governance", "quality_gates")
EVOLUTION = ("governance", "schema_evolution")
VIEWS = ("view", "materialized_view")


def tests_block(merged: Merged) -> bool:
    """Whether a failing dbt test keeps the build from its consumers."""
    return bool(merged.get((*GATES, "block_on_failure"), True))


def contracts_level(merged: Merged) -> ContractEnforcement:
    level: ContractEnforcement = merged.get(CONTRACTS, ContractEnforcement.OFF)
    return level


def subjects(
    contracts: Iterable[Contract], models: Sequence[CompiledModel], namespace: Namespace
) -> Iterator[Subject]:
    """Each contract with where its tables are; a table that no model makes is nowhere."""
    for contract in contracts:
        places = {}
        for table in contract.tables:
            model = next((item for item in models if table.in_catalog in (item.table, item.name)), None)
            if model and model.materialization != "ephemeral":
                parts = namespace.layer(model.layer) if model.layer else namespace.parts
                places[table.in_catalog] = Located((*parts, model.table), model.materialization in VIEWS)
        yield Subject(contract, places)


def judge_contracts(spec: Spec, verdicts: Sequence[TableVerdict]) -> tuple[list[Scored], list[Finding]]:
    """The findings of every contract, each as heavy as the platform wants it, and the contracts' scores."""
    level = contracts_level(spec.merged)
    threshold = spec.merged.get((*GATES, "threshold"))
    scores: list[Scored] = []
    findings: list[Finding] = []
    for contract in dict.fromkeys(verdict.contract.id for verdict in verdicts):
        mine = [verdict for verdict in verdicts if verdict.contract.id == contract]
        one, found = mine[0].contract, score(mine)
        minimum = _minimum(one, threshold)
        said = [item for verdict in mine for item in (*verdict.findings, *verdict.drift)]
        if minimum is not None:
            said += judge_score(one, found, minimum)
        weighed = [_weigh(item, level) for item in said]
        findings += weighed
        passed = not any(item.severity is not Severity.INFO for item in weighed)
        scores.append(Scored(one.name, one.version, found, minimum, passed))
    return scores, findings


def _minimum(contract: Contract, threshold: float | None) -> float | None:
    """The larger of the platform's threshold and what the contract promises."""
    values = (threshold, *(sla.value for sla in contract.slas if sla.name == "quality"))
    return max((float(value) for value in values if isinstance(value, int | float)), default=None)


def _weigh(item: Finding, level: ContractEnforcement) -> Finding:
    """`block` withholds; `alert_only` and `warn` publish, and say so. What could not be checked stays an error."""
    if level is ContractEnforcement.BLOCK or not item.severity.blocks or item.row.exit > Exit.FINDINGS:
        return item
    return replace(item, severity=Severity.WARNING)


def judge_schemas(
    spec: Spec, artifacts: CompiledArtifacts, changes: Sequence[Change], files: MetadataFiles
) -> list[Finding]:
    """Changes of columns that `schema_evolution` does not allow."""
    level = spec.merged.get(EVOLUTION, SchemaEvolution.ANY)
    if level is SchemaEvolution.ANY:
        return []
    old = [change.before.location for change in changes if change.before]
    read = files.read_all([*old, *(change.after.location for change in changes if change.before)])
    places = {model.table: Place(str(spec.folder / model.path)) for model in artifacts.models}
    return [
        found
        for change in changes
        if change.before
        for found in judge_evolution(
            level,
            str(change.after),
            columns_of(read[change.before.location]),
            columns_of(read[change.after.location]),
            places.get(change.after.name, spec.chain.product.place(("metadata", "name"))),
        )
    ]


def columns_of(metadata: Metadata) -> tuple[Column, ...]:
    """The columns of a table or view, as its metadata file says them."""
    schemas: Sequence[Mapping[str, object]] = metadata.get("schemas") or [metadata["schema"]]
    number = metadata.get("current-schema-id", 0)
    if "current-version-id" in metadata:
        current = metadata["current-version-id"]
        number = next(item["schema-id"] for item in metadata["versions"] if item["version-id"] == current)
    found = next((item for item in schemas if item.get("schema-id", 0) == number), schemas[-1])
    return read_columns(Schema.model_validate(found))
