"""Which contract versions a product stands by, from the names of the registry's tables as far as they tell."""

from __future__ import annotations

import re

from floe_iceberg.entries import ContractEntry, logs, parse, stem
from floe_iceberg.registry import Registry

Promise = tuple[str, str]  # a contract's name and version

_TOLD = re.compile(r"([a-z0-9]+(?:_[a-z0-9]+)*)__(\d+_\d+_\d+)")


def promised(registry: Registry, product: str) -> list[Promise]:
    """Every version of a product's contracts that is not retired."""
    found = []
    prefix = f"{stem(ContractEntry, product)}__"
    for name, numbers in logs(registry.names(), prefix).items():
        if len(numbers) > 1:
            continue  # its second entry retires it
        if told := _TOLD.fullmatch(name.removeprefix(prefix)):
            found.append((told[1], told[2].replace("_", ".")))
        elif fact := registry.get(f"{name}__1"):
            contract = parse(ContractEntry, f"{name}__1", fact).contract
            found.append((contract.name, contract.version))
    return found


def version_key(version: str) -> tuple[tuple[int, ...], str]:
    """Versions in their order; what is not X.Y.Z comes first."""
    parts = version.split(".")
    numbers = tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()
    return numbers, version
