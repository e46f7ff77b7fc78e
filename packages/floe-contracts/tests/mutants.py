"""One rich contract per version of ODCS, and every contract that differs from it in one place."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from floe_contracts.schemas import VERSIONS, schema_text
from floe_core.source import KeyPath

_LINK = [{"url": "https://acme.com/x", "type": "doc"}]
_CUSTOM = [{"property": "x", "value": 1}]
_COLUMN = {
    "name": "id",
    "logicalType": "string",
    "logicalTypeOptions": {"minLength": 1, "maxLength": 9, "pattern": "a+", "format": "email"},
    "physicalType": "varchar(9)",
    "physicalName": "id_",
    "description": "d",
    "businessName": "b",
    "required": True,
    "unique": True,
    "primaryKey": True,
    "primaryKeyPosition": 1,
    "partitioned": False,
    "partitionKeyPosition": -1,
    "classification": "pii",
    "encryptedName": "e",
    "transformSourceObjects": ["t"],
    "transformLogic": "l",
    "transformDescription": "d",
    "examples": ["a"],
    "criticalDataElement": True,
    "tags": ["t"],
    "authoritativeDefinitions": _LINK,
    "customProperties": _CUSTOM,
}
_MEMBER = {
    "username": "a@acme.com",
    "name": "A",
    "role": "owner",
    "dateIn": "2026-01-01",
    "dateOut": "2026-01-02",
    "replacedByUsername": "b",
    "description": "d",
}
_SLA = {
    "property": "freshness",
    "value": 4,
    "valueExt": 5,
    "unit": "d",
    "element": "orders.id",
    "driver": "regulatory",
}
_RULES = [
    {"type": "text", "description": "d"},
    {"type": "sql", "query": "select 1", "mustBeBetween": [1, 2], "severity": "error", "dimension": "accuracy"},
    {"type": "custom", "engine": "soda", "implementation": "x"},
]
_SERVER = {"server": "s", "type": "postgres", "host": "h", "port": 1, "database": "d", "schema": "s"}
_ROOT = {
    "kind": "DataContract",
    "id": "orders",
    "name": "orders",
    "version": "1.0.0",
    "status": "active",
    "tenant": "t",
    "domain": "d",
    "dataProduct": "p",
    "tags": ["t"],
    "description": {"purpose": "p", "usage": "u", "limitations": "l", "customProperties": _CUSTOM},
    "servers": [_SERVER],
    "support": [{"channel": "c", "url": "https://acme.com/s", "tool": "slack"}],
    "price": {"priceAmount": 1, "priceCurrency": "EUR", "priceUnit": "GB"},
    "roles": [{"role": "r", "access": "read"}],
    "slaDefaultElement": "orders.id",
    "authoritativeDefinitions": _LINK,
    "customProperties": _CUSTOM,
    "contractCreatedTs": "2026-01-01T00:00:00Z",
}
_AMOUNT = {"name": "amount", "logicalType": "number", "logicalTypeOptions": {"minimum": 0, "multipleOf": 0.5}}
_TAGS = {"name": "tags", "logicalType": "array", "items": {"logicalType": "string"}}
_ADDRESS = {"name": "address", "logicalType": "object", "properties": [{"name": "zip", "logicalType": "integer"}]}


def rich(version: str) -> dict[str, Any]:
    """A contract that uses nearly every key of the version."""
    old = version == "v3.0.2"
    metric = "rule" if old else "metric"
    column: dict[str, Any] = {**_COLUMN, "quality": [{metric: "nullValues", "mustBe": 0, "unit": "percent"}]}
    more: list[dict[str, Any]] = []
    if not old:
        column |= {"id": "c1", "relationships": [{"to": "orders.amount"}]}
        more.append({"name": "at", "logicalType": "timestamp", "logicalTypeOptions": {"timezone": True}})
    if version == "v3.2.0":
        column |= {"deprecated": True, "enum": [{"value": "a"}]}
    table = {
        "name": "orders",
        "physicalName": "orders_1",
        "physicalType": "table",
        "logicalType": "object",
        "description": "d",
        "businessName": "b",
        "dataGranularityDescription": "g",
        "tags": ["t"],
        "authoritativeDefinitions": _LINK,
        "customProperties": _CUSTOM,
        "properties": [column, _AMOUNT, _TAGS, _ADDRESS, *more],
        "quality": _RULES,
    }
    team: Any = [_MEMBER] if old else {"name": "crew", "members": [_MEMBER]}
    return copy.deepcopy({"apiVersion": version, **_ROOT, "schema": [table], "slaProperties": [_SLA], "team": team})


@dataclass(frozen=True, slots=True)
class Mutant:
    """One difference: what was done, where, and what came out."""

    kind: str
    path: KeyPath
    data: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.kind} {'.'.join(map(str, self.path))}"


def mutants(data: dict[str, Any]) -> Iterator[Mutant]:
    """Every key removed, every value of another type, every text another text, an unknown key everywhere."""
    for path, value in _walk(data, ()):
        if path and isinstance(path[-1], str):
            yield Mutant("removed", path, _changed(data, path, None, remove=True))
        if path:
            yield Mutant("retyped", path, _changed(data, path, _other_type(value)))
        if isinstance(value, str) and path:
            yield Mutant("respelt", path, _changed(data, path, "floe-no-such-word"))
        if isinstance(value, dict):
            yield Mutant("extended", path, _changed(data, (*path, "floeUnknown"), 1))


def small(version: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A small contract for each kind of block that the rich one leaves out: servers of every type, news of 3.2."""
    head = {"apiVersion": version, "kind": "DataContract", "id": "x", "version": "1.0.0", "status": "active"}
    for name, server in _servers(json.loads(schema_text(VERSIONS[version]))):
        yield name, {**head, "servers": [server]}
    if version == "v3.2.0":
        for name, block in _NEWS.items():
            yield name, {**head, "schema": [{"name": "t", "properties": [{"name": "c", **block}]}]}
        statement = {"question": "q", "answer": "a"}
        context = {"instructions": "i", "verifiedStatements": [statement], "constraints": [{"constraint": "c"}]}
        yield "context", {**head, "context": context}


def small_mutants(version: str) -> Iterator[tuple[str, Mutant]]:
    """Every contract that differs from a small one in the block that this is about, with a name."""
    for name, data in small(version):
        for mutant in mutants(data):
            if len(mutant.path) > 1 or mutant.path == ("context",):
                yield f"{name}: {mutant.name}", mutant


_NEWS: dict[str, dict[str, Any]] = {
    "map": {"logicalType": "map", "map": {"key": {"logicalType": "string"}, "value": {"logicalType": "integer"}}},
    "vector": {
        "logicalType": "vector",
        "logicalTypeOptions": {"dimensions": 3, "elementType": "int8", "distanceMetric": "cosine"},
    },
    "words": {"logicalType": "string", "synonyms": [{"synonym": "s"}], "semanticType": "dimension"},
}


def _servers(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    definitions = schema["$defs"]
    for branch in definitions["Server"]["allOf"]:
        kind = branch["if"]["properties"]["type"]["const"]
        source = definitions["ServerSource"][branch["then"]["$ref"].rpartition("/")[2]]
        properties = source.get("properties", {})
        keys = [key for key in properties if key in source.get("required", ()) or "enum" in properties[key]]
        yield kind, {"server": "s", "type": kind, **{key: _sample(properties[key]) for key in keys}}


def _sample(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "integer" or "Port" in schema.get("$ref", ""):
        return 1
    return "sftp://acme.com/x" if schema.get("format") == "uri" else "text"


def _walk(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in items:
        yield from _walk(inner, (*path, step))


def _other_type(value: Any) -> Any:
    match value:
        case bool() | int() | float():
            return "text"
        case str():
            return {"a": 1}
        case list():
            return 7
        case _:
            return True


def _changed(data: dict[str, Any], path: KeyPath, value: Any, *, remove: bool = False) -> dict[str, Any]:
    made = copy.deepcopy(data)
    block: Any = made
    for step in path[:-1]:
        block = block[step]
    if remove:
        del block[path[-1]]
    else:
        block[path[-1]] = value
    return made
