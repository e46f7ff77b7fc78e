"""The base of catalog plugins: a checked config, and PyIceberg's catalog behind it."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    BadRequestError,
    CommitFailedException,
    ForbiddenError,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchPropertyException,
    NoSuchTableError,
    NotInstalledError,
    RESTError,
    TableAlreadyExistsError,
    UnauthorizedError,
)

from floe_core.catalog import CatalogPlugin
from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import (
    Actor,
    Consumer,
    ContractMetadata,
    Disagreement,
    HistoryEntry,
    IdentityValidationResult,
    Product,
    ProductMetadata,
    RegisteredContract,
    RegistrationResult,
    RegistrationStatus,
)
from floe_core.patience import Patience, TooSlowError
from floe_core.schemas.values import NAME
from floe_core.table import Column
from floe_iceberg.columns import read_columns
from floe_iceberg.contracts import Consumers, Contracts
from floe_iceberg.history import history
from floe_iceberg.identity import NewOwner, Products, product_id
from floe_iceberg.publication import Change, Pointer, RelationKind
from floe_iceberg.publisher import Resumption, publish, resume
from floe_iceberg.registry import Nowhere, Registry
from floe_iceberg.relations import Relations
from floe_iceberg.verify import repair, verify

CATALOG_ERRORS = (
    OSError,
    BadRequestError,
    CommitFailedException,
    ForbiddenError,
    NoSuchPropertyException,
    NotInstalledError,
    RESTError,
    TooSlowError,
    UnauthorizedError,
)
LIMITS = {"s3.connect-timeout": "1", "s3.request-timeout": "3"}  # seconds, for each of three tries
VANISHED = (NoSuchNamespaceError, NoSuchTableError, NamespaceAlreadyExistsError, TableAlreadyExistsError)


class CatalogConfig(BaseModel):
    """The settings that every catalog has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(default="floe", pattern=NAME, description="Name of the catalog, in Python and in Spark.")


C = TypeVar("C", bound=CatalogConfig)


class IcebergCatalogPlugin(CatalogPlugin, Generic[C]):
    """A catalog that PyIceberg can open. A plugin adds its config, `client_properties` and `catalog_conf`."""

    Config: ClassVar[type[CatalogConfig]] = CatalogConfig
    errors: ClassVar[tuple[type[Exception], ...]] = ()  # what else its client raises when the catalog is unwell
    relations: ClassVar[type[Relations]] = Relations  # how its tables and views are found and moved

    def __init__(self, config: Mapping[str, Any], home: Path) -> None:
        self.config: C = self.Config.model_validate(config)  # type: ignore[assignment]  # a plugin binds both alike
        self.home = home
        self._here = threading.local()  # one open catalog per thread
        self._domains: set[tuple[str, ...]] = set()  # namespaces of domains that are known to be complete

    @property
    def name(self) -> str:
        return self.config.name

    @abstractmethod
    def catalog_conf(self) -> dict[str, str]:
        """The properties of Spark's catalog, without the `spark.sql.catalog.NAME.` in front."""

    def spark_conf(self) -> dict[str, str]:
        prefix = f"spark.sql.catalog.{self.name}"
        kept = {f"{prefix}.{key}": value for key, value in self.catalog_conf().items()}
        return {prefix: "org.apache.iceberg.spark.SparkCatalog", **kept}

    @contextmanager
    def open(self) -> Iterator[Catalog]:
        """The catalog, open; whatever keeps it from working is FLOE-E807."""
        unwell: tuple[type[Exception], ...] = (*CATALOG_ERRORS, *self.errors)
        try:
            with (self.patience or Patience()).one():
                self.prepare()
                client = load_catalog(self.name, **{**LIMITS, **self.client_properties()})
            with client as catalog:
                yield catalog
        except unwell as exc:
            raise self._unwell(exc) from exc

    def _unwell(self, exc: Exception) -> FloeError:
        message = f"catalog {self.name} ({self.describe()}): {self.reason(exc)}"
        return FloeError(Finding("FLOE-E807", message, Place("(catalog)")))

    def reason(self, exc: Exception) -> str:
        """Why the catalog does not work, in a line for a person."""
        return str(exc).partition("\n")[0] or type(exc).__name__

    def is_made(self) -> bool:
        """Whether there is a catalog to look into; looking must not make one."""
        return True

    @contextmanager
    def connect(self, *, to_write: bool = False) -> Iterator[Registry]:
        """The registry of the open catalog; methods that are called meanwhile use the same client."""
        if already := getattr(self._here, "registry", None):
            yield already
        elif not (to_write or self.is_made()):
            yield Registry(Nowhere(self.name), self.retry)
        else:
            with self.open() as catalog:
                may_create = self.capabilities.creates_registry
                self._here.registry = Registry(
                    catalog, self.retry, passing=self.errors, may_create=may_create, patience=self.patience
                )
                try:
                    yield self._here.registry
                except VANISHED as exc:  # somebody else makes and drops while we register
                    raise self._unwell(exc) from exc
                finally:
                    del self._here.registry

    def session(self) -> AbstractContextManager[object]:
        return self.connect() if self.is_made() else nullcontext()

    def columns_of(self, namespace: tuple[str, ...], table: str) -> tuple[Column, ...] | None:
        with self.connect() as registry:
            try:
                found = registry.attempt(lambda: registry.catalog.load_table((*namespace, table)))
            except (NoSuchTableError, NoSuchNamespaceError):
                return None
            return read_columns(found.schema())

    def pointers(self, namespaces: Sequence[tuple[str, ...]]) -> list[Pointer]:
        """Every table and view of these namespaces, and where it stands now. Reads only."""
        with self.connect() as registry:
            return self.relations(registry).pointers(namespaces)

    def pointer(self, identifier: tuple[str, ...]) -> Pointer | None:
        """Where this table or view stands now, or None when there is none of that name."""
        with self.connect() as registry:
            relations = self.relations(registry)
            found = (relations.find(identifier, kind) for kind in RelationKind)
            return next((each.pointer for each in found if each), None)

    def table_location(self, namespace: tuple[str, ...], name: str) -> str | None:
        """Where the service would put a new table; None where floe's own warehouse decides. Makes the namespace."""
        del namespace, name
        return None

    def publish(self, changes: Sequence[Change], journal: Path) -> None:
        """Move these tables and views to where they should be.

        In one transaction where the catalog has one, else in this order, each on the condition that it stands where
        it stood. FLOE-E730 when somebody else was there first, FLOE-E732 when it was interrupted: then the file
        `journal` is there, and `resume` goes on. The metadata files of `changes` must stay until it is gone.
        """
        with self.connect(to_write=True) as registry:
            publish(self.relations(registry), changes, journal)

    def resume(self, journal: Path) -> Resumption | None:
        """Finish the publication that an earlier process did not; None when there is none. Raises as `publish`."""
        if not journal.exists():
            return None  # without a call
        with self.connect(to_write=True) as registry:
            return resume(self.relations(registry), journal)

    @contextmanager
    def _writing(self) -> Iterator[Registry]:
        """The registry, to write to: refused before the service is called where nothing decides a race."""
        if not (self.capabilities.atomic_create or self.lock_held):
            message = f"catalog {self.name} ({self.describe()}) cannot register products safely"
            raise FloeError(Finding("FLOE-E623", message, Place("(catalog)")))
        with self.connect(to_write=True) as registry:
            yield registry

    def _products(self, registry: Registry) -> Products:
        return Products(registry, self.capabilities, self._domains)

    def init_registry(self) -> bool:
        with self.connect(to_write=True) as registry:
            return registry.init(by_hand=True)

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
        domain, _, name = product_id(namespace).partition(".")
        metadata = ProductMetadata(name, domain, owner, repository, "", path=path)
        with self._writing() as registry:
            result = self._products(registry).claim(namespace, metadata, by or Actor.here(), may_update=False)
        if result.status is RegistrationStatus.ALREADY_OWNED and not if_not_exists:
            return replace(result, status=RegistrationStatus.CONFLICT, existing_owner=result.repository)
        return result

    def register_product_namespace(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._writing() as registry:
            return self._products(registry).claim(namespace, product_metadata, by or Actor.here(), may_update=True)

    def update_product_metadata(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._writing() as registry:
            return self._products(registry).update(namespace, product_metadata, by or Actor.here())

    def get_namespace_owner(self, namespace: str) -> str | None:
        product = self.get_product(namespace)
        return product.repository if product else None

    def get_product(self, namespace: str) -> Product | None:
        with self.connect() as registry:
            return self._products(registry).get(namespace)

    def validate_product_identity(
        self, namespace: str, expected_repo: str, path: str | None = None
    ) -> IdentityValidationResult:
        with self.connect() as registry:
            return self._products(registry).validate(namespace, expected_repo, path)

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
        to = NewOwner(repository, owner, path)
        with self._writing() as registry:
            return self._products(registry).transfer(namespace, to, by or Actor.here(), reason, admin=admin)

    def retire_product(
        self, namespace: str, *, reason: str = "", by: Actor | None = None, admin: bool = False
    ) -> RegistrationResult:
        with self._writing() as registry:
            return self._products(registry).retire(namespace, by or Actor.here(), reason, admin=admin)

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
        with self._writing() as registry:
            contracts, products = Contracts(registry, namespace), self._products(registry)
            found = products.registered(namespace)
            result = contracts.register(
                found.entry.product if found else None,
                contract_name,
                contract_version,
                schema_hash,
                metadata,
                by or Actor.here(),
            )
            if found and result.ok:
                products.mirror(found).sync(promises=True)
        return result

    def list_registered_contracts(self, namespace: str) -> list[RegisteredContract]:
        with self.connect() as registry:
            return Contracts(registry, namespace).all()

    def get_registered_contract(
        self, namespace: str, contract_name: str, contract_version: str
    ) -> RegisteredContract | None:
        with self.connect() as registry:
            return Contracts(registry, namespace).get(contract_name, contract_version)

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
        with self._writing() as registry:
            contracts, products = Contracts(registry, namespace), self._products(registry)
            found = products.registered(namespace)
            result = contracts.retire(
                found.entry.product if found else None,
                contract_name,
                contract_version,
                by or Actor.here(),
                reason,
                admin=admin,
            )
            if found and result.ok:
                products.mirror(found).sync(promises=True)
        return result

    def register_consumer(
        self, namespace: str, consumer: Consumer, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._writing() as registry:
            return Consumers(registry, namespace).register(consumer, by or Actor.here())

    def remove_consumer(
        self, namespace: str, contract: str, product: str, port: str, *, by: Actor | None = None
    ) -> RegistrationResult:
        with self._writing() as registry:
            return Consumers(registry, namespace).remove(contract, product, port, by or Actor.here())

    def list_consumers(self, namespace: str, contract: str | None = None) -> list[Consumer]:
        with self.connect() as registry:
            return Consumers(registry, namespace).all(contract)

    def list_products(self) -> list[Product]:
        with self.connect() as registry:
            return self._products(registry).all()

    def product_history(self, namespace: str) -> list[HistoryEntry]:
        with self.connect() as registry:
            return history(registry, product_id(namespace))

    def verify_product(self, namespace: str) -> list[Disagreement]:
        with self.connect() as registry:
            return verify(self._products(registry), namespace)

    def repair_product(self, namespace: str) -> list[Disagreement]:
        with self._writing() as registry:
            return repair(self._products(registry), namespace)
