"""Documents under construction that remember where each of their values comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from floe_contracts.shorthand import logical_type
from floe_core.contract import Json, Origin
from floe_core.source import KeyPath

Find: TypeAlias = Callable[[KeyPath], Origin]


@dataclass(slots=True)
class Writer:
    """A document that remembers where each of its values came from."""

    data: Json = field(default_factory=dict)
    origins: dict[KeyPath, Origin] = field(default_factory=dict)

    def put(self, block: Json, path: KeyPath, values: Mapping[str, Any], origin: Find) -> None:
        for key, value in values.items():
            if value not in (None, "", [], {}) and key not in block:
                block[key] = value
                self.origins[(*path, key)] = origin((key,))


def finder(origins: Mapping[KeyPath, Origin], start: Origin) -> Find:
    """Where a value comes from: itself, or the nearest block around it that is known."""

    def find(path: KeyPath) -> Origin:
        for end in range(len(path), 0, -1):
            if path[:end] in origins:
                return origins[path[:end]]
        return start

    return find


def types(written: str) -> Json:
    logical = logical_type(written.casefold())
    return {"logicalType": logical, "physicalType": None if logical == written else written}
