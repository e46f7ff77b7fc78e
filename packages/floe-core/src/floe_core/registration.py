"""Steps 2 and 6 of a compile, on any catalog plugin: who owns the name, and claiming it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from floe_core.baselines import are_known
from floe_core.catalog import CatalogPlugin, catalog_of
from floe_core.claims import Claim, Decision, Rules, claim_of, decide, judge, retry_of, rules_of
from floe_core.contract import Contract, Status
from floe_core.env import Identity, Spec
from floe_core.findings import Finding, FloeError, Severity
from floe_core.git import Checkout, look
from floe_core.identity import (
    Actor,
    Consumer,
    ContractMetadata,
    IdentityStatus,
    IdentityValidationResult,
    RegistrationResult,
    RegistrationStatus,
)
from floe_core.merge import Merged
from floe_core.monorepo import same_name
from floe_core.resolve import Chain
from floe_core.schemas.levels import ContractEnforcement, IdentityEnforcement

UNCONFIGURED = {"FLOE-E801", "FLOE-E806"}  # no plugin, or none that its settings suffice for
CONTRACTS = ("data_contracts", "enforcement")
NOT_YET = {Status.DRAFT, Status.PROPOSED}  # contracts that nobody may rely on


@dataclass(frozen=True, slots=True)
class CatalogIdentities:
    """Asks the catalog that the platform names; a floe_core.env.Identities."""

    check: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: os.environ)
    look: Callable[[Path], Checkout] = look
    open: Callable[[Chain, Merged], CatalogPlugin] = catalog_of

    def validate(self, spec: Spec) -> tuple[Identity, list[Finding]]:
        """Who owns the namespace. What git and the manifests refuse is refused before the catalog is touched."""
        rules, checkout = rules_of(spec.merged), self.look(spec.folder)
        claim = claim_of(spec.chain, checkout)
        others = same_name(claim, spec.folder, rules.severity)
        before = [*judge(claim, rules, None, checkout, self.env, check=self.check), *others]
        if any(item.blocks for item in before):
            return Identity(("not checked: its findings come first",), is_checked=False), before
        try:
            plugin = self._plugin(spec)
        except FloeError as exc:
            return self._unconfigured(spec, exc, before)
        try:
            found = plugin.validate_product_identity(claim.id, claim.repository, claim.path)
        except FloeError as exc:
            return _unanswered(spec, plugin, exc, before)
        findings = judge(claim, rules, found, checkout, self.env, check=self.check)
        return Identity(_told(rules, found), _when(found.registered_at)), [*findings, *others]

    def register(
        self, spec: Spec, identity: Identity, contracts: Sequence[Contract]
    ) -> tuple[Identity, list[Finding]]:
        """Claim the namespace, register the contracts, and tell producers who reads them."""
        checkout = self.look(spec.folder)
        claim, plugin = claim_of(spec.chain, checkout), self._plugin(spec)
        by = Actor.here(self.env, claim.repository, checkout.commit or "")
        with plugin.session():
            change = plugin.update_product_metadata if identity.registered_at else plugin.register_product_namespace
            result = change(claim.id, claim.metadata, by=by)  # whoever was faster since step 2: the answer tells
            if not result.ok:
                found = plugin.validate_product_identity(claim.id, claim.repository, claim.path)
                return Identity((result.message,)), _lost(claim, spec, found, checkout, self.env, result)
            refused = [finding for contract in contracts for finding in _promise(plugin, claim, contract, by)]
            lines = [_said(result, plugin), *_consume(plugin, claim, spec, by)]
        return Identity(tuple(lines), _when(result.registered_at)), refused

    def _plugin(self, spec: Spec) -> CatalogPlugin:
        plugin = self.open(spec.chain, spec.merged)
        plugin.retry = retry_of(spec.merged)
        return plugin

    def _unconfigured(self, spec: Spec, exc: FloeError, before: list[Finding]) -> tuple[Identity, list[Finding]]:
        """A catalog that nobody configured is a warning where nobody asked for identity; all else is exit 3."""
        level = spec.merged.leaves.get(("identity", "enforcement"))
        codes = {item.code for item in exc.findings}
        if (level and level.is_stated) or not codes <= UNCONFIGURED:
            raise exc
        return _not_checked(exc, before)


def _unanswered(
    spec: Spec, plugin: CatalogPlugin, exc: FloeError, before: list[Finding]
) -> tuple[Identity, list[Finding]]:
    """A silent catalog is a warning where identity only warns and step 5 has its last answer; else exit 3."""
    asks = spec.merged.get(CONTRACTS, ContractEnforcement.OFF) > ContractEnforcement.OFF
    only_warns = rules_of(spec.merged).level <= IdentityEnforcement.WARN
    if only_warns and asks and are_known(plugin, spec.chain.product_id):
        identity, findings = _not_checked(exc, before)
        return replace(identity, unanswered=exc.findings), findings
    raise exc


def _not_checked(exc: FloeError, before: list[Finding]) -> tuple[Identity, list[Finding]]:
    reason = exc.findings[0].message
    warning = Finding("FLOE-E600", f"identity not checked: {reason}", exc.findings[0].place, Severity.WARNING)
    return Identity((f"not checked: {reason}",), is_checked=False), [*before, warning]


def _lost(
    claim: Claim,
    spec: Spec,
    found: IdentityValidationResult,
    checkout: Checkout,
    env: Mapping[str, str],
    result: RegistrationResult,
) -> list[Finding]:
    """Somebody was faster between step 2 and now."""
    findings = judge(claim, rules_of(spec.merged), found, checkout, env, check=False)
    return findings or [Finding("FLOE-E601", result.message, claim.place("name"))]


def _promise(plugin: CatalogPlugin, claim: Claim, promise: Contract, by: Actor) -> list[Finding]:
    if promise.status in NOT_YET:
        return []
    about = ContractMetadata(
        promise.owner,
        document=json.dumps(promise.document, sort_keys=True, ensure_ascii=False, default=str),
        document_hash=promise.document_hash,
        repository=claim.repository,
    )
    result = plugin.register_contract(claim.id, promise.name, promise.version, promise.schema_hash, about, by=by)
    return [] if result.ok else [Finding("FLOE-E611", result.message, claim.place("name"))]


def _consume(plugin: CatalogPlugin, claim: Claim, spec: Spec, by: Actor) -> list[str]:
    """Tell the producers of the input ports that this product reads their contracts."""
    told = []
    for port in spec.product.input_ports:
        source = port.source
        if source.product is None:
            continue
        contract = source.contract or port.name
        consumer = Consumer(
            claim.id, contract, source.version or "*", port.name, claim.repository, claim.metadata.owner
        )
        result = plugin.register_consumer(source.product, consumer, by=by)
        if result.status is not RegistrationStatus.ALREADY_OWNED:
            told.append(f"{source.product}/{contract} knows its consumer {claim.id}")
    return told


def _told(rules: Rules, found: IdentityValidationResult) -> tuple[str, ...]:
    decision = decide(rules.level, rules.auto_register, found.status)
    if found.status is IdentityStatus.CONFLICT:
        return (f"Namespace owned by {found.repository}",)
    if found.status is IdentityStatus.VALID:
        return ("Namespace registered to this repository",)
    return (
        "Namespace available, registering in step 6" if decision is Decision.REGISTER else "Namespace available",
    )


def _said(result: RegistrationResult, plugin: CatalogPlugin) -> str:
    where = ", on this machine only" if plugin.is_local else ""
    if result.status is RegistrationStatus.CREATED:
        return f"Product registered in catalog{where}"
    return f"Product registration{where}: {result.message}"


def _when(at: datetime | None) -> str | None:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
