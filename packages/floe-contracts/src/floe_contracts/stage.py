"""The two stages of compile that are about contracts: read them, and judge them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from floe_contracts.generate import Naming, Port, generate, naming_of
from floe_contracts.inherit import Ancestors, Family, ancestors, inherit
from floe_contracts.judge import judge
from floe_contracts.lifecycle import check_lifecycle
from floe_contracts.meaning import understand
from floe_contracts.merge import merge
from floe_contracts.models import Models
from floe_contracts.read import EXPLICIT, Draft, Locate, contract_files, read_draft, schema_errors
from floe_contracts.version import Rules, check_version
from floe_contracts.writer import Find
from floe_core.contract import Baseline, Contract, Origin
from floe_core.findings import Finding, FloeError, Place, Severity
from floe_core.fingerprint import project_root
from floe_core.load import Loaded
from floe_core.merge import Merged
from floe_core.project import RawManifest
from floe_core.schemas.data_product import DataProduct, OutputPort
from floe_core.schemas.levels import ContractEnforcement, InitialDevelopment, Widening
from floe_core.schemas.manifest import Scope
from floe_core.source import KeyPath


def read_contracts(
    product: Loaded[DataProduct], project: RawManifest | None, merged: Merged
) -> tuple[tuple[Contract, ...], list[Finding]]:
    """Every contract of a product: written, generated from its ports, and completed by what it inherits."""
    contracts, findings = read_all(product, project, merged)
    return contracts, enforced(findings, merged)


def read_all(
    product: Loaded[DataProduct], project: RawManifest | None, merged: Merged
) -> tuple[tuple[Contract, ...], list[Finding]]:
    """The same, with every finding at its own severity, whatever the platform enforces."""
    reading = _Reading(product, project, merged)
    return tuple(reading.contracts()), reading.findings


def check_contracts(
    contracts: Sequence[Contract], merged: Merged, baseline: Baseline | None, today: date
) -> list[Finding]:
    """Everything that speaks against the contracts: their content, their life, their version."""
    rules = versioning(merged)
    findings: list[Finding] = []
    for contract in contracts:
        findings += judge(contract, in_product=True)
        findings += check_lifecycle(contract, today)
        previous = baseline.previous(contract) if baseline else None
        if previous:
            findings += check_version(previous, contract, rules)
    return enforced(list(dict.fromkeys(findings)), merged)


def enforcement(merged: Merged) -> ContractEnforcement:
    """How much a broken contract matters; off when no tier speaks of contracts."""
    level = merged.get(("data_contracts", "enforcement"))
    return level if isinstance(level, ContractEnforcement) else ContractEnforcement.OFF


def enforced(findings: Sequence[Finding], merged: Merged) -> list[Finding]:
    """The findings with the severity that the platform gives them: off hides, warn lets pass."""
    level = enforcement(merged)
    if level is ContractEnforcement.OFF:
        return []
    if level is ContractEnforcement.WARN:
        return [replace(item, severity=Severity.WARNING) if item.severity.blocks else item for item in findings]
    return list(findings)


def versioning(merged: Merged) -> Rules:
    return Rules(
        merged.get(("data_contracts", "versioning", "widening"), Widening.MAJOR),
        merged.get(("data_contracts", "versioning", "initial_development"), InitialDevelopment.STRICT),
    )


@dataclass(frozen=True, slots=True)
class _Settings:
    from_ports: bool
    from_dbt: bool


class _Reading:
    """One product's contracts on their way from files and ports to their meaning."""

    def __init__(self, product: Loaded[DataProduct], project: RawManifest | None, merged: Merged) -> None:
        self.product, self.merged = product, merged
        self.findings: list[Finding] = []
        self.naming = _naming(product, merged)
        self.settings = _settings(merged)
        self.models = _models(product, project if self.settings.from_dbt else None)

    def contracts(self) -> Iterator[Contract]:
        drafts = self.written()
        ports = self.ports()
        above = ancestors(self.merged)
        self.findings += above.findings
        by_name = {understand(draft, prefix=self.naming.prefix).name: draft for draft in drafts}
        family = Family(self.product.folder, by_name)
        taken: set[str] = set()
        for draft in drafts:
            mine = self.ports_of(draft, ports)
            taken |= {port.port.name for port in mine}
            yield from self.finished(self.completed(draft, mine), draft, family, above)
        left = [port for port in ports if port.port.name not in taken]
        for name in dict.fromkeys(port.contract for port in left):
            if self.settings.from_ports:
                group = [port for port in left if port.contract == name]
                draft = self.generated(group, name)
                yield from self.finished(draft, draft, family, above)
        self.findings += family.findings
        if not drafts and not ports and not self.findings:
            message = f"{self.product.document.metadata.name} has no {EXPLICIT} and no output_ports"
            self.findings.append(Finding("FLOE-E500", message, self.product.place()))

    def written(self) -> list[Draft]:
        """The contract files of the product; one that cannot be read does not hide the others."""
        drafts: list[Draft] = []
        for file in contract_files(self.product.folder):
            try:
                draft, findings = read_draft(file)
            except FloeError as exc:
                self.findings += exc.findings
                continue
            self.findings += findings
            drafts.append(draft)
        return drafts

    def ports(self) -> list[Port]:
        return [
            Port(port, self.locate(("output_ports", number)))
            for number, port in enumerate(self.product.document.output_ports)
        ]

    def locate(self, at: KeyPath) -> Find:
        return lambda path: Origin("port", self.product.place((*at, *path)))

    def start(self) -> Find:
        """Where the words that no port says come from: metadata."""
        keys = {"team": "owner", "version": "version", "name": "name", "domain": "domain"}

        def find(path: KeyPath) -> Origin:
            if path[:1] == ("customProperties",):
                return Origin("port", self.product.place(("input_ports",)))
            key = keys.get(str(path[0])) if path else None
            return Origin("product", self.product.place(("metadata", key) if key else ("metadata",)))

        return find

    def ports_of(self, draft: Draft, ports: Sequence[Port]) -> list[Port]:
        """The ports that an explicit contract is about: by name, else by the tables it declares."""
        name = understand(draft, prefix=self.naming.prefix).name
        tables = {table["name"]: table.get("physicalName") for table in draft.data.get("schema") or ()}
        named = [port for port in ports if name in (port.contract, port.port.name)]
        declared = {name for pair in tables.items() for name in pair if name}
        found = named or [port for port in ports if declared & {port.table, port.port.published_as}]
        return [replace(port, called=_called(port, tables, len(found))) for port in found]

    def completed(self, draft: Draft, ports: Sequence[Port]) -> Draft:
        """The explicit contract with what ports and dbt know about its tables."""
        covered = {port.called for port in ports}
        named = [str(table["name"]) for table in draft.data.get("schema") or ()]
        rest = [Port(OutputPort.model_construct(name=name), self.start()) for name in named if name not in covered]
        name = understand(draft, prefix=self.naming.prefix).name
        known = [*ports, *rest] if self.settings.from_ports else rest
        return merge(draft, self.generated(known, name))

    def generated(self, ports: Sequence[Port], name: str) -> Draft:
        inputs = self.product.document.input_ports if self.settings.from_ports else ()
        return generate(ports, self.naming, name, self.start(), self.models, inputs)

    def finished(self, draft: Draft, written: Draft, family: Family, above: Ancestors) -> Iterator[Contract]:
        parents = [*above.parents, *family.extended(written)]
        whole, findings = inherit(draft, parents)
        self.findings += findings
        errors = schema_errors(whole.data, whole.data["apiVersion"], _locator(whole))
        self.findings += errors
        if not errors:
            yield understand(whole, prefix=self.naming.prefix)


def _called(port: Port, tables: dict[str, str | None], ports: int) -> str:
    """What the explicit contract calls a port's table."""
    names = (port.table, port.port.published_as, port.port.name)
    for name, physical in tables.items():
        if name in names or (physical and physical in names):
            return name
    return next(iter(tables)) if len(tables) == ports == 1 else port.table


def _locator(draft: Draft) -> Locate:
    """Where a value of a merged document was written."""

    def locate(path: KeyPath, *, of_key: bool = False) -> Place:
        del of_key
        return draft.origin(path).place

    return locate


def _models(product: Loaded[DataProduct], manifest: RawManifest | None) -> Models:
    """dbt's manifest with the folders of the product's dbt projects."""
    paths = dict.fromkeys(transform.path for transform in product.document.transforms)
    folder = product.folder.resolve()
    return Models(manifest, tuple(project_root(folder, path) or folder for path in paths))


def _naming(product: Loaded[DataProduct], merged: Merged) -> Naming:
    in_mesh = merged.get(("scope",)) is Scope.DOMAIN
    return naming_of(product.document.metadata, merged.get(("metadata", "name")) if in_mesh else None)


def _settings(merged: Merged) -> _Settings:
    at = ("data_contracts", "auto_generation")
    enabled = merged.get((*at, "enabled"), True)
    return _Settings(
        from_ports=enabled and merged.get((*at, "from_ports"), True),
        from_dbt=enabled and merged.get((*at, "from_dbt_manifest"), True),
    )
