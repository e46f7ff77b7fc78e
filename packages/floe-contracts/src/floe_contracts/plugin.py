"""The default contract plugin, `odcs`: floe's own reader and judge, with datacontract-cli as linter of record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from floe_contracts.changes import compare, required_bump
from floe_contracts.drift import drift
from floe_contracts.generate import Port, generate, naming_of
from floe_contracts.judge import judge
from floe_contracts.lifecycle import check_consumer
from floe_contracts.lint import lint
from floe_contracts.meaning import understand
from floe_contracts.merge import merge
from floe_contracts.plan import plan
from floe_contracts.read import Draft, read_draft
from floe_contracts.registered import is_within, restored
from floe_contracts.stage import check_contracts, read_contracts
from floe_contracts.version import Registered, check_version, release
from floe_core.checks import Check, Source, TableSource
from floe_core.contract import Baseline, Contract, Origin, Status
from floe_core.contract_plugin import (
    ContractValidationResult,
    DataContractPlugin,
    SchemaComparisonResult,
    SLACheckResult,
)
from floe_core.findings import ContractViolation, Finding, Place
from floe_core.identity import RegisteredContract
from floe_core.load import Loaded
from floe_core.merge import Merged
from floe_core.order import iso_duration
from floe_core.project import RawManifest
from floe_core.schemas.data_product import DataProduct, DataProductMetadata, InputPort, OutputPort
from floe_core.source import KeyPath
from floe_core.table import Column, diff


class ODCSDataContractPlugin(DataContractPlugin):
    """Contracts in the Open Data Contract Standard."""

    api_version: ClassVar[int] = 1
    name: ClassVar[str] = "odcs"
    version: ClassVar[str] = "1.0.0"

    def read_contracts(
        self, product: Loaded[DataProduct], project: RawManifest | None, merged: Merged
    ) -> tuple[tuple[Contract, ...], list[Finding]]:
        return read_contracts(product, project, merged)

    def check_contracts(
        self, contracts: Sequence[Contract], merged: Merged, baseline: Baseline | None, today: date
    ) -> list[Finding]:
        return check_contracts(contracts, merged, baseline, today)

    def read_registered(self, registered: Sequence[RegisteredContract]) -> Baseline:
        """The living ones; their names and versions are those of the registry."""
        return Registered([restored(item) for item in registered if item.document and not item.retired])

    def check_source(
        self, registered: Sequence[RegisteredContract], port: InputPort, place: Place, today: date, *, is_new: bool
    ) -> list[Finding]:
        """Of the versions that the port accepts, the newest living one counts; without any, the newest retired."""
        source = port.source
        found = [
            item
            for item in registered
            if item.document and item.name == (source.contract or port.name)
            if is_within(release(item.version) or (0, 0, 0), source.version or "*")
        ]
        if not found:
            return []
        newest = max(found, key=lambda item: (not item.retired, release(item.version) or (0, 0, 0)))
        contract = restored(newest, source.product or "")
        if newest.retired:
            contract = replace(contract, status=Status.RETIRED)
        return check_consumer(contract, place, today, is_new=is_new)

    def parse_contract(self, contract_path: Path) -> Contract:
        return understand(read_draft(contract_path)[0])

    def generate_contract_from_ports(
        self, output_ports: Sequence[OutputPort], input_ports: Sequence[InputPort], metadata: DataProductMetadata
    ) -> Contract:
        naming = naming_of(metadata)
        name = output_ports[0].contract or output_ports[0].name if output_ports else metadata.name
        ports = [Port(port, _nowhere) for port in output_ports]
        return understand(generate(ports, naming, name, _nowhere, inputs=input_ports), prefix=naming.prefix)

    def merge_contracts(self, generated: Contract, explicit: Contract) -> Contract:
        merged = merge(_draft(explicit), _draft(generated))
        prefix = str(generated.document.get("name", "")).removesuffix(generated.name)
        return understand(merged, prefix=prefix)

    def validate_contract(
        self, contract: Contract, actual_schema: Sequence[Column] | None = None
    ) -> ContractValidationResult:
        findings = judge(contract, in_product=True)
        if actual_schema is not None and contract.tables:
            findings += drift(contract, contract.tables[0], actual_schema)
        return ContractValidationResult(tuple(findings))

    def lint_contract_file(self, contract_path: Path) -> ContractValidationResult:
        return ContractValidationResult(tuple(lint(contract_path, of_record=True)[1]))

    def detect_schema_drift(self, contract: Contract, connection: TableSource) -> SchemaComparisonResult:
        actual = connection.schema()
        promised = contract.tables[0].columns if contract.tables else ()
        violations = drift(contract, contract.tables[0], actual) if contract.tables else []
        return SchemaComparisonResult(tuple(diff(promised, actual)), tuple(violations))

    def compare_schemas(self, old_schema: Sequence[Column], new_schema: Sequence[Column]) -> SchemaComparisonResult:
        return SchemaComparisonResult(tuple(diff(old_schema, new_schema)))

    def check_freshness(
        self, contract: Contract, connection: TableSource, timestamp_column: str | None
    ) -> SLACheckResult:
        sla = next((item for item in contract.slas if item.name == "freshness"), None)
        if sla is None or not isinstance(sla.value, timedelta):
            return SLACheckResult("freshness", None, "", "", "the contract promises no freshness")
        expected = iso_duration(sla.value)
        if element := timestamp_column or sla.element:
            asked = replace(contract, slas=(replace(sla, element=element),))
            checks = [check for check in plan(asked).checks if check.metric == "freshness"]
            return next(iter(_measure(asked, connection, checks)), _unmeasured("freshness", expected))
        changed = connection.snapshot().changed_at
        if changed is None:
            return _unmeasured("freshness", expected)
        age = datetime.now(UTC) - changed
        return SLACheckResult("freshness", age <= sla.value, expected, f"{age.total_seconds():.0f} seconds")

    def check_availability(self, contract: Contract, connection: TableSource) -> SLACheckResult:
        expected = next((item.text for item in contract.slas if item.name == "availability"), "readable")
        try:
            connection.snapshot()
        except OSError as exc:
            return SLACheckResult("availability", False, expected, "unreachable", str(exc))
        return SLACheckResult("availability", True, expected, "readable")

    def check_quality(self, contract: Contract, connection: TableSource) -> list[SLACheckResult]:
        ours = ("freshness", "availability")
        checks = [check for check in plan(contract).checks if check.metric not in ours]
        return _measure(contract, connection, checks)

    def validate_version_bump(self, old_contract: Contract, new_contract: Contract) -> tuple[bool, str]:
        blocking = [item for item in check_version(old_contract, new_contract) if item.blocks]
        if blocking:
            return False, f"{blocking[0].code}: {blocking[0].message}. {blocking[0].fix}"
        needed = required_bump(compare(old_contract, new_contract))
        return True, f"{old_contract.version} → {new_contract.version}: {needed.name if needed else 'no change'}"

    def check_breaking_changes(self, contract: Contract, connection: TableSource) -> list[ContractViolation]:
        return [item for item in self.detect_schema_drift(contract, connection).violations if item.blocks]


def _nowhere(path: KeyPath) -> Origin:
    del path
    return Origin("port", Place("floe.yaml"))


def _draft(contract: Contract) -> Draft:
    return Draft(contract.document, contract.origin, contract.place().path)


def _unmeasured(name: str, expected: str) -> SLACheckResult:
    return SLACheckResult(name, None, expected, "", "could not be measured")


def _measure(contract: Contract, connection: TableSource, checks: Sequence[Check]) -> list[SLACheckResult]:
    """Every check with its answer; what nobody answered is not a pass."""
    run = [check for check in checks if check.source is not Source.NOBODY]
    measured = connection.aggregate(plan(contract)) if run else {}
    return [_result(check, measured) for check in checks]


def _result(check: Check, measured: Mapping[str, Any]) -> SLACheckResult:
    expected = f"{check.operator.value} {check.threshold}" if check.operator else ""
    if check.source is Source.NOBODY or check.operator is None:
        return SLACheckResult(check.id, None, expected, "", check.reason)
    if check.id not in measured:
        return _unmeasured(check.id, expected)
    value = measured[check.id]
    return SLACheckResult(check.id, check.operator.holds(value, check.threshold), expected, str(value))
