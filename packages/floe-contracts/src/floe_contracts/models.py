"""What dbt knows of a table: columns, types, descriptions, keys, classes, and tests as rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from floe_contracts.writer import Find, Writer, types
from floe_core.contract import Json, Origin
from floe_core.findings import Place
from floe_core.places import Places
from floe_core.project import Column, RawManifest, RawNode
from floe_core.source import KeyPath

TESTED = ("model", "seed", "snapshot")
NO_FAILURE = "!=0"


@dataclass(frozen=True)
class Models:
    """dbt's manifest, and the folders of the projects that it describes."""

    manifest: RawManifest | None = None
    folders: Sequence[Path] = ()
    _places: dict[Path, Places] = field(default_factory=dict, repr=False)

    @cached_property
    def nodes(self) -> Mapping[str, RawNode]:
        nodes = self.manifest.nodes.values() if self.manifest else ()
        return {node.name: node for node in nodes if node.resource_type in TESTED and node.config.enabled}

    def tests_of(self, node: RawNode) -> list[RawNode]:
        return [
            item
            for item in (self.manifest.nodes.values() if self.manifest else ())
            if item.resource_type == "test" and item.attached_node == node.unique_id and item.config.enabled
        ]

    def places(self, node: RawNode) -> Places:
        """The files of the node's project."""
        file = node.original_file_path.lstrip("/")
        folders = [folder for folder in self.folders if (folder / file).is_file()]
        home = next(iter((*folders, *self.folders)), Path())
        return self._places.setdefault(home, Places(home))


def enrich(writer: Writer, block: Json, path: KeyPath, node: RawNode, models: Models) -> None:
    """Complete a table from its dbt model."""
    places = models.places(node)
    lines = places.columns(node)
    keys = _keys(node)
    writer.put(block, path, {"description": node.description}, _at(places.value(node, "description")))
    by_name = {entry["name"]: number for number, entry in enumerate(block["properties"])}
    for name, column in node.columns.items():
        origin = _at(lines.get(name.casefold()) or places.entry(node))
        if name not in by_name:
            by_name[name] = len(block["properties"])
            block["properties"].append({})
            writer.put(block["properties"][-1], (*path, "properties", by_name[name]), {"name": name}, origin)
        entry = block["properties"][by_name[name]]
        writer.put(entry, (*path, "properties", by_name[name]), _column(column, entry, name in keys), origin)
    for test in models.tests_of(node):
        name = test.column_name or ""
        if name in by_name and _is_promise(test):
            at = (*path, "properties", by_name[name])
            origin = _at(lines.get(name.casefold()) or places.entry(node))
            _promise(writer, block["properties"][by_name[name]], at, test, origin)


def _at(place: Place) -> Find:
    return lambda path: Origin("dbt", place)  # noqa: ARG005 - all of an entry stands in one place


def _keys(node: RawNode) -> set[str]:
    """The columns of the primary key, as a constraint or as `meta.floe.primary_key` names them."""
    meta = node.all_meta.get("floe")
    named = meta.get("primary_key") if isinstance(meta, dict) else None
    keys = {item for item in named if isinstance(item, str)} if isinstance(named, list) else set()
    return keys | {name for item in node.constraints if item.type == "primary_key" for name in item.columns}


def _column(column: Column, entry: Json, is_key: bool) -> Json:
    meta = column.meta.get("floe")
    floe: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    constraints = {item.type for item in column.constraints}
    classes = floe.get("classification") or column.meta.get("classification")
    typed = "logicalType" in entry or "physicalType" in entry
    return {
        **(types(column.data_type) if column.data_type and not typed else {}),
        "description": column.description,
        "required": True if constraints & {"not_null", "primary_key"} else None,
        "primaryKey": True if is_key or floe.get("primary_key") is True or "primary_key" in constraints else None,
        "unique": True if "unique" in constraints else None,
        "classification": ", ".join(map(str, classes)) if isinstance(classes, list) else classes,
    }


def _is_promise(test: RawNode) -> bool:
    """Whether a test lets no row pass: one that warns, looks at some rows, or bears failures promises nothing."""
    known, config = test.test_metadata, test.config
    return (
        known is not None
        and known.namespace in (None, "dbt")
        and not config.where
        and "".join(config.error_if.split()) == NO_FAILURE
        and config.severity.casefold() != "warn"
    )


def _promise(writer: Writer, entry: Json, at: KeyPath, test: RawNode, origin: Find) -> None:
    """A dbt test as what it promises; tests that ODCS has no word for stay dbt's."""
    arguments = test.test_metadata.kwargs if test.test_metadata else {}
    match test.test_name:
        case "not_null":
            writer.put(entry, at, {"required": True}, origin)
        case "unique":
            writer.put(entry, at, {"unique": True}, origin)
        case "accepted_values" if isinstance(values := arguments.get("values"), list):
            rule = {"name": test.name, "metric": "invalidValues", "arguments": {"validValues": values}, "mustBe": 0}
            rules = [*entry.get("quality", ()), rule]
            entry["quality"] = rules
            writer.origins[(*at, "quality", len(rules) - 1)] = origin(())
