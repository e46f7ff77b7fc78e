"""The readable copy of the registry: `floe.*` properties of a product's namespace and of its domain's.

Nothing is decided by them. They are written from the registry, kept within what the catalog holds, read back, and
compared: a property that says something else is tampering.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError

from floe_core.catalog import Capabilities
from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import Disagreement, Product
from floe_core.namespaces import as_identifier
from floe_iceberg.entries import Log, ProductEntry, Stored
from floe_iceberg.promises import Promise, promised, version_key
from floe_iceberg.registry import Registry

OURS = ("floe.product.", "floe.domain.", "floe.contracts")
DOMAIN_OWNER = "floe.domain.owner"
CONTRACTS, MORE = "floe.contracts", "floe.contracts.more"
TOP = "."  # the path of a product at the top of its repository
ROUNDS = 100  # corrections before it is the catalog that does not keep them: others end after one each
ON_ITS_WAY = 0.2  # seconds from an entry in the registry to its properties, usually

Properties = dict[str, str]


class Mirror:
    """The properties of one product, in one open catalog."""

    def __init__(self, registry: Registry, capabilities: Capabilities, stored: Stored[ProductEntry]) -> None:
        self.registry = registry
        self.catalog: Catalog = registry.catalog
        self.limit = capabilities.property_value_limit
        self.nested = capabilities.nested_namespaces
        self.stored = stored  # the last entry that has been seen

    @property
    def product(self) -> Product:
        return self.stored.entry.product

    def wanted(self, contracts: Iterable[Promise] = ()) -> dict[tuple[str, ...], Properties]:
        """What the namespaces should say, the domain's first."""
        product, domain = self.product, self.product.namespace[:1]
        own = product_properties(product) | contract_properties(contracts, self.limit)
        about_domain = domain_properties(product)
        if not self.nested:
            return {product.namespace: self._cut(own | about_domain)}
        return {domain: self._cut(about_domain), product.namespace: self._cut(own)}

    def _cut(self, properties: Properties) -> Properties:
        return {key: value[: self.limit] for key, value in properties.items() if value}

    def establish(self, *, domain_is_known: bool) -> None:
        """Make the product's namespace with its properties, or adopt the one that is there.

        One that we made needs no second look at the registry: whoever changes the product before it stands there
        has to make it, and whoever comes later finds it and corrects it.
        """
        wanted = self.wanted()
        own = wanted.pop(self.product.namespace)
        if not domain_is_known:
            self._complete(wanted)
        try:
            is_ours = self.registry.make_namespace(self.product.namespace, own)
        except NoSuchNamespaceError:  # the domain is not there, whatever was known
            self._complete(wanted)
            is_ours = self.registry.make_namespace(self.product.namespace, own)
        if not is_ours or self._compare({self.product.namespace: own}):
            self.sync(promises=True)

    def sync(self, *, promises: bool) -> list[Disagreement]:
        """Write what is wrong or missing until the properties say what the registry says: what was wrong at first.

        Whoever has written anything reads the registry and then the properties again, and is done only when they
        agree. So of all who write at once the last one has seen the newest entry, and what all of them wrote.
        """
        before = found = self.compare(promises=promises)
        for _ in range(ROUNDS):
            if not found:
                return before
            self._fix(found)
            self._look_again()
            found = self.compare(promises=promises)
        there = ".".join(self.product.namespace)
        message = f"the properties of {there} do not stay as they are written: {found[0]}"
        raise FloeError(Finding("FLOE-E807", message, Place("(catalog)")))

    def disagreements(self, *, promises: bool) -> list[Disagreement]:
        """Where the properties are not what the registry says; a change that is on its way gets time to arrive."""
        if not self.compare(promises=promises):
            return []
        self.registry.retry.pause(ON_ITS_WAY)
        self._look_again()
        return self.compare(promises=promises)

    def _look_again(self) -> None:
        self.stored = Log(self.registry, ProductEntry, self.product.id).latest(self.stored) or self.stored

    def compare(self, *, promises: bool) -> list[Disagreement]:
        """Where the properties are not what was last seen of the registry; without promises only the product's."""
        if promises:
            return self._compare(self.wanted(promised(self.registry, self.product.id)))
        return [item for item in self._compare(self.wanted()) if not item.key.startswith(CONTRACTS)]

    def _compare(self, wanted: Mapping[tuple[str, ...], Properties]) -> list[Disagreement]:
        found: list[Disagreement] = []
        for namespace, properties in wanted.items():
            actual = self.properties(namespace) or {}
            mine = [key for key in actual if namespace == self.product.namespace and key.startswith(OURS)]
            found += [
                Disagreement(key, properties.get(key), actual.get(key), namespace)
                for key in dict.fromkeys((*properties, *mine))
                if properties.get(key) != actual.get(key) and not self._is_shared(key, namespace, actual)
            ]
        return found

    def _is_shared(self, key: str, namespace: tuple[str, ...], actual: Properties) -> bool:
        """The owner of a domain is what the last of its products said: only a missing one is wrong."""
        return namespace != self.product.namespace and key == DOMAIN_OWNER and key in actual

    def properties(self, namespace: tuple[str, ...]) -> Properties | None:
        """What a namespace says; None when it is not there."""
        return read_properties(self.registry, namespace)

    def _complete(self, wanted: Mapping[tuple[str, ...], Properties]) -> None:
        """Make namespaces, or have those that are there say what is wanted."""
        for namespace, properties in wanted.items():
            actual = self.properties(namespace)
            if actual is None:
                self.registry.make_namespace(namespace, properties)
                actual = self.properties(namespace) or {}
            if change := {key: value for key, value in properties.items() if actual.get(key) != value}:
                self._update(namespace, set(), change)

    def _fix(self, found: Sequence[Disagreement]) -> None:
        """Correct properties; a namespace that is missing is made. Updates and removals never mix."""
        updates: dict[tuple[str, ...], Properties] = {}
        for item in found:
            there = updates.setdefault(item.namespace, {})
            if item.expected is not None:
                there[item.key] = item.expected
        for namespace, change in updates.items():
            strange = {item.key for item in found if item.namespace == namespace and item.expected is None}
            try:
                if change:
                    self._update(namespace, set(), change)
                if strange:
                    self._update(namespace, strange, {})
            except NoSuchNamespaceError:
                self.registry.make_namespace(namespace, change)

    def _update(self, namespace: tuple[str, ...], removals: set[str], updates: Properties) -> None:
        self.registry.attempt(
            lambda: self.catalog.update_namespace_properties(namespace, removals or None, updates)
        )


def read_properties(registry: Registry, namespace: tuple[str, ...]) -> Properties | None:
    """What a namespace says; None when it is not there."""
    try:
        return dict(registry.attempt(lambda: registry.catalog.load_namespace_properties(namespace)))
    except NoSuchNamespaceError:
        return None


def product_properties(product: Product) -> Properties:
    return {
        "floe.product.id": product.id,
        "floe.product.name": as_identifier(product.name),
        "floe.product.domain": as_identifier(product.domain),
        "floe.product.owner": product.owner,
        "floe.product.repo": product.repository,
        "floe.product.path": "" if product.path is None else product.path or TOP,
        "floe.product.version": product.version,
        "floe.product.registered_at": product.registered_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "floe.product.retired": "true" if product.retired else "",
    }


def domain_properties(product: Product) -> Properties:
    return {"floe.domain.name": as_identifier(product.domain), DOMAIN_OWNER: product.domain_owner or ""}


def contract_properties(contracts: Iterable[Promise], limit: int | None) -> Properties:
    """The newest version of each contract: as many as fit, and how many do not."""
    newest: dict[str, str] = {}
    for name, version in contracts:
        if name not in newest or version_key(version) > version_key(newest[name]):
            newest[name] = version
    names = [f"{name}:{newest[name]}" for name in sorted(newest)]
    kept = list(names)
    while kept and limit is not None and len(json.dumps(kept)) > limit:
        kept.pop()
    more = len(names) - len(kept)
    return {CONTRACTS: json.dumps(kept) if names else "", MORE: str(more) if more else ""}
