"""A run writes only where its product is at home: asked before it builds, and again before it publishes."""

from __future__ import annotations

import os
from dataclasses import replace

from floe_core.catalog import CatalogPlugin
from floe_core.claims import claim_of, judge, retry_of, rules_of
from floe_core.env import Spec
from floe_core.findings import Finding, FloeError, Severity
from floe_core.git import look
from floe_core.identity import IdentityStatus
from floe_core.schemas.levels import IdentityEnforcement

CONFLICTS = {"FLOE-E601", "FLOE-E603", "FLOE-E608", "FLOE-E610"}
REGISTER_FIRST = "Commit the product's folder and run `floe compile`, or `floe product register`; then run again."


def refuse_strangers(spec: Spec, catalog: CatalogPlugin) -> None:
    """Raise when the namespace is somebody else's, or has to be registered first and is not.

    A conflict may be a warning at compile, where nothing is written; here it never is. Where identity is off nobody
    asks.
    """
    rules = rules_of(spec.merged)
    if rules.level is IdentityEnforcement.OFF:
        return
    catalog.retry = retry_of(spec.merged)
    checkout = look(spec.folder)
    claim = claim_of(spec.chain, checkout)
    found = catalog.validate_product_identity(claim.id, claim.repository, claim.path)
    if found.status is IdentityStatus.AVAILABLE and rules.level >= IdentityEnforcement.REGISTER:
        rules = replace(rules, level=IdentityEnforcement.ENFORCE, auto_register=False)
    findings = judge(claim, rules, found, checkout, os.environ, check=False)
    if blocking := [item for item in map(_as_of_a_run, findings) if item.blocks]:
        raise FloeError(*blocking)


def _as_of_a_run(item: Finding) -> Finding:
    if item.code in CONFLICTS:
        return replace(item, severity=Severity.ERROR)
    return replace(item, fix=REGISTER_FIRST) if item.code == "FLOE-E602" else item
