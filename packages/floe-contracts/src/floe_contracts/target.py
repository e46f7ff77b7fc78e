"""A product that a command line names, with its contracts as a compile sees them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from floe_contracts.reference import Target
from floe_contracts.stage import read_all, versioning
from floe_core.compile import follow, load, merge
from floe_core.contracts import one_manifest
from floe_core.dbt import read_dbt
from floe_core.env import Env, Spec
from floe_core.findings import Finding, FloeError
from floe_core.rules.judge import read_project


def product_at(path: Path, name: str, progress: Callable[[str], None]) -> Target:
    """The contracts of a product, completed by its ports, by dbt and by what they inherit; `name` picks one.

    Raises FloeError. Nothing is written beside the product: dbt works in floe's cache.
    """
    chain, _ = follow(load(path)[0])
    merged, weakenings = merge(chain)
    dbt, broken = read_dbt(Spec(chain, merged), Env(read_project=read_project, check=True), progress)
    contracts, findings = read_all(chain.product, one_manifest(dbt.read()), merged)
    chosen = tuple(contract for contract in contracts if name in ("", contract.name))
    found = (*weakenings, *broken, *findings)
    if not chosen and not any(item.blocks for item in found):
        message = f"the product has no contract {name[:60]!r}" if name else "the product has no contract"
        known = ", ".join(contract.name for contract in contracts) or "none"
        fix = f"Use one of {known}." if contracts else ""
        raise FloeError(Finding("FLOE-E500", message, chain.product.place(), expected=known, fix=fix))
    return Target(chosen, found, versioning(merged))
