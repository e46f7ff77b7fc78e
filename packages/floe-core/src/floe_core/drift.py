"""Step 5's look at the tables: whether they still are what registered contracts promise.

Only a version that is registered is judged. Of a new one the difference is worth knowing, no more: the next run
changes the table. A table that is not there is no difference at all, for the first run makes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floe_core.artifacts import CompiledModel
from floe_core.catalog import CatalogPlugin
from floe_core.checks import CheckPlan, Snapshot
from floe_core.contract import Contract, Table
from floe_core.contract_plugin import DataContractPlugin
from floe_core.env import Verdict
from floe_core.findings import Finding, Severity
from floe_core.identity import RegisteredContract
from floe_core.namespaces import Namespace
from floe_core.schemas.levels import ContractEnforcement
from floe_core.table import Column

WITHOUT_TABLE = ("view", "materialized_view", "ephemeral")
NEXT_RUN = "The next run will change the table."


@dataclass(frozen=True, slots=True)
class Look:
    """Who is asked, and how much the answer weighs."""

    catalog: CatalogPlugin
    plugin: DataContractPlugin
    level: ContractEnforcement
    before_run: bool = False  # a run follows, and judges the tables that it makes


@dataclass(frozen=True, slots=True)
class _Schema:
    """A table of which only the columns are known."""

    columns: tuple[Column, ...]

    def schema(self) -> tuple[Column, ...]:
        return self.columns

    def snapshot(self) -> Snapshot:
        return Snapshot(None)

    def aggregate(self, plan: CheckPlan) -> Mapping[str, Any]:
        del plan
        return {}


def compare_tables(
    look: Look,
    namespace: Namespace,
    contracts: Iterable[Contract],
    models: Sequence[CompiledModel],
    registered: Iterable[RegisteredContract],
) -> Verdict:
    """What the tables of a product say about its contracts. Raises FloeError when the catalog cannot be asked."""
    known = {(item.name, item.version) for item in registered if not item.retired}
    lines: list[str] = []
    findings: list[Finding] = []
    with look.catalog.session():
        for contract in contracts:
            for table in contract.tables:
                said, found = _compare(look, namespace, contract, table, models)
                lines += said
                findings += _weighed(found, look, contract, known)
    return Verdict(tuple(lines), tuple(findings))


def _compare(
    look: Look, namespace: Namespace, contract: Contract, table: Table, models: Sequence[CompiledModel]
) -> tuple[list[str], Sequence[Finding]]:
    model = next((item for item in models if table.in_catalog in (item.table, item.name)), None)
    if model and model.materialization in WITHOUT_TABLE:
        return [f"{model.table} is a {model.materialization}: its columns are known when it runs"], ()
    parts = namespace.layer(model.layer) if model and model.layer else namespace.parts
    name = model.table if model else table.in_catalog
    columns = look.catalog.columns_of(parts, name)
    if columns is None:
        return [f"{name}: no table yet, the next run makes it"], ()
    alone = replace(contract, tables=(table,))
    return [], look.plugin.detect_schema_drift(alone, _Schema(columns)).violations


def _weighed(
    found: Sequence[Finding], look: Look, contract: Contract, known: Collection[tuple[str, str]]
) -> Iterator[Finding]:
    is_judged = (contract.name, contract.version) in known and not look.before_run
    for item in found:
        if not item.severity.blocks:
            yield item
        elif not is_judged:
            yield replace(item, severity=Severity.INFO, fix=NEXT_RUN)
        elif look.level is ContractEnforcement.WARN:
            yield replace(item, severity=Severity.WARNING)
        else:
            yield item
