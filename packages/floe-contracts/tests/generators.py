"""Contracts for property tests: small, valid, and different in every way that a class of change knows."""

from __future__ import annotations

from typing import Any

from builders import document, draft
from hypothesis import strategies as st

from floe_contracts.meaning import understand
from floe_core.contract import Contract

TYPE_BLOCKS: list[dict[str, Any]] = [
    {"logicalType": "string"},
    {"logicalType": "string", "logicalTypeOptions": {"maxLength": 5}},
    {"logicalType": "string", "logicalTypeOptions": {"maxLength": 9, "pattern": "a+"}},
    {"logicalType": "integer", "physicalType": "int"},
    {"logicalType": "integer", "physicalType": "bigint"},
    {"logicalType": "integer", "physicalType": "long"},
    {"logicalType": "number", "physicalType": "long"},
    {"logicalType": "number", "physicalType": "decimal(9,2)"},
    {"logicalType": "number", "physicalType": "decimal(11,2)"},
    {"physicalType": "money"},
]
TYPES = st.sampled_from(TYPE_BLOCKS)
RULES = st.lists(
    st.sampled_from(
        [
            {"metric": "nullValues", "mustBe": 0},
            {"metric": "nullValues", "mustBeLessThan": 5},
            {"metric": "nullValues", "mustBeLessThan": 5, "severity": "info"},
            {"metric": "duplicateValues", "mustBeBetween": [0, 3]},
            {"metric": "invalidValues", "arguments": {"validValues": ["a"]}, "mustBe": 0},
            {"metric": "invalidValues", "arguments": {"validValues": ["b", "a"]}, "mustBe": 0},
            {"type": "sql", "query": "select 1", "mustBe": 1},
            {"type": "text", "description": "be good"},
            {"type": "custom", "engine": "soda", "implementation": "x"},
        ]
    ),
    max_size=2,
)


def parts(*pairs: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*pairs).map(lambda maps: {key: value for part in maps for key, value in part.items()})


PLAIN = parts(
    st.fixed_dictionaries({"name": st.sampled_from("abc")}),
    TYPES,
    st.fixed_dictionaries(
        {},
        optional={
            "required": st.booleans(),
            "unique": st.booleans(),
            "primaryKey": st.booleans(),
            "classification": st.sampled_from(["pii", "phi", "public", "pii, phi", "restricted"]),
            "description": st.sampled_from(["one", "two"]),
            "physicalName": st.sampled_from(["x", "y"]),
            "tags": st.sampled_from([["t"], ["u"]]),
            "quality": RULES,
        },
    ),
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "name": st.sampled_from("abc"),
        "logicalType": st.just("object"),
        "properties": st.lists(PLAIN, max_size=2, unique_by=lambda item: item["name"]),
    }
)
COLUMNS = st.lists(st.one_of(PLAIN, OBJECTS), min_size=1, max_size=3, unique_by=lambda item: str(item["name"]))
TABLE: st.SearchStrategy[dict[str, Any]] = parts(
    st.fixed_dictionaries({"name": st.sampled_from(["orders", "customers"])}),
    st.fixed_dictionaries({"properties": COLUMNS}),
    st.fixed_dictionaries({}, optional={"physicalName": st.sampled_from(["t", "u"]), "quality": RULES}),
)
TABLES = st.lists(TABLE, min_size=1, max_size=2, unique_by=lambda item: str(item["name"]))
SLA_BLOCKS: list[dict[str, Any]] = [
    {"property": "freshness", "value": "PT6H"},
    {"property": "freshness", "value": "PT3H"},
    {"property": "freshness", "value": 6, "unit": "h"},
    {"property": "availability", "value": "99.9%"},
    {"property": "availability", "value": "99%", "driver": "regulatory"},
    {"property": "magic", "value": "much"},
]
SLAS = st.lists(st.sampled_from(SLA_BLOCKS), max_size=2, unique_by=lambda item: str(item["property"]))
DOCUMENTS = parts(
    st.fixed_dictionaries({"schema": TABLES, "slaProperties": SLAS}),
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(["active", "deprecated"]),
            "description": st.sampled_from([{"purpose": "a"}, {"purpose": "b"}]),
            "tags": st.sampled_from([["a"], ["b"]]),
            "customProperties": st.sampled_from(
                [
                    [{"property": "floe.deprecation", "value": {"announced": "2026-01-01"}}],
                    [{"property": "x", "value": 1}],
                ]
            ),
        },
    ),
)
VERSIONS = st.tuples(*[st.integers(0, 3)] * 3).map(lambda parts: ".".join(map(str, parts)))


def with_version(data: dict[str, Any], version: str) -> Contract:
    return understand(draft({**document(), **data, "version": version}))
