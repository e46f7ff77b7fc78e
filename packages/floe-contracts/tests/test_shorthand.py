"""The shorthand becomes ODCS v3.1.0 and back without loss."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from floe_contracts.read import Draft, parse_draft, read_draft
from floe_contracts.shorthand import to_odcs
from floe_contracts.spelling import to_shorthand
from floe_core.findings import Severity
from floe_core.source import parse

SPEC = Path(__file__).parent / "contracts" / "spec-shorthand.yaml"
NAMES = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc", "Zl", "Zp", "Cn"]), max_size=12)
SCALARS = st.one_of(WORDS, st.integers(-9, 9), st.booleans())
UNKNOWN_KEYS = st.dictionaries(NAMES.map(lambda name: f"x_{name}"), SCALARS, max_size=2)
# fmt: off
TYPES = st.sampled_from([
    "string", "integer", "number", "date", "timestamp", "boolean", "int", "long", "double", "decimal",
    "decimal(9,2)", "bytes", "varchar(20)", "BIGINT", "uuid",
])
# fmt: on


def some(**keys: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of the keys."""
    return st.fixed_dictionaries({}, optional=keys)


def together(*parts: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(*parts).map(lambda maps: {key: value for part in maps for key, value in part.items()})


PLAIN = together(
    some(
        type=TYPES,
        required=st.booleans(),
        unique=st.booleans(),
        primaryKey=st.booleans(),
        description=WORDS,
        classification=st.one_of(st.sampled_from(["pii", "public"]), st.just(["pii", "phi"])),
        physicalType=st.sampled_from(["VARCHAR(3)", "decimal(9,2)"]),
        format=st.just("email"),
        enum=st.lists(WORDS, min_size=1, max_size=3),
        quality=st.just([{"metric": "nullValues", "mustBe": 0}]),
        customProperties=st.just([{"property": "team", "value": "a"}]),
    ).filter(
        lambda element: element.get("type", "") in ("string", "varchar(20)", "bytes") or "format" not in element
    ),
    UNKNOWN_KEYS,
)
ELEMENTS = st.recursive(
    PLAIN,
    lambda inner: st.one_of(
        st.fixed_dictionaries({"elements": st.dictionaries(NAMES, inner, max_size=2)}),
        st.fixed_dictionaries({"type": st.just("object"), "elements": st.dictionaries(NAMES, inner, max_size=2)}),
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
    ),
    max_leaves=4,
)
MODELS = st.dictionaries(
    NAMES,
    together(some(description=WORDS, elements=st.dictionaries(NAMES, ELEMENTS, max_size=3)), UNKNOWN_KEYS),
    min_size=1,
    max_size=3,
)
SLAS = st.dictionaries(
    st.sampled_from(["freshness", "availability", "retention"]),
    st.one_of(
        st.sampled_from(["PT6H", "99.9%"]),
        together(st.fixed_dictionaries({"value": WORDS}), some(unit=WORDS, element=NAMES), UNKNOWN_KEYS),
    ),
)
CONTRACTS = together(
    st.fixed_dictionaries(
        {
            "apiVersion": st.sampled_from(["v3.0.2", "v3.1.0", "v3.2.0"]),
            "kind": st.just("DataContract"),
            "version": st.just("1.0.0"),
            "models": MODELS,
        }
    ),
    some(
        name=NAMES,
        id=NAMES,
        status=st.just("draft"),
        domain=NAMES,
        owner=WORDS,
        description=st.one_of(WORDS, st.fixed_dictionaries({"purpose": WORDS}), some(usage=WORDS, purpose=WORDS)),
        terms=st.one_of(some(usage=WORDS, limitations=WORDS, retention=WORDS), WORDS),
        links=st.dictionaries(NAMES, WORDS, max_size=2),
        tags=st.lists(WORDS, max_size=2),
        slaProperties=st.one_of(SLAS, st.just([{"property": "freshness", "value": "PT6H"}])),
        deprecation=some(announced=st.just("2026-01-03"), replacement=WORDS),
        team=st.just({"name": "crew"}),
        authoritativeDefinitions=st.just([{"type": "x", "url": "y"}]),
        customProperties=st.just([{"property": "team", "value": "a"}]),
    ),
    UNKNOWN_KEYS,
)


def through_odcs(contract: dict[str, Any]) -> Draft:
    return parse_draft(json.dumps(contract, ensure_ascii=False).encode(), "datacontract.yaml")[0]


def test_the_example_of_the_specification_is_read() -> None:
    draft, findings = read_draft(SPEC)
    assert findings == []
    assert draft.shorthand
    assert draft.data["apiVersion"] == "v3.1.0"
    [table] = draft.data["schema"]
    assert [column["name"] for column in table["properties"]] == ["customer_id", "email", "lifetime_value"]
    assert table["properties"][2] == {
        "name": "lifetime_value",
        "logicalType": "number",
        "physicalType": "decimal",
        "required": False,
    }
    assert draft.data["slaProperties"][0] == {"property": "freshness", "value": "PT6H", "element": "updated_at"}


def test_every_value_knows_its_line_in_the_file() -> None:
    draft, _ = read_draft(SPEC)
    lines = SPEC.read_text().splitlines()
    for path, word in (
        (("schema", 0, "properties", 1, "classification"), "classification: pii"),
        (("schema", 0, "properties", 1, "logicalTypeOptions", "format"), "format: email"),
        (("slaProperties", 0, "element"), "element: updated_at"),
        (("team", "members", 0, "username"), "owner:"),
        (("schema", 0, "properties", 2, "physicalType"), "type: decimal"),
    ):
        assert word in lines[draft.origin(path).place.line - 1]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CONTRACTS)
def test_the_way_there_and_back_changes_nothing(contract: dict[str, Any]) -> None:
    root, _ = to_odcs(parse(json.dumps(contract, ensure_ascii=False).encode(), "x").root, "x")
    assert to_shorthand(root.plain()) == contract


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(CONTRACTS)
def test_what_comes_out_is_valid_odcs(contract: dict[str, Any]) -> None:
    assert through_odcs(contract).data["apiVersion"] == "v3.1.0"


def test_unknown_keys_are_kept_and_told() -> None:
    text = b"apiVersion: v3.1.0\nkind: DataContract\nversion: 1.0.0\nmodels:\n  a:\n    colour: red\n"
    draft, [finding] = parse_draft(text, "c.yaml")
    assert (finding.code, finding.severity, str(finding.place)) == ("FLOE-E508", Severity.WARNING, "c.yaml:6:5")
    assert draft.data["schema"][0]["customProperties"][0]["value"] == "red"


@pytest.mark.parametrize("sign", ["owner: a", "terms: {}", "links: {}", "deprecation: {}"])
def test_a_contract_without_models_is_still_the_shorthand(sign: str) -> None:
    text = f"apiVersion: v3.1.0\nkind: DataContract\nversion: 1.0.0\n{sign}\n"
    assert parse_draft(text.encode(), "c.yaml")[0].shorthand
