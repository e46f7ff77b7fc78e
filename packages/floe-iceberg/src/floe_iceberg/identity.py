"""Who owns a product: claimed once, then changed only by entries that follow one another."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

from floe_core.catalog import Capabilities
from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import (
    Action,
    Actor,
    Disagreement,
    IdentityStatus,
    IdentityValidationResult,
    Product,
    ProductMetadata,
    RegistrationResult,
    RegistrationStatus,
    moment,
)
from floe_core.namespaces import Namespace, as_identifier
from floe_core.repository import is_same, normalise
from floe_iceberg.entries import E, Log, ProductEntry, Stored, stored
from floe_iceberg.mirror import Mirror, read_properties
from floe_iceberg.registry import NAMESPACE, Registry

MEETINGS = 20  # others that may change the product at the same moment before we give up
_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*\.[a-z][a-z0-9]*(_[a-z0-9]+)*")


def product_id(written: str) -> str:
    """A product's id as the registry spells it."""
    found = as_identifier(written)
    if not _ID.fullmatch(found):
        raise FloeError(Finding("FLOE-E631", f"{written!r} is not a product id", Place("(catalog)")))
    return found


@dataclass(frozen=True, slots=True)
class NewOwner:
    """Who a product goes to; without a path it stays in the folder of that name."""

    repository: str
    owner: str
    path: str | None = None


class Products:
    """The products of one open catalog."""

    def __init__(self, registry: Registry, capabilities: Capabilities, domains: set[tuple[str, ...]]) -> None:
        self.registry = registry
        self.capabilities = capabilities
        self.domains = domains  # those whose namespace is known to be complete

    def log(self, written: str) -> Log[ProductEntry]:
        return Log(self.registry, ProductEntry, product_id(written))

    def mirror(self, stored: Stored[ProductEntry]) -> Mirror:
        return Mirror(self.registry, self.capabilities, stored)

    def find(self, written: str) -> Stored[ProductEntry] | None:
        """The last entry of a product's log."""
        return self.log(written).latest()

    def registered(self, written: str) -> Stored[ProductEntry] | None:
        """The same, unless another product only uses its namespace."""
        found = self.find(written)
        return found if found and found.entry.product.id == product_id(written) else None

    def get(self, written: str) -> Product | None:
        """The product, unless nobody has registered it."""
        found = self.registered(written)
        return current(found) if found else None

    def all(self) -> list[Product]:
        """Every product, by id."""
        last = stored(self.registry, ProductEntry, last_only=True)
        return sorted((current(item) for item in last if item.entry.log == item.entry.product.id), key=_by_id)

    # Claiming

    def claim(self, written: str, metadata: ProductMetadata, by: Actor, *, may_update: bool) -> RegistrationResult:
        """Put the first entry; whoever was faster, perhaps we ourselves, is looked at afterwards."""
        product = self._product(written, metadata)
        log = self.log(written)
        found, won = log.append(1, ProductEntry(log.product, Action.CLAIM, product, moment(), by))
        if not won:
            return self._second(written, metadata, by, may_update=may_update)
        if refused := self._reserve(product, by):
            return refused
        self._establish(found)
        return _result(RegistrationStatus.CREATED, f"{product.id} is registered", product)

    def update(self, written: str, metadata: ProductMetadata, by: Actor) -> RegistrationResult:
        """Bring a product that is ours up to date."""
        return self._second(written, metadata, by, may_update=True)

    def _second(
        self, written: str, metadata: ProductMetadata, by: Actor, *, may_update: bool
    ) -> RegistrationResult:
        asked = self._product(written, metadata)

        def change(product: Product) -> tuple[Product, RegistrationResult | None]:
            if refused := refusal(product, asked):
                return product, refused
            if metadata.catalog_namespace and asked.namespace != product.namespace:
                there = ".".join(product.namespace)
                message = f"{product.id} lives in {there}, and tables are not moved by registering"
                return product, _result(RegistrationStatus.CONFLICT, message, product)
            return (brought_up_to_date(product, asked) if may_update else product), None

        result = self._change(written, Action.UPDATE, change, by)
        if result.ok and metadata.catalog_namespace and (refused := self._reserve(asked, by)):
            return refused  # a claim that was interrupted
        return result

    def _product(self, written: str, metadata: ProductMetadata) -> Product:
        own = product_id(written)
        return Product(
            id=own,
            name=metadata.name,
            domain=metadata.domain,
            owner=metadata.owner,
            repository=normalise(metadata.repository),
            version=metadata.version,
            registered_at=metadata.registered_at,
            namespace=self._parts(own, metadata.catalog_namespace),
            path=metadata.path,
            domain_owner=metadata.domain_owner,
        )

    def _parts(self, own: str, catalog_namespace: str | None = None) -> tuple[str, ...]:
        domain, _, name = own.partition(".")
        return Namespace(catalog_namespace or domain, name, self.capabilities.nested_namespaces).parts

    def _reserve(self, product: Product, by: Actor) -> RegistrationResult | None:
        """Where the namespace is called like another product: take that one's name too, or be refused."""
        other = ".".join(
            product.namespace if self.capabilities.nested_namespaces else product.namespace[0].split("__")
        )
        if other == product.id:
            return None
        log = self.log(other)
        found = log.at(1) or log.append(1, ProductEntry(other, Action.RESERVE, product, moment(), by))[0]
        held = found.entry.product
        if held.id == product.id:
            return None
        message = f"namespace {other} of {product.id} belongs to {held.id} of {held.repository}"
        return _result(RegistrationStatus.CONFLICT, message, held)

    def _establish(self, stored: Stored[ProductEntry]) -> None:
        domain = stored.entry.product.namespace[:1]
        self.mirror(stored).establish(domain_is_known=domain in self.domains)
        self.domains.add(domain)

    # Changing

    def _change(
        self,
        written: str,
        action: Action,
        change: Callable[[Product], tuple[Product, RegistrationResult | None]],
        by: Actor,
        reason: str = "",
    ) -> RegistrationResult:
        """Append the entry that a change leads to; when somebody was faster, look again and decide anew."""
        log = self.log(written)
        for _ in range(MEETINGS):
            last = log.latest()
            if last is None:
                return RegistrationResult(RegistrationStatus.CONFLICT, f"{log.product} is not registered")
            if last.entry.product.id != log.product:
                return _held(last.entry.product, log.product)
            product = current(last)
            wanted, refused = change(product)
            if refused:
                return refused
            if wanted == product:
                self._settle(last)
                return _result(RegistrationStatus.ALREADY_OWNED, f"{product.id} is registered already", product)
            entry = ProductEntry(log.product, action, wanted, moment(), by, reason)
            appended, won = log.append(last.number + 1, entry)
            if won:
                self._settle(appended)
                return _result(RegistrationStatus.UPDATED, f"{product.id}: {_difference(product, wanted)}", wanted)
        message = f"{log.product} is changed by too many at once"
        raise FloeError(Finding("FLOE-E807", message, Place("(catalog)")))

    def _settle(self, stored: Stored[ProductEntry]) -> None:
        """Finish what an interrupted registration left, and write what has changed."""
        self.mirror(stored).sync(promises=False)
        self.domains.add(stored.entry.product.namespace[:1])

    def transfer(self, written: str, to: NewOwner, by: Actor, reason: str, *, admin: bool) -> RegistrationResult:
        def change(product: Product) -> tuple[Product, RegistrationResult | None]:
            path = product.path if to.path is None else to.path
            given = replace(product, repository=normalise(to.repository), owner=to.owner, path=path, retired=False)
            return given, None if given == product else not_allowed(product, by, reason, admin=admin)

        return self._change(written, Action.TRANSFER, change, by, reason)

    def retire(self, written: str, by: Actor, reason: str, *, admin: bool) -> RegistrationResult:
        def change(product: Product) -> tuple[Product, RegistrationResult | None]:
            refused = None if product.retired else not_allowed(product, by, reason, admin=admin)
            return replace(product, retired=True), refused

        return self._change(written, Action.RETIRE, change, by, reason)

    # Looking

    def validate(self, written: str, repository: str, path: str | None) -> IdentityValidationResult:
        """Whose product it is; and whether the properties of its namespace tell the same."""
        found = self.find(written)
        own = product_id(written)
        if found is None:
            return self._available(own)
        mirror = self.mirror(found)
        disagreements = [*mirror.disagreements(promises=False), *rewritten(mirror.stored)]
        product = current(mirror.stored)
        if not any(item.namespace == product.namespace[:1] for item in disagreements):
            self.domains.add(product.namespace[:1])
        is_ours = is_same(product.repository, repository) and (None in (path, product.path) or path == product.path)
        return IdentityValidationResult(
            IdentityStatus.VALID
            if is_ours and not product.retired and product.id == own
            else IdentityStatus.CONFLICT,
            product.owner,
            product.repository,
            product.path,
            product.version,
            product.registered_at,
            product.retired,
            held_by=None if product.id == own else product.id,
            exists=True,
            disagreements=tuple(disagreements),
        )

    def _available(self, own: str) -> IdentityValidationResult:
        """Nobody has registered it. Properties that name an owner all the same are not floe's doing."""
        parts = self._parts(own)
        actual = read_properties(self.registry, parts)
        strange = tuple(
            Disagreement(key, None, value, parts)
            for key, value in sorted((actual or {}).items())
            if key.startswith("floe.product.")
        )
        domain = read_properties(self.registry, parts[:1]) if len(parts) > 1 else {}
        if (domain or {}).get("floe.domain.name") or len(parts) == 1:
            self.domains.add(parts[:1])
        return IdentityValidationResult(IdentityStatus.AVAILABLE, exists=actual is not None, disagreements=strange)

    def clear(self, keys: set[str], namespace: tuple[str, ...]) -> None:
        """Remove properties that speak of a product that nobody has registered."""
        catalog = self.registry.catalog
        self.registry.attempt(lambda: catalog.update_namespace_properties(namespace, keys))


def current(stored: Stored[ProductEntry]) -> Product:
    return replace(stored.entry.product, revision=stored.number)


def refusal(product: Product, asked: Product) -> RegistrationResult | None:
    """Why a product that is registered is not the one that asks."""
    if product.retired:
        return _result(RegistrationStatus.CONFLICT, f"{product.id} is retired", product)
    if not is_same(product.repository, asked.repository):
        message = f"Namespace '{product.id}' is owned by '{product.repository}', not '{asked.repository}'"
        return _result(RegistrationStatus.CONFLICT, message, product)
    if None not in (product.path, asked.path) and product.path != asked.path:
        message = f"Namespace '{product.id}' belongs to the product in {product.path or 'the top folder'}"
        return _result(RegistrationStatus.CONFLICT, f"{message} of {product.repository}", product)
    return None


def not_allowed(product: Product, by: Actor, reason: str, *, admin: bool) -> RegistrationResult | None:
    """The owner's checkout may change a product, and an administrator who says why."""
    if is_same(product.repository, by.repository) or (admin and reason.strip()):
        return None
    why = "an administrator must give a reason" if admin else f"it belongs to {product.repository}"
    return _result(RegistrationStatus.CONFLICT, f"{product.id} cannot be changed from here: {why}", product)


def brought_up_to_date(product: Product, asked: Product) -> Product:
    """What the product says about itself now; what it does not say stays."""
    return replace(
        product,
        name=asked.name or product.name,
        owner=asked.owner or product.owner,
        version=asked.version or product.version,
        path=product.path if asked.path is None else asked.path,
        domain_owner=asked.domain_owner or product.domain_owner,
    )


def _held(holder: Product, own: str) -> RegistrationResult:
    message = f"namespace {own} is used by {holder.id} of {holder.repository}"
    return _result(RegistrationStatus.CONFLICT, message, holder)


def _result(status: RegistrationStatus, message: str, product: Product) -> RegistrationResult:
    existing = product.repository if status is RegistrationStatus.CONFLICT else None
    return RegistrationResult(status, message, existing, product.repository, product.owner, product.registered_at)


def _difference(before: Product, after: Product) -> str:
    old, new = asdict(before), asdict(after)
    return ", ".join(f"{key} {old[key]!r} → {new[key]!r}" for key in old if old[key] != new[key])


def rewritten(item: Stored[E]) -> list[Disagreement]:
    """An entry whose table somebody has changed; that its content still fits its digest proves nothing then."""
    return [Disagreement(item.table, "written once", "rewritten", NAMESPACE)] if item.rewritten else []


def _by_id(product: Product) -> str:
    return product.id
