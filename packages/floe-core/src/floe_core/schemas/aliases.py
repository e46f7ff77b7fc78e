"""Other places where a setting may stand: read there, and moved to its own place."""

from __future__ import annotations

from types import NoneType
from typing import Any

from pydantic_core import PydanticCustomError

ALIASES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("scope",): ("metadata", "scope"),
    ("governance", "quality_gates", "minimum_test_coverage"): ("test_coverage", "min"),
    ("governance", "quality_gates"): ("quality_gates",),
    ("identity", "registration"): ("registration",),
}


def written_path(path: tuple[str | int, ...], has: Any) -> tuple[str | int, ...]:
    """Where a setting stands in the file: its own place, or the alias that `has` finds there."""
    for own, alias in ALIASES.items():
        if path[: len(own)] == own and not has(own) and has(alias):
            return (*alias, *path[len(own) :])
    return path


def fold_aliases(data: Any) -> Any:
    """The same data with every alias moved to its own place."""
    if not isinstance(data, dict):
        return data
    if data.get("kind") == "DomainManifest":
        data = _put({**data, "kind": "Manifest"}, ("scope",), "domain", ("kind",), ("scope",))
    for own, alias in reversed(ALIASES.items()):
        data, value = _take(data, alias)
        if value is not _ABSENT:
            data = _put(data, own, value, alias, own)
    return data


_ABSENT = object()


def _take(data: dict[str, Any], path: tuple[str, ...]) -> tuple[dict[str, Any], Any]:
    """The data without the value at `path`, and that value."""
    head, *rest = path
    if head not in data:
        return data, _ABSENT
    others = {name: value for name, value in data.items() if name != head}
    if data[head] is None:
        return others, _ABSENT
    if not rest:
        return others, data[head]
    if not isinstance(data[head], dict):
        return data, _ABSENT
    inner, value = _take(data[head], tuple(rest))
    return ({**others, head: inner} if inner or head == "metadata" else others), value


def _put(
    data: dict[str, Any], path: tuple[str, ...], value: Any, alias: tuple[str, ...], own: tuple[str, ...]
) -> dict[str, Any]:
    """The data with `value` at `path`; another value that is already there is an error."""
    head, *rest = path
    present = data.get(head)
    if not rest:
        if present is not None and _folded(present) != _folded(value):
            raise PydanticCustomError(
                "E127",
                "{alias} and {own} say different things",
                {"alias": ".".join(alias), "own": ".".join(own), "at": alias},
            )
        return {**data, head: value}
    if not isinstance(present, dict | NoneType):
        return data  # not a block: its own type error says so
    return {**data, head: _put(present or {}, tuple(rest), value, alias, own)}


def _folded(value: Any) -> Any:
    """Words are read in any case, so Domain and domain say the same."""
    return value.casefold() if isinstance(value, str) else value
