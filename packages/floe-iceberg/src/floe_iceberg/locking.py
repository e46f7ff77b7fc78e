"""A lock around catalogs that cannot decide a race themselves. Best effort: double owners become rare, no more.

A holder that is paused past the lock's lifetime still writes when it wakes, and no lock service can prevent that.
So every claim is read back after it was written; a catalog with `atomic_create` needs none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from floe_core.catalog import CatalogPlugin
from floe_core.identity import (
    Actor,
    Consumer,
    ContractMetadata,
    Disagreement,
    HistoryEntry,
    IdentityStatus,
    IdentityValidationResult,
    Product,
    ProductMetadata,
    RegisteredContract,
    RegistrationResult,
    RegistrationStatus,
)
from floe_core.patience import Patience
from floe_core.table import Column
from floe_iceberg.identity import product_id

KEY = "floe:namespace:lock:{}"
TIMEOUT = 30  # seconds to wait for the lock


class LockManager(Protocol):
    """A lock service, Redis say."""

    def acquire(self, key: str, timeout: float) -> AbstractContextManager[object]:
        """Hold the lock of that name while the block runs; raises OSError when it is not to be had in time."""


class LockingCatalogPlugin(CatalogPlugin):
    """`catalog`, whose changes wait for a lock per product."""

    def __init__(self, catalog: CatalogPlugin, lock_manager: LockManager) -> None:
        self._catalog = catalog
        self._lock_manager = lock_manager
        self.jars = catalog.jars
        self.capabilities = catalog.capabilities  # type: ignore[misc] # a class's own, and here the wrapped one's

    @property
    def unlocked(self) -> CatalogPlugin:
        """The catalog itself: for tables, whose changes need no lock."""
        return self._catalog

    @property
    def patience(self) -> Patience | None:  # one for both
        return self._catalog.patience

    @patience.setter
    def patience(self, value: Patience | None) -> None:
        self._catalog.patience = value

    @property
    def name(self) -> str:
        return self._catalog.name

    def client_properties(self) -> dict[str, str]:
        return self._catalog.client_properties()

    def spark_conf(self) -> dict[str, str]:
        return self._catalog.spark_conf()

    @property
    def warehouse(self) -> str | None:
        return self._catalog.warehouse

    def describe(self) -> str:
        return f"{self._catalog.describe()}, locked"

    def prepare(self) -> None:
        self._catalog.prepare()

    @property
    def is_local(self) -> bool:
        return self._catalog.is_local

    def columns_of(self, namespace: tuple[str, ...], table: str) -> tuple[Column, ...] | None:
        return self._catalog.columns_of(namespace, table)

    def session(self) -> AbstractContextManager[object]:
        return self._catalog.session()

    @contextmanager
    def _locked(self, namespace: str) -> Iterator[CatalogPlugin]:
        with self._lock_manager.acquire(KEY.format(product_id(namespace)), timeout=TIMEOUT):
            self._catalog.retry = self.retry
            self._catalog.lock_held = True
            try:
                yield self._catalog
            finally:
                self._catalog.lock_held = False

    def _claimed(
        self,
        namespace: str,
        repository: str,
        path: str | None,
        claim: Callable[[CatalogPlugin], RegistrationResult],
    ) -> RegistrationResult:
        """Claim under the lock, and believe only what stands there afterwards."""
        with self._locked(namespace) as catalog:
            before = catalog.validate_product_identity(namespace, repository, path)
            if before.status is IdentityStatus.CONFLICT:
                return _conflict(namespace, before)
            result = claim(catalog)
            after = catalog.validate_product_identity(namespace, repository, path)
            return _conflict(namespace, after) if after.status is IdentityStatus.CONFLICT else result

    def init_registry(self) -> bool:
        return self._catalog.init_registry()

    def register_product_identity(
        self,
        namespace: str,
        repository: str,
        owner: str,
        if_not_exists: bool = True,
        *,
        path: str | None = None,
        by: Actor | None = None,
    ) -> RegistrationResult:
        def claim(catalog: CatalogPlugin) -> RegistrationResult:
            return catalog.register_product_identity(namespace, repository, owner, if_not_exists, path=path, by=by)

        return self._claimed(namespace, repository, path, claim)

    def register_product_namespace(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        def claim(catalog: CatalogPlugin) -> RegistrationResult:
            return catalog.register_product_namespace(namespace, product_metadata, by=by)

        return self._claimed(namespace, product_metadata.repository, product_metadata.path, claim)

    def update_product_metadata(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.update_product_metadata(namespace, product_metadata, by=by)

    def get_namespace_owner(self, namespace: str) -> str | None:
        return self._catalog.get_namespace_owner(namespace)

    def get_product(self, namespace: str) -> Product | None:
        return self._catalog.get_product(namespace)

    def validate_product_identity(
        self, namespace: str, expected_repo: str, path: str | None = None
    ) -> IdentityValidationResult:
        return self._catalog.validate_product_identity(namespace, expected_repo, path)

    def transfer_product(
        self,
        namespace: str,
        repository: str,
        owner: str,
        *,
        path: str | None = None,
        reason: str = "",
        by: Actor | None = None,
        admin: bool = False,
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.transfer_product(
                namespace, repository, owner, path=path, reason=reason, by=by, admin=admin
            )

    def retire_product(
        self, namespace: str, *, reason: str = "", by: Actor | None = None, admin: bool = False
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.retire_product(namespace, reason=reason, by=by, admin=admin)

    def register_contract(
        self,
        namespace: str,
        contract_name: str,
        contract_version: str,
        schema_hash: str,
        metadata: ContractMetadata,
        *,
        by: Actor | None = None,
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.register_contract(
                namespace, contract_name, contract_version, schema_hash, metadata, by=by
            )

    def list_registered_contracts(self, namespace: str) -> list[RegisteredContract]:
        return self._catalog.list_registered_contracts(namespace)

    def get_registered_contract(
        self, namespace: str, contract_name: str, contract_version: str
    ) -> RegisteredContract | None:
        return self._catalog.get_registered_contract(namespace, contract_name, contract_version)

    def retire_contract(
        self,
        namespace: str,
        contract_name: str,
        contract_version: str,
        *,
        reason: str = "",
        by: Actor | None = None,
        admin: bool = False,
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.retire_contract(
                namespace, contract_name, contract_version, reason=reason, by=by, admin=admin
            )

    def register_consumer(
        self, namespace: str, consumer: Consumer, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.register_consumer(namespace, consumer, by=by)

    def remove_consumer(
        self, namespace: str, contract: str, product: str, port: str, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._locked(namespace) as catalog:
            return catalog.remove_consumer(namespace, contract, product, port, by=by)

    def list_consumers(self, namespace: str, contract: str | None = None) -> list[Consumer]:
        return self._catalog.list_consumers(namespace, contract)

    def list_products(self) -> list[Product]:
        return self._catalog.list_products()

    def product_history(self, namespace: str) -> list[HistoryEntry]:
        return self._catalog.product_history(namespace)

    def verify_product(self, namespace: str) -> list[Disagreement]:
        return self._catalog.verify_product(namespace)

    def repair_product(self, namespace: str) -> list[Disagreement]:
        with self._locked(namespace) as catalog:
            return catalog.repair_product(namespace)


def _conflict(namespace: str, found: IdentityValidationResult) -> RegistrationResult:
    message = f"Namespace '{product_id(namespace)}' is owned by '{found.repository}'"
    return RegistrationResult(
        RegistrationStatus.CONFLICT,
        message,
        found.repository,
        found.repository,
        found.owner,
        found.registered_at,
    )
