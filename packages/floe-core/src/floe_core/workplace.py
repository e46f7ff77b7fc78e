"""Where a command that needs the registry is run: a product's folder, or a platform's, and their catalog."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from floe_core.catalog import CatalogPlugin, catalog_for, catalog_of
from floe_core.claims import Claim, Rules, claim_of, retry_of, rules_of
from floe_core.compile import follow, load, merge
from floe_core.findings import Finding, FloeError, Place
from floe_core.git import Checkout, look
from floe_core.identity import Actor
from floe_core.load import load_manifest
from floe_core.merge import Merged, merge_tiers
from floe_core.patience import OF_A_PERSON, Patience
from floe_core.repository import is_same, proofs
from floe_core.resolve import Chain, ancestry, manifest_tiers
from floe_core.schemas.levels import IdentityEnforcement
from floe_core.schemas.manifest import Scope

MANIFEST = "manifest.yaml"


@dataclass(frozen=True, slots=True)
class Workplace:
    """The catalog, and who stands there."""

    catalog: CatalogPlugin
    merged: Merged
    checkout: Checkout
    domain: str | None  # None: an enterprise, which has many
    chain: Chain | None  # None: a platform's folder, not a product's

    def product(self, named: str | None) -> str:
        """The product that is named, or the one whose folder this is."""
        if named:
            return named
        if self.chain:
            return self.chain.product_id
        raise FloeError(Finding("FLOE-E631", "no product is named, and this is no product's folder", COMMAND_LINE))

    def claim(self) -> tuple[Claim, Rules]:
        """This product's claim, and the rules as for whoever registers by hand: as strict as they can be."""
        if self.chain is None:
            message = "this is no product's folder"
            raise FloeError(Finding("FLOE-E100", message, COMMAND_LINE, fix="Name the folder of a product."))
        rules = replace(rules_of(self.merged), level=IdentityEnforcement.ENFORCE, auto_register=True)
        return claim_of(self.chain, self.checkout), rules

    def actor(self, product: str) -> Actor:
        """Whoever runs this; the checkout counts as the owner's when one of its remotes is."""
        known = proofs(self.checkout.remotes, os.environ)
        owner = self.catalog.get_namespace_owner(product) or ""
        repository = next((item for item in known if is_same(item, owner)), known[0] if known else "")
        return Actor.here(repository=repository, commit=self.checkout.commit or "")


COMMAND_LINE = Place("(command line)")


def workplace(folder: Path) -> Workplace:
    """The catalog that a folder's floe.yaml or manifest.yaml leads to."""
    path = folder.absolute()
    manifest = path / MANIFEST if path.is_dir() else path
    if manifest.name != "floe.yaml" and manifest.is_file() and not (path / "floe.yaml").exists():
        return _of_platform(manifest)
    chain = follow(load(path)[0])[0]
    merged, findings = merge(chain)
    _stop(findings)
    catalog = catalog_of(chain, merged)
    catalog.retry, catalog.patience = retry_of(merged), Patience(OF_A_PERSON)
    return Workplace(catalog, merged, look(chain.product.folder), chain.domain, chain)


def _of_platform(path: Path) -> Workplace:
    manifests = ancestry(load_manifest(path))
    merged, findings = merge_tiers(manifest_tiers(manifests))
    _stop(findings)
    lowest = manifests[-1].document
    catalog = catalog_for(manifests, merged)
    catalog.retry, catalog.patience = retry_of(merged), Patience(OF_A_PERSON)
    domain = lowest.metadata.name if lowest.scope is Scope.DOMAIN else None
    return Workplace(catalog, merged, look(path.parent), domain, None)


def _stop(findings: list[Finding]) -> None:
    if blocking := [item for item in findings if item.blocks]:
        raise FloeError(*blocking)
