"""The JSON Schemas: of the two files, so that editors complete and check them, and of what floe writes."""

from __future__ import annotations

import copy
from typing import Any

from floe_core import artifacts, run_results
from floe_core.codes import Exit
from floe_core.findings import Severity
from floe_core.schemas.aliases import ALIASES
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.values import Json

ADDRESS = "https://floe.dev/schemas"


def manifest_schema() -> Json:
    """The schema of manifest.yaml, with the other places where settings may stand."""
    schema = _finish(Manifest.model_json_schema(), "manifest")
    schema["properties"]["scope"] = _or_null(_property(schema, ("scope",)))
    for own, alias in ALIASES.items():
        setting = copy.deepcopy(_property(schema, own))
        setting["description"] = f"Another place for {'.'.join(own)}."
        setting["deprecated"] = True
        _add_property(schema, alias, setting)
    schema["properties"]["kind"] = {"enum": ["Manifest", "DomainManifest"]}
    schema["required"].remove("scope")
    says_scope = {"required": ["scope"], "properties": {"scope": {"type": "string"}}}
    schema["anyOf"] = [
        says_scope,
        {"properties": {"metadata": says_scope}},
        {"properties": {"kind": {"const": "DomainManifest"}}},
    ]
    return schema


def product_schema() -> Json:
    """The schema of floe.yaml."""
    return _finish(DataProduct.model_json_schema(), "product")


def run_schema() -> Json:
    """The schema of run_results.json."""
    return _finish(run_results.run_schema(), "run")


def artifacts_schema() -> Json:
    """The schema of compiled_artifacts.json."""
    return _finish(artifacts.artifacts_schema(), "artifacts")


def report_schema() -> Json:
    """The schema of the JSON report `floe-report/1`."""
    position = {"path": {"type": "string"}, "line": COUNTED, "column": COUNTED}
    text, text_or_null = {"type": "string"}, {"type": ["string", "null"]}
    related = _object({**position, "message": text})
    finding = _object(
        {
            "code": {"type": "string"},
            "severity": {"enum": [severity.value for severity in Severity]},
            **position,
            "message": text,
            "why": text,
            "fix": text,
            "expected": text_or_null,
            "actual": text_or_null,
            "docs": {"type": "string", "format": "uri"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "related": {"type": "array", "items": related},
        }
    )
    report = _object(
        {
            "schema": {"const": "floe-report/1"},
            "command": text,
            "exit_code": {"enum": [int(ending) for ending in Exit]},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
            "errors": {"type": "array", "items": {"$ref": "#/$defs/Finding"}},
            "summary": {"type": "object"},
        }
    )
    return _finish({"title": "Report", **report, "$defs": {"Finding": finding}}, "report")


COUNTED = {"type": "integer", "minimum": 1}


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _finish(schema: Json, name: str) -> Json:
    tidy: Json = _tidy(schema)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{ADDRESS}/{name}.json",
        "title": tidy.pop("title", name),
        **tidy,
    }


def _tidy(schema: Any, names: bool = False) -> Any:
    """Without the titles that only repeat a key, and without `default: null`. `names`: keys are the user's."""
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {
        key: _tidy(value, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if names or (key != "title" and (key, value) != ("default", None))
    }
    if "patternProperties" in tidy and not names:
        tidy["additionalProperties"] = False  # pydantic leaves open what keys of another form may hold
    return tidy


def _or_null(setting: Json) -> Json:
    """The same setting, also when nothing stands behind its key."""
    description = setting.pop("description")
    return {"anyOf": [setting, {"type": "null"}], "description": description}


def _block(schema: Json, part: Json) -> Json:
    """The object schema behind a reference, or among the alternatives."""
    for option in part.get("anyOf", [part]):
        if "$ref" in option:
            return _block(schema, schema["$defs"][option["$ref"].rpartition("/")[2]])
        if "properties" in option:
            block: Json = option
            return block
    raise LookupError(part)


def _property(schema: Json, path: tuple[str, ...]) -> Json:
    part = schema
    for step in path:
        part = _block(schema, part)["properties"][step]
    return part


def _add_property(schema: Json, path: tuple[str, ...], setting: Json) -> None:
    block = schema
    for step in path[:-1]:
        properties = block["properties"]
        properties.setdefault(
            step, {"type": ["object", "null"], "deprecated": True, "properties": {}, "additionalProperties": False}
        )
        block = _block(schema, properties[step])
    block["properties"][path[-1]] = setting
