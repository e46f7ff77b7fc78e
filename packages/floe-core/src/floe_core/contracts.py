"""Step 5 of a compile, by the contract plugin that the platform names: loaded only when contracts are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from floe_core.artifacts import CompiledModel
from floe_core.baselines import Baselines, baselines
from floe_core.catalog import CatalogPlugin, catalog_of
from floe_core.claims import retry_of, rules_of, unreachable
from floe_core.contract import Contract
from floe_core.contract_plugin import DataContractPlugin
from floe_core.drift import Look, compare_tables
from floe_core.env import Project as AnyProject
from floe_core.env import Spec, Verdict
from floe_core.findings import Finding, FloeError, Place
from floe_core.merge import Merged
from floe_core.plugins import load_plugin
from floe_core.project import Metadata, Project, RawManifest
from floe_core.registration import UNCONFIGURED
from floe_core.resolve import Chain
from floe_core.schemas.levels import ContractEnforcement, IdentityEnforcement
from floe_core.sources import check_sources

GROUP = "floe.contracts"
PLUGIN = ("data_contracts", "plugin")
ENFORCEMENT = ("data_contracts", "enforcement")
BREAKING = "FLOE-E520"


@dataclass(frozen=True, slots=True)
class PluginContracts:
    """Reads and judges the contracts of a product."""

    now: Callable[[], datetime]
    open: Callable[[Chain, Merged], CatalogPlugin] = catalog_of
    before_run: bool = False  # a run follows, and judges the tables itself

    def read(self, spec: Spec, projects: Sequence[AnyProject]) -> tuple[Sequence[Contract], list[Finding]]:
        """Parse, generate from ports, merge; nothing where contracts are off."""
        if spec.merged.get(ENFORCEMENT, ContractEnforcement.OFF) is ContractEnforcement.OFF:
            return (), []
        return _plugin(spec).read_contracts(spec.chain.product, one_manifest(projects), spec.merged)

    def check(
        self,
        spec: Spec,
        contracts: Sequence[Contract],
        models: Sequence[CompiledModel],
        unanswered: tuple[Finding, ...] = (),
    ) -> Verdict:
        """Lint, inheritance, the version against what is registered, and the tables that are there."""
        plugin, catalog = _plugin(spec), self._catalog(spec)
        registered = baselines(catalog, spec.chain.product_id, unanswered) if catalog else Baselines(())
        previous = plugin.read_registered(registered.contracts)
        findings = plugin.check_contracts(contracts, spec.merged, previous, self.now().date())
        tables, unanswered = Verdict(), registered.unanswered
        if catalog and not unanswered:
            look = Look(catalog, plugin, spec.merged.get(ENFORCEMENT), self.before_run)
            namespace = spec.chain.namespace(nested=catalog.capabilities.nested_namespaces)
            try:
                tables = compare_tables(look, namespace, contracts, models, registered.contracts)
                findings = _with_consumers(findings, catalog, spec.chain.product_id)
                findings += check_sources(catalog, plugin, spec, self.now().date())
            except FloeError as exc:
                unanswered = exc.findings
        lines = tuple(f"{item.name} {item.version}: {_tables(item)}" for item in contracts)
        place = spec.chain.product.place(("metadata", "name"))
        silent = unreachable(unanswered, rules_of(spec.merged), has_baseline=True, place=place)
        all_findings = (*findings, *tables.findings, *(silent if unanswered else ()))
        return Verdict((*lines, *tables.lines), all_findings)

    def _catalog(self, spec: Spec) -> CatalogPlugin | None:
        """The catalog that keeps the product's contracts; None where nobody has one, or asks for one."""
        if rules_of(spec.merged).level is IdentityEnforcement.OFF:
            return None
        try:
            catalog = self.open(spec.chain, spec.merged)
        except FloeError as exc:
            if {item.code for item in exc.findings} <= UNCONFIGURED:  # step 2 has said so
                return None
            raise
        catalog.retry = retry_of(spec.merged)
        return catalog


def _with_consumers(findings: list[Finding], catalog: CatalogPlugin, product: str) -> list[Finding]:
    """A breaking change names those who read what it breaks."""
    if not any(item.code == BREAKING for item in findings):
        return findings
    readers = catalog.list_consumers(product)
    names = tuple(f"{item.product} reads {item.contract} {item.version} (port {item.port})" for item in readers)
    if not names:
        return findings
    details = (("Consumers", names),)
    return [
        replace(item, details=(*item.details, *details)) if item.code == BREAKING else item for item in findings
    ]


def _plugin(spec: Spec) -> DataContractPlugin:
    leaf = spec.merged.leaves.get(PLUGIN)
    place = leaf.setters[-1].place if leaf else Place("(default)")
    name = leaf.value.type if leaf else "odcs"
    return load_plugin(GROUP, name, DataContractPlugin, place)()  # type: ignore[type-abstract]  # an interface


def one_manifest(projects: Sequence[AnyProject]) -> RawManifest | None:
    """What dbt knows of the product's tables, of all its projects together."""
    manifests = [project.manifest for project in projects if isinstance(project, Project)]
    if len(manifests) < 2:
        return next(iter(manifests), None)
    nodes = {key: node for manifest in manifests for key, node in manifest.nodes.items()}
    return RawManifest(Metadata(), nodes, {})


def _tables(contract: Contract) -> str:
    columns = sum(len(table.columns) for table in contract.tables)
    return f"{', '.join(table.name for table in contract.tables)} ({columns} columns)"
