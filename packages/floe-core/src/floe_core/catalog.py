"""What a catalog plugin tells floe (entry-point group `floe.catalogs`), and how the one in force is made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pydantic

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
    Retry,
)
from floe_core.load import Loaded
from floe_core.merge import Merged
from floe_core.patience import OF_A_PERSON, Patience
from floe_core.plugins import PluginInterface, load_plugin
from floe_core.references import resolve_references
from floe_core.resolve import Chain
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.parts import Plugin
from floe_core.table import Column

GROUP = "floe.catalogs"
EMBEDDED = Plugin(type="sql")
CATALOG = ("plugins", "catalog")
HOME = ".floe"
Tier = Loaded[Manifest] | Loaded[DataProduct]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a catalog can do. floe uses nothing that is not declared here."""

    nested_namespaces: bool = True  # else the parts of a namespace are joined with __
    atomic_create: bool = True  # one of several creators of a table wins; else registering needs a lock
    creates_registry: bool = True  # losing a race to create a namespace is harmless; else init-registry it is
    atomic_commit: bool = False  # several tables change at once or not at all; else one after the other
    property_value_limit: int | None = None  # characters of a namespace property's value


@dataclass(frozen=True, slots=True)
class Jar:
    """A Java library: its coordinates, group:artifact:version[:classifier], and its content."""

    coordinates: str
    sha256: str
    size: int | None = None  # in bytes; a quick way to see that a file is not the one

    @property
    def group(self) -> str:
        return self.coordinates.split(":")[0]

    @property
    def file_name(self) -> str:
        return f"{'-'.join(self.coordinates.split(':')[1:])}.jar"


class CatalogPlugin(PluginInterface):
    """One Iceberg catalog, seen from Python and from Spark."""

    API_VERSION: ClassVar[int] = 1
    capabilities: ClassVar[Capabilities] = Capabilities()
    jars: tuple[Jar, ...] = ()  # what Spark needs for it beyond Iceberg and SQLite
    retry: Retry = Retry()  # replaced per instance by what `registration:` says
    patience: Patience | None = None  # set by whoever makes a person wait for the answers
    lock_held: bool = False  # set by whoever locks a catalog without atomic_create

    @abstractmethod
    def __init__(self, config: Mapping[str, Any], home: Path) -> None:
        """`config` is what the manifest says, its secrets resolved; `home` holds what an embedded catalog keeps.

        Raises pydantic.ValidationError for settings that are wrong.
        """

    @property
    @abstractmethod
    def name(self) -> str:
        """The catalog's name, the same in Python and in Spark."""

    @abstractmethod
    def client_properties(self) -> dict[str, str]:
        """The properties that PyIceberg opens the catalog with."""

    @abstractmethod
    def spark_conf(self) -> dict[str, str]:
        """The configuration that makes it a catalog of a Spark session, keys in full."""

    @property
    def warehouse(self) -> str | None:
        """Where floe may put tables; None where the catalog decides."""
        return None

    @abstractmethod
    def describe(self) -> str:
        """Where it is, for a person; no secrets."""

    def prepare(self) -> None:
        """Make what must be there before the first client opens it."""

    @property
    def is_local(self) -> bool:
        """Whether nobody but this machine sees it, so that what is registered holds here only."""
        return False

    def session(self) -> AbstractContextManager[object]:
        """What a plugin keeps open while several methods are called."""
        return nullcontext()

    @abstractmethod
    def columns_of(self, namespace: tuple[str, ...], table: str) -> tuple[Column, ...] | None:
        """The columns that a table has now, or None when there is no such table."""

    # Identity. `namespace` is a product's id, "sales.customer_360". Every method raises FloeError when the catalog
    # cannot be asked; a conflict is a result. `by` is whoever runs the process when it is left out.

    @abstractmethod
    def init_registry(self) -> bool:
        """Make the namespace that the registry lives in; False when it was there."""

    @abstractmethod
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
        """Claim a product: created, already_owned or conflict. Concurrent calls cannot both create.

        With `if_not_exists=False` a product that is ours already is a conflict too.
        """

    @abstractmethod
    def register_product_namespace(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        """Claim a product, or bring ours up to date: created, updated, already_owned or conflict."""

    @abstractmethod
    def update_product_metadata(
        self, namespace: str, product_metadata: ProductMetadata, *, by: Actor | None = None
    ) -> RegistrationResult:
        """Record a new version or owner of a product that is ours: updated, already_owned or conflict."""

    @abstractmethod
    def get_namespace_owner(self, namespace: str) -> str | None:
        """The repository that owns a product, or None."""

    @abstractmethod
    def get_product(self, namespace: str) -> Product | None:
        """The product as it is registered now, or None."""

    @abstractmethod
    def validate_product_identity(
        self, namespace: str, expected_repo: str, path: str | None = None
    ) -> IdentityValidationResult:
        """Whether it is this repository's (valid), somebody else's (conflict), or available. Reads only."""

    @abstractmethod
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
        """Give a product to another repository, owner or folder; a retired one comes back to life.

        `by.repository` must be the present owner's, or `admin` set and a reason given; else conflict.
        """

    @abstractmethod
    def retire_product(
        self, namespace: str, *, reason: str = "", by: Actor | None = None, admin: bool = False
    ) -> RegistrationResult:
        """End a product: nothing is dropped, the name stays taken. Who may: as for a transfer."""

    @abstractmethod
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
        """Record a contract version for good: created; already_owned when it is the same; conflict when it differs,
        when the product is not registered, or when it is not `metadata.repository`'s."""

    @abstractmethod
    def list_registered_contracts(self, namespace: str) -> list[RegisteredContract]:
        """Every contract version of a product, by name, then oldest version first."""

    @abstractmethod
    def get_registered_contract(
        self, namespace: str, contract_name: str, contract_version: str
    ) -> RegisteredContract | None:
        """One contract version with its document, or None."""

    @abstractmethod
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
        """End a contract version: updated; already_owned when it had ended; conflict when it is unknown, or not
        `by.repository`'s (and no `admin` gives a reason)."""

    @abstractmethod
    def register_consumer(
        self, namespace: str, consumer: Consumer, *, by: Actor | None = None
    ) -> RegistrationResult:
        """Record that `consumer.product` reads a contract of this product: created, updated, already_owned."""

    @abstractmethod
    def remove_consumer(
        self, namespace: str, contract: str, product: str, port: str, *, by: Actor | None = None
    ) -> RegistrationResult:
        """Record that it does so no longer: updated, or already_owned when it was not recorded."""

    @abstractmethod
    def list_consumers(self, namespace: str, contract: str | None = None) -> list[Consumer]:
        """Who reads a product's contracts, or one of them."""

    @abstractmethod
    def list_products(self) -> list[Product]:
        """Every product of the registry, retired ones too, by id."""

    @abstractmethod
    def product_history(self, namespace: str) -> list[HistoryEntry]:
        """Every change of a product, its contracts and its consumers, oldest first."""

    @abstractmethod
    def verify_product(self, namespace: str) -> list[Disagreement]:
        """Where the `floe.*` properties of its namespace are not what the registry says. Reads only."""

    @abstractmethod
    def repair_product(self, namespace: str) -> list[Disagreement]:
        """Write the properties again from the registry; returns what was wrong."""


def catalog_of(chain: Chain, merged: Merged) -> CatalogPlugin:
    """The catalog of a product: the one that its platform names, or the embedded one."""
    return catalog_for((*chain.manifests, chain.product), merged)


def catalog_for(tiers: Sequence[Tier], merged: Merged) -> CatalogPlugin:
    """The catalog that the lowest tier sees; the topmost comes first."""
    plugin: Plugin = merged.get(CATALOG) or EMBEDDED
    author, lowest = _author(tiers), tiers[-1]
    place = author.place(CATALOG) if author else lowest.place(("apiVersion",))
    kind = load_plugin(GROUP, plugin.type, CatalogPlugin, place)  # type: ignore[type-abstract]  # an interface
    config = resolve_references(plugin.config, place, author.folder if author else lowest.folder)
    try:
        return kind(config, tiers[0].folder / HOME)
    except pydantic.ValidationError as exc:
        raise FloeError(*(_misconfigured(error, plugin.type, author, place) for error in exc.errors())) from exc


def catalog_once() -> Callable[[Chain, Merged], CatalogPlugin]:
    """`catalog_of` for the steps of one command: they share what the plugin has learnt, and one patience."""
    made: dict[Path, CatalogPlugin] = {}

    def once(chain: Chain, merged: Merged) -> CatalogPlugin:
        folder = chain.product.folder
        if folder not in made:
            made[folder] = catalog_of(chain, merged)
            made[folder].patience = Patience(OF_A_PERSON)
        return made[folder]

    return once


def home_of(chain: Chain) -> Path:
    """Where an embedded catalog lives: beside the topmost manifest, or beside floe.yaml without one."""
    topmost: Tier = chain.manifests[0] if chain.manifests else chain.product
    return topmost.folder / HOME


def _author(tiers: Sequence[Tier]) -> Loaded[Manifest] | None:
    """The manifest that names the catalog in force: a child's choice replaces its parent's."""
    for loaded in reversed(tiers):
        if isinstance(loaded.document, Manifest) and loaded.document.plugins and loaded.document.plugins.catalog:
            return loaded
    return None


def _misconfigured(error: Any, kind: str, author: Loaded[Manifest] | None, place: Place) -> Finding:
    at = (*CATALOG, "config", *error["loc"])
    where = author.place(at, of_key=True) if author and author.source.node(at) else place
    name = ".".join(map(str, error["loc"])) or "config"
    return Finding("FLOE-E806", f"catalog {kind}: {name}: {error['msg']}", where)
