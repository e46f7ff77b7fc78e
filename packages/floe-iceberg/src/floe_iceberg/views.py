"""Views as their metadata says them: whether one shows what it should, and what makes it do so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from floe_iceberg.updates import Json, canonical

NEWEST = -1  # stands for what the same request has added


@dataclass(frozen=True, slots=True)
class NewView:
    """A view that is not there yet. Where its metadata goes the service decides: the staged file is not kept."""

    schema: Json
    version: Json
    properties: Json


@dataclass(frozen=True, slots=True)
class ViewChange:
    """What makes a view another."""

    uuid: str
    updates: tuple[Json, ...]


def shows(stands: Json, wanted: Json) -> bool:
    """Whether a view has the query and the schema that another one's metadata says."""
    return bool(_content(stands, _current(stands)) == _content(wanted, _current(wanted)))


def to_show(stands: Json | None, wanted: Json) -> NewView | ViewChange:
    """What makes it so."""
    version = _current(wanted)
    schema = _schema(wanted, version)
    if stands is None:
        return NewView(schema, {**version, "version-id": 1}, wanted.get("properties") or {})
    return ViewChange(stands["view-uuid"], (*_version_updates(stands, wanted), *_property_updates(stands, wanted)))


def _version_updates(stands: Json, wanted: Json) -> list[Json]:
    version = _current(wanted)
    known = [each for each in stands["versions"] if _content(stands, each) == _content(wanted, version)]
    if known:
        return [{"action": "set-current-view-version", "view-version-id": known[-1]["version-id"]}]
    schema = _schema(wanted, version)
    same = [each["schema-id"] for each in stands["schemas"] if _unnumbered(each) == _unnumbered(schema)]
    added = {"action": "add-schema", "schema": schema, "last-column-id": _last_column(schema)}
    number = max(each["version-id"] for each in stands["versions"]) + 1
    return [
        *([] if same else [added]),
        {
            "action": "add-view-version",
            "view-version": {**version, "version-id": number, "schema-id": same[-1] if same else NEWEST},
        },
        {"action": "set-current-view-version", "view-version-id": NEWEST},
    ]


def _property_updates(stands: Json, wanted: Json) -> list[Json]:
    before, after = stands.get("properties") or {}, wanted.get("properties") or {}
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    removed = sorted(before.keys() - after.keys())
    return [
        *([{"action": "set-properties", "updates": changed}] if changed else []),
        *([{"action": "remove-properties", "removals": removed}] if removed else []),
    ]


def _current(metadata: Json) -> Json:
    found: Json = next(
        each for each in metadata["versions"] if each["version-id"] == metadata["current-version-id"]
    )
    return found


def _schema(metadata: Json, version: Json) -> Json:
    found: Json = next(each for each in metadata["schemas"] if each["schema-id"] == version["schema-id"])
    return found


def _content(metadata: Json, version: Json) -> Any:
    kept = ("representations", "default-catalog", "default-namespace")
    return canonical({key: version.get(key) for key in kept}), _unnumbered(_schema(metadata, version))


def _unnumbered(schema: Json) -> Any:
    return {key: value for key, value in canonical(schema).items() if key != "schema-id"}


def _last_column(value: Any) -> int:
    """The largest number of a column, nested ones included."""
    if isinstance(value, dict):
        own = [
            number
            for key in ("id", "element-id", "key-id", "value-id")
            if isinstance(number := value.get(key), int)
        ]
        return max([0, *own, *map(_last_column, value.values())])
    return max(map(_last_column, value), default=0) if isinstance(value, list) else 0
