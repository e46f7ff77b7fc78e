"""The interface of plugins that read, validate and monitor contracts (entry-point group `floe.contracts`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar

from floe_core.checks import TableSource
from floe_core.contract import Baseline, DataContract
from floe_core.findings import ContractViolation, Finding, Place
from floe_core.identity import RegisteredContract
from floe_core.load import Loaded
from floe_core.merge import Merged
from floe_core.plugins import PluginInterface
from floe_core.project import RawManifest
from floe_core.schemas.data_product import DataProduct, DataProductMetadata, InputPort, OutputPort
from floe_core.table import Change, Column


@dataclass(frozen=True, slots=True)
class ContractValidationResult:
    """Whether a contract is valid, and everything that speaks against it."""

    findings: tuple[Finding, ...] = ()

    @property
    def valid(self) -> bool:
        return not any(item.blocks for item in self.findings)


@dataclass(frozen=True, slots=True)
class SchemaComparisonResult:
    """How two schemas differ; `violations` is what the difference breaks."""

    changes: tuple[Change, ...] = ()
    violations: tuple[ContractViolation, ...] = ()

    @property
    def matches(self) -> bool:
        return not any(item.blocks for item in self.violations)


@dataclass(frozen=True, slots=True)
class SLACheckResult:
    """One promise, measured. `passed` is None when it could not be measured, which is never a pass."""

    name: str
    passed: bool | None
    expected: str
    actual: str
    message: str = ""


class DataContractPlugin(PluginInterface):
    """Reads, validates and monitors data contracts (entry-point group `floe.contracts`)."""

    API_VERSION: ClassVar[int] = 1

    @abstractmethod
    def read_contracts(
        self, product: Loaded[DataProduct], project: RawManifest | None, merged: Merged
    ) -> tuple[tuple[DataContract, ...], list[Finding]]:
        """Every contract of a product: written, generated from its ports, completed by what it inherits."""

    @abstractmethod
    def check_contracts(
        self, contracts: Sequence[DataContract], merged: Merged, baseline: Baseline | None, today: date
    ) -> list[Finding]:
        """Everything that speaks against the contracts: their content, their life, their version."""

    @abstractmethod
    def read_registered(self, registered: Sequence[RegisteredContract]) -> Baseline:
        """The contracts that a catalog keeps, as what a new version is compared with."""

    def check_source(
        self, registered: Sequence[RegisteredContract], port: InputPort, place: Place, today: date, *, is_new: bool
    ) -> list[Finding]:
        """What the life of the contract behind an input port means for its reader; nothing where nobody can say.

        `is_new`: this product is not registered as its consumer yet.
        """
        del registered, port, place, today, is_new
        return []

    @abstractmethod
    def parse_contract(self, contract_path: Path) -> DataContract:
        """Read a contract file; raises FloeError with FLOE-E50x."""

    @abstractmethod
    def generate_contract_from_ports(
        self, output_ports: Sequence[OutputPort], input_ports: Sequence[InputPort], metadata: DataProductMetadata
    ) -> DataContract:
        """One contract with a table for each output port."""

    @abstractmethod
    def merge_contracts(self, generated: DataContract, explicit: DataContract) -> DataContract:
        """The explicit contract, completed field by field by the generated one."""

    @abstractmethod
    def validate_contract(
        self, contract: DataContract, actual_schema: Sequence[Column] | None = None
    ) -> ContractValidationResult:
        """Judge a contract, and the table it is about when its schema is given."""

    @abstractmethod
    def lint_contract_file(self, contract_path: Path) -> ContractValidationResult:
        """Everything that is wrong with a file, by the linter of record and by floe."""

    @abstractmethod
    def detect_schema_drift(self, contract: DataContract, connection: TableSource) -> SchemaComparisonResult:
        """Compare what the contract promises with what the table has."""

    @abstractmethod
    def compare_schemas(self, old_schema: Sequence[Column], new_schema: Sequence[Column]) -> SchemaComparisonResult:
        """What changed between two schemas."""

    @abstractmethod
    def check_freshness(
        self, contract: DataContract, connection: TableSource, timestamp_column: str | None
    ) -> SLACheckResult:
        """Whether the data is as young as promised."""

    @abstractmethod
    def check_availability(self, contract: DataContract, connection: TableSource) -> SLACheckResult:
        """Whether the table can be read."""

    @abstractmethod
    def check_quality(self, contract: DataContract, connection: TableSource) -> list[SLACheckResult]:
        """Every check of the contract's plan, measured."""

    @abstractmethod
    def validate_version_bump(self, old_contract: DataContract, new_contract: DataContract) -> tuple[bool, str]:
        """Whether the new version says what the change is, and if not, which version would."""

    @abstractmethod
    def check_breaking_changes(self, contract: DataContract, connection: TableSource) -> list[ContractViolation]:
        """How the table breaks the contract for its consumers."""
