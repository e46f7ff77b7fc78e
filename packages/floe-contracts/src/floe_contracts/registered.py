"""Contracts that the catalog keeps, and who reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from floe_contracts.meaning import understand
from floe_contracts.read import parse_draft
from floe_contracts.reference import CATALOG
from floe_contracts.version import release
from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import Consumer, RegisteredContract
from floe_core.workplace import Workplace, workplace

_RANGE = re.compile(r"([\^~]?)(\d+(?:\.\d+){0,2})")
HOW = "Write catalog:[PRODUCT/]CONTRACT[:VERSION], like catalog:sales.crm/customers:1.0.0."


@dataclass(frozen=True, slots=True)
class Name:
    """What a reference like catalog:sales.crm/customers:1.0.0 names."""

    product: str | None
    contract: str
    version: str | None

    @classmethod
    def parse(cls, reference: str) -> Name:
        product, slash, rest = reference.removeprefix(CATALOG).rpartition("/")
        contract, colon, version = rest.partition(":")
        if not contract or (slash and not product) or (colon and not version):
            raise FloeError(Finding("FLOE-E100", f"{reference} names no contract", Place(reference), fix=HOW))
        return cls(product or None, contract, version or None)


def contract_in_catalog(reference: str, folder: Path = Path()) -> Contract:
    """The contract version that a reference names; without a version the newest that is not retired."""
    name, here = Name.parse(reference), workplace(folder)
    product = here.product(name.product)
    found = [item for item in here.catalog.list_registered_contracts(product) if item.name == name.contract]
    chosen = [item for item in found if item.version == name.version or (name.version is None and not item.retired)]
    if not chosen:
        known = ", ".join(item.version for item in found) or "none"
        message = f"{product} has not registered {name.contract}{f' {name.version}' if name.version else ''}"
        raise FloeError(Finding("FLOE-E632", message, Place(reference), fix=f"Registered versions: {known}."))
    return restored(max(chosen, key=_release), product)


def _release(item: RegisteredContract) -> tuple[int, int, int]:
    return release(item.version) or (0, 0, 0)


def restored(item: RegisteredContract, product: str = "") -> Contract:
    """A registered contract with its meaning; its name and version are those of the registry."""
    draft, _ = parse_draft(item.document.encode(), f"{CATALOG}{item.id(product).removeprefix('/')}")
    return replace(understand(draft), name=item.name, version=item.version)


def is_within(version: tuple[int, ...], written: str) -> bool:
    """Whether a range like ^1, ~1.2 or 1.2.0 holds a version; one that floe cannot read holds all."""
    found = _RANGE.fullmatch(written.strip())
    if not found:
        return True
    least = tuple(int(number) for number in found[2].split("."))
    fixed = {"^": 1, "~": 2}.get(found[1], len(least))
    return version[:fixed] == least[:fixed] and version[: len(least)] >= least


def registered_here(here: Workplace, named: str | None) -> list[str]:
    """The product that is named, or whose folder this is; in a platform's folder, every one."""
    if named or here.chain:
        return [here.product(named)]
    return [item.id for item in here.catalog.list_products() if here.domain in (None, item.domain)]


def is_read_by(item: RegisteredContract, reader: Consumer) -> bool:
    return reader.contract == item.name and is_within(_release(item), reader.version)
