"""Judges lineage events by OpenLineage's published schemas and by floe's own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

OPENLINEAGE = "https://openlineage.io/spec/2-0-2/OpenLineage.json"


def own_schemas() -> dict[str, Any]:
    """floe's facet schemas, by file name."""
    folder = files("floe_telemetry").joinpath("facets")
    return {item.name: json.loads(item.read_text()) for item in folder.iterdir() if item.name.endswith(".json")}


def _spec_folder() -> Path:
    if said := os.environ.get("FLOE_OPENLINEAGE_SPEC"):
        return Path(said)
    checkout = next(
        (path for path in Path(__file__).parents if (path / "packages").is_dir()), Path(__file__).parent
    )
    return checkout.parent / "shared" / "openlineage-spec"


@cache
def _published() -> dict[str, Any]:
    folder = _spec_folder()
    return {
        schema["$id"]: schema
        for path in sorted(folder.glob("**/*.json"))
        for schema in (json.loads(path.read_text(encoding="utf-8")),)
    }


def demand_valid(events: list[dict[str, Any]]) -> None:
    """Every event and every facet is valid by the schema that it names."""
    assert events
    for event in events:
        _judge({schema["$id"]: schema for schema in own_schemas().values()}, _own_facets(event))
    if not _published():
        pytest.skip(f"OpenLineage's schemas are not in {_spec_folder()}; FLOE_OPENLINEAGE_SPEC names their folder")
    for event in events:
        _judge(_published(), [(OPENLINEAGE, event)])
        _judge(
            _published(), [(url, facet) for url, facet in _facets(event) if url.startswith("https://openlineage")]
        )


def _judge(schemas: dict[str, Any], judged: list[tuple[str, Any]]) -> None:
    registry = jsonschema_rs.Registry(list(schemas.items()))
    for url, value in judged:
        validator = jsonschema_rs.Draft202012Validator({"$ref": url}, registry=registry, validate_formats=True)
        assert [str(error) for error in validator.iter_errors(value)] == []


def _own_facets(event: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(url, facet) for url, facet in _facets(event) if url.startswith("https://floe.dev/")]


def _facets(event: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    datasets = [*event["inputs"], *event["outputs"]]
    for owner in (event["run"], event["job"], *datasets):
        for kind in ("facets", "inputFacets", "outputFacets"):
            for facet in owner.get(kind, {}).values():
                yield facet["_schemaURL"], facet
