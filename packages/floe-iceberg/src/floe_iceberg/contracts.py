"""What a product has promised, and to whom: contract versions that never change, and the consumers of them."""

from __future__ import annotations

from dataclasses import replace

from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import (
    Action,
    Actor,
    Consumer,
    ContractMetadata,
    Product,
    RegisteredContract,
    RegistrationResult,
    RegistrationStatus,
    moment,
)
from floe_core.repository import is_same
from floe_iceberg.entries import ConsumerEntry, ContractEntry, Log, stored
from floe_iceberg.identity import MEETINGS, not_allowed, product_id
from floe_iceberg.promises import version_key
from floe_iceberg.registry import Registry

CREATED, OWNED = RegistrationStatus.CREATED, RegistrationStatus.ALREADY_OWNED
UPDATED, CONFLICT = RegistrationStatus.UPDATED, RegistrationStatus.CONFLICT


class Contracts:
    """The contract versions of one product."""

    def __init__(self, registry: Registry, written: str) -> None:
        self.registry = registry
        self.product = product_id(written)

    def log(self, name: str, version: str) -> Log[ContractEntry]:
        return Log(self.registry, ContractEntry, self.product, name, version)

    def all(self) -> list[RegisteredContract]:
        """Every version, by name, then oldest first."""
        last = stored(self.registry, ContractEntry, self.product, last_only=True)
        return sorted((item.entry.contract for item in last), key=_by_version)

    def get(self, name: str, version: str) -> RegisteredContract | None:
        found = self.log(name, version).latest()
        return found.entry.contract if found else None

    def register(
        self, product: Product | None, name: str, version: str, schema_hash: str, about: ContractMetadata, by: Actor
    ) -> RegistrationResult:
        """Put a version; the same one again is fine, another one under its number is a conflict."""
        own = f"{self.product}/{name}:{version}"
        if refused := _not_ours(product, own, about.repository):
            return refused
        contract = RegisteredContract(
            name,
            version,
            schema_hash,
            about.registered_at,
            about.owner,
            about.description,
            about.document,
            about.document_hash,
        )
        entry = ContractEntry(self.product, Action.REGISTER_CONTRACT, contract, moment(), by)
        log = self.log(name, version)
        known = log.at(1)  # most are: a create that must fail leaves a file behind
        found, won = (known, False) if known else log.append(1, entry)
        there = found.entry.contract
        if (there.name, there.version) != (name, version):
            return _result(CONFLICT, f"{own} cannot be told from {there.id(self.product)}", there)
        if won:
            return _result(CREATED, f"{own} is registered", contract)
        if (there.schema_hash, there.document_hash) != (schema_hash, about.document_hash):
            when = f"{there.registered_at:%Y-%m-%d}"
            return _result(CONFLICT, f"{own} was registered on {when} with other content", there)
        return _result(OWNED, f"{own} is registered already", there)

    def retire(
        self, product: Product | None, name: str, version: str, by: Actor, reason: str, *, admin: bool
    ) -> RegistrationResult:
        """End a version, as the product's owner or an administrator may: the second and last entry of its log."""
        own = f"{self.product}/{name}:{version}"
        log = self.log(name, version)
        found = log.latest()
        if found is None or product is None:
            return RegistrationResult(CONFLICT, f"{own} is not registered")
        contract = replace(found.entry.contract, retired=True)
        if found.number == 1:
            if refused := not_allowed(product, by, reason, admin=admin):
                return replace(refused, message=f"{own}: {refused.message}")
            _, won = log.append(
                2, ContractEntry(self.product, Action.RETIRE_CONTRACT, contract, moment(), by, reason)
            )
            if won:
                return _result(UPDATED, f"{own} is retired", contract)
        return _result(OWNED, f"{own} is retired already", contract)


def _not_ours(product: Product | None, own: str, repository: str | None) -> RegistrationResult | None:
    if product is None:
        return RegistrationResult(CONFLICT, f"{own}: its product is not registered")
    if product.retired:
        return RegistrationResult(CONFLICT, f"{own}: its product is retired", product.repository)
    if repository is not None and not is_same(repository, product.repository):
        message = f"{own}: its product is owned by {product.repository}, not {repository}"
        return RegistrationResult(CONFLICT, message, product.repository, product.repository, product.owner)
    return None


def _result(status: RegistrationStatus, message: str, contract: RegisteredContract) -> RegistrationResult:
    return RegistrationResult(status, message, owner=contract.owner, registered_at=contract.registered_at)


def _by_version(contract: RegisteredContract) -> tuple[str, tuple[tuple[int, ...], str]]:
    return contract.name, version_key(contract.version)


class Consumers:
    """Who reads the contracts of one product."""

    def __init__(self, registry: Registry, written: str) -> None:
        self.registry = registry
        self.product = product_id(written)

    def log(self, contract: str, product: str, port: str) -> Log[ConsumerEntry]:
        return Log(self.registry, ConsumerEntry, self.product, contract, *product.split("."), port)

    def all(self, contract: str | None) -> list[Consumer]:
        last = stored(self.registry, ConsumerEntry, self.product, last_only=True)
        there = [item.entry.consumer for item in last if item.entry.action is not Action.REMOVE_CONSUMER]
        return sorted(
            (consumer for consumer in there if contract in (None, consumer.contract)),
            key=lambda consumer: (consumer.contract, consumer.product, consumer.port),
        )

    def register(self, consumer: Consumer, by: Actor) -> RegistrationResult:
        """Record a consumer, or that it asks for another range of versions now."""
        known = replace(consumer, product=product_id(consumer.product))
        return self._change(Action.REGISTER_CONSUMER, known, by)

    def remove(self, contract: str, product: str, port: str, by: Actor) -> RegistrationResult:
        gone = Consumer(product_id(product), contract, "", port)
        return self._change(Action.REMOVE_CONSUMER, gone, by)

    def _change(self, action: Action, consumer: Consumer, by: Actor) -> RegistrationResult:
        log = self.log(consumer.contract, consumer.product, consumer.port)
        what = f"{consumer.product} as a consumer of {self.product}/{consumer.contract}"
        for _ in range(MEETINGS):
            last = log.latest()
            is_there = last is not None and last.entry.action is not Action.REMOVE_CONSUMER
            if action is Action.REMOVE_CONSUMER and not is_there:
                return RegistrationResult(OWNED, f"{what} is not recorded")
            if action is Action.REGISTER_CONSUMER and last and is_there and _is_same(last.entry.consumer, consumer):
                return RegistrationResult(OWNED, f"{what} is recorded already")
            number = last.number + 1 if last else 1
            _, won = log.append(number, ConsumerEntry(self.product, action, consumer, moment(), by))
            if won:
                status = CREATED if action is Action.REGISTER_CONSUMER and not is_there else UPDATED
                return RegistrationResult(status, f"{what} is recorded")
        raise FloeError(Finding("FLOE-E807", f"{what} is changed by too many at once", Place("(catalog)")))


def _is_same(one: Consumer, other: Consumer) -> bool:
    return replace(one, registered_at=other.registered_at) == other
