"""What the tests register."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Actor, Consumer, ContractMetadata, ProductMetadata, RegistrationResult
from floe_core.namespaces import Namespace

OURS = "github.com/acme/ours"
THEIRS = "github.com/acme/theirs"
OWNER = "team@acme.com"
ACTOR = Actor(repository=OURS, run="https://ci.acme.com/7", user="ada", commit="c0ffee")
THEN = datetime(2026, 1, 3, 10, tzinfo=UTC)
DOCUMENT = "kind: DataContract\nname: customers\n"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim as one of several repositories makes it."""

    product: str
    repository: str = OURS

    def arguments(self) -> tuple[str, str, str, str]:
        return "register_product_identity", self.product, self.repository, OWNER


def namespace_of(catalog: CatalogPlugin, product: str) -> Namespace:
    """Where a product lives, or would."""
    domain, _, name = product.partition(".")
    return Namespace(domain, name, catalog.capabilities.nested_namespaces)


def metadata(product: str, **changes: Any) -> ProductMetadata:
    domain, _, name = product.partition(".")
    said = {"name": name, "domain": domain, "owner": OWNER, "repository": OURS, "version": "1.0.0", **changes}
    return ProductMetadata(**said, registered_at=THEN)


def contract(**changes: Any) -> ContractMetadata:
    said = {"owner": OWNER, "document": DOCUMENT, "document_hash": "d1", "repository": OURS, **changes}
    return ContractMetadata(**said, registered_at=THEN)


def consumer(product: str, **changes: Any) -> Consumer:
    said = {"product": product, "contract": "customers", "version": "^1", "port": "customers", **changes}
    return Consumer(**said, registered_at=THEN)


def claimed(catalog: CatalogPlugin, product: str, repository: str = OURS) -> RegistrationResult:
    """A product that is registered, whatever the test is about."""
    result = catalog.register_product_identity(product, repository, OWNER, by=Actor(repository=repository))
    assert result.status == "created", result
    return result
