"""What is registered of a product's contracts: from the catalog, or from what was last seen of it here."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pydantic

from floe_core.catalog import CatalogPlugin
from floe_core.files import cache_folder, write_atomically
from floe_core.findings import Finding, FloeError
from floe_core.identity import RegisteredContract

_FORM = pydantic.TypeAdapter(list[RegisteredContract], config=pydantic.ConfigDict(defer_build=True))


@dataclass(frozen=True, slots=True)
class Baselines:
    """Registered contract versions. `unanswered`: the catalog did not answer, and these are the last ones seen."""

    contracts: tuple[RegisteredContract, ...]
    unanswered: tuple[Finding, ...] = ()


def baselines(plugin: CatalogPlugin, product_id: str, unanswered: tuple[Finding, ...] = ()) -> Baselines:
    """What is registered. Raises FloeError when the catalog does not answer and nothing has been seen before.

    `unanswered`: it has been asked already, in vain.
    """
    cache = _cache(plugin, product_id)
    try:
        if unanswered:
            raise FloeError(*unanswered)
        found = plugin.list_registered_contracts(product_id)
    except FloeError as exc:
        if (seen := _read(cache)) is None:
            raise
        return Baselines(tuple(seen), exc.findings)
    with suppress(OSError):  # a cache that cannot be written remembers nothing; the answer is as good
        write_atomically(cache, _FORM.dump_json(found))
    return Baselines(tuple(found))


def are_known(plugin: CatalogPlugin, product_id: str) -> bool:
    """Whether they have been seen here before, whatever the catalog says now."""
    return _read(_cache(plugin, product_id)) is not None


def _cache(plugin: CatalogPlugin, product_id: str) -> Path:
    where = hashlib.sha256(f"{plugin.name}\0{plugin.describe()}".encode()).hexdigest()[:16]
    return cache_folder() / "contracts" / where / f"{product_id}.json"


def _read(cache: Path) -> list[RegisteredContract] | None:
    """What was seen; a file that cannot be read has seen nothing."""
    try:
        return _FORM.validate_json(cache.read_bytes())
    except (OSError, pydantic.ValidationError):
        return None
