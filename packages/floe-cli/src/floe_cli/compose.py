"""The composition root: which plugins take part in a compile. What is installed later is plugged in here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floe_core.compile import CONTRACTS, with_rules
from floe_core.env import Contracts, Env, Identities, Identity, Project, Spec, Verdict, clock
from floe_core.schemas.levels import ContractEnforcement

if TYPE_CHECKING:
    from floe_core.artifacts import CompiledModel
    from floe_core.contract import Contract
    from floe_core.findings import Finding


@dataclass(frozen=True)
class OnDemand:
    """Who asks the catalog, for steps 2, 5 and 6; imported for a product that asks for identity or contracts."""

    only_check: bool
    before_run: bool

    @cached_property
    def _open(self) -> Any:
        return import_module("floe_core.catalog").catalog_once()

    @cached_property
    def _identities(self) -> Identities:
        made: Identities = import_module("floe_core.registration").CatalogIdentities(
            check=self.only_check, open=self._open
        )
        return made

    @cached_property
    def _contracts(self) -> Contracts:
        made: Contracts = import_module("floe_core.contracts").PluginContracts(
            clock, open=self._open, before_run=self.before_run
        )
        return made

    def validate(self, spec: Spec) -> tuple[Identity, list[Finding]]:
        return self._identities.validate(spec)

    def register(
        self, spec: Spec, identity: Identity, contracts: Sequence[Contract]
    ) -> tuple[Identity, list[Finding]]:
        return self._identities.register(spec, identity, contracts)

    def read(self, spec: Spec, projects: Sequence[Project]) -> tuple[Sequence[Contract], list[Finding]]:
        if spec.merged.get(CONTRACTS, ContractEnforcement.OFF) is ContractEnforcement.OFF:
            return (), []
        return self._contracts.read(spec, projects)

    def check(
        self,
        spec: Spec,
        contracts: Sequence[Contract],
        models: Sequence[CompiledModel],
        unanswered: tuple[Finding, ...] = (),
    ) -> Verdict:
        return self._contracts.check(spec, contracts, models, unanswered)


def environment(
    *, check: bool, register: bool, strict: bool, dbt_manifest: Path | None, before_run: bool = False
) -> Env:
    """Everything that a compile on this machine is given."""
    catalog = OnDemand(check, before_run)
    return with_rules(
        Env(
            identities=catalog,
            contracts=catalog,
            check=check,
            register=register,
            strict=strict,
            dbt_manifest=dbt_manifest,
        )
    )
