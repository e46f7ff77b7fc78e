"""Reading: the right code at the right line, every error at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import column, document, draft, table

from floe_contracts import schemas
from floe_contracts.read import parse_draft, read_draft
from floe_contracts.schemas import HASHES, schema_text, validator
from floe_contracts.shorthand import LOGICAL
from floe_core.findings import FloeError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]\n" for i in range(8)
)
VALID = b"""\
apiVersion: v3.1.0
kind: DataContract
id: orders
version: 1.0.0
status: active
schema:
  - name: orders
    properties:
      - name: id
        logicalType: string
"""


def refused(text: str | bytes) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(FloeError) as caught:
        parse_draft(data, "c.yaml")
    return [f"{item.line}:{item.column} {item.code} {item.message}" for item in caught.value.findings]


def test_a_valid_contract_is_read() -> None:
    read, findings = parse_draft(VALID, "c.yaml")
    assert findings == []
    assert read.data["schema"][0]["properties"][0]["name"] == "id"


@pytest.mark.parametrize("version", ["v3.0.0", "v3.0.1", "v3.0.2", "v3.1.0", "v3.2.0"])
def test_every_version_of_odcs_3_is_read_and_kept(version: str) -> None:
    assert parse_draft(VALID.replace(b"v3.1.0", version.encode()), "c.yaml")[0].data["apiVersion"] == version


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: [", "1:5 FLOE-E501"),
        ("", "1:1 FLOE-E501"),
        ("- a\n", "1:1 FLOE-E501"),
        ("a: 1\na: 2\n", "2:1 FLOE-E509"),
        ("a: .nan\n", "1:4 FLOE-E509"),
        ("a: !!python/object:os.system x\n", "1:4 FLOE-E509"),
        ("a: " + "[" * 80 + "]" * 80, "1:67 FLOE-E509"),
        (BOMB, "6:4 FLOE-E509"),
        ("kind: DataContract\n", "1:1 FLOE-E501 apiVersion is missing"),
        ("apiVersion: v3.1.0\nkind: Manifest\n", "2:7 FLOE-E501 kind is Manifest"),
        ("apiVersion: v2.2.2\nkind: DataContract\n", "1:13 FLOE-E502"),
        ("apiVersion: v3.9.0\nkind: DataContract\n", "1:13 FLOE-E502"),
        ("apiVersion: 3.1\nkind: DataContract\n", "1:13 FLOE-E502 apiVersion 3.1 is not"),
        ("apiVersion: [v3.1.0]\nkind: DataContract\n", "1:1 FLOE-E502"),
    ],
)
def test_what_is_no_contract_has_its_code(text: str, told: str) -> None:
    assert refused(text)[0].startswith(told)


def test_a_file_that_is_not_there_is_no_contract_at_all(tmp_path: Path) -> None:
    with pytest.raises(FloeError) as caught:
        read_draft(tmp_path / "absent.yaml")
    assert caught.value.findings[0].code == "FLOE-E100"


def test_every_schema_error_stands_at_its_line() -> None:
    text = """\
apiVersion: v3.1.0
kind: DataContract
id: orders
colour: red
schema:
  - name: orders
    properties:
      - name: id
        logicalType: money
        requird: true
      - logicalType: string
slaProperties:
  - property: freshness
"""
    assert refused(text) == [
        "1:1 FLOE-E501 version is missing",
        "1:1 FLOE-E501 status is missing",
        "4:1 FLOE-E501 unknown key colour",
        "10:9 FLOE-E501 unknown key schema.orders.properties.id.requird",
        f"9:22 FLOE-E501 schema.orders.properties.id.logicalType: money is not one of {' | '.join(LOGICAL)}",
        "11:9 FLOE-E501 schema.orders.properties[1]: name is missing",
        "13:5 FLOE-E501 slaProperties.freshness: value is missing",
    ]


def problems(data: dict[str, Any]) -> list[str]:
    with pytest.raises(FloeError) as caught:
        draft(data)
    return [item.message for item in caught.value.findings]


def test_a_key_of_a_later_version_is_told() -> None:
    data = document(table(column("id", deprecated=True)), apiVersion="v3.0.2", team=[])
    [message] = problems(data)
    assert message == (
        "unknown key schema.orders.properties.id.deprecated; ODCS v3.2.0 has it, the file declares v3.0.2"
    )


def test_a_type_of_a_later_version_is_told() -> None:
    data = document(table(column("id", "timestamp")), apiVersion="v3.0.2", team=[])
    assert problems(data)[0].endswith("ODCS v3.1.0 has it, the file declares v3.0.2")


def test_a_rule_in_the_words_of_a_later_version_is_told() -> None:
    rule = {"metric": "nullValues", "mustBe": 0}
    data = document(table(column("id", quality=[rule])), apiVersion="v3.0.2", team=[])
    [message] = problems(data)
    assert message.startswith("schema.orders.properties.id.quality[0]: rule is missing")
    assert message.endswith("; ODCS v3.1.0 does not ask for it, the file declares v3.0.2")


def test_a_value_of_no_legal_form_is_told_without_the_schema() -> None:
    assert problems(document(slaProperties=[{"property": "freshness", "value": [1]}])) == [
        "slaProperties.freshness.value: a list has none of the forms that ODCS allows here"
    ]


def test_an_unknown_key_of_no_version_gets_the_nearest() -> None:
    with pytest.raises(FloeError) as caught:
        draft(document(table(column("id", clasification="pii"))))
    assert caught.value.findings[0].fix == "Rename it to `classification`."


@pytest.mark.parametrize("operators", [{}, {"mustBe": 0, "mustNotBe": 1}])
def test_a_rule_needs_exactly_one_operator(operators: dict[str, int]) -> None:
    [message] = problems(document(table(column("id", quality=[{"metric": "nullValues", **operators}]))))
    assert "exactly one of mustBe" in message


@pytest.mark.parametrize("bound", [7, ["a", 1], [2, 1], [1]])
def test_a_bound_that_is_none_is_refused_in_every_version(bound: object) -> None:
    rule = {"type": "sql", "query": "select 1", "mustBeBetween": bound}
    assert problems(document(table(column("id"), quality=[rule]), apiVersion="v3.0.2", team=[])) == [
        "schema.orders.quality[0].mustBeBetween: must be two numbers, the smaller first"
    ]


def test_shorthand_keys_in_real_odcs_are_told() -> None:
    with pytest.raises(FloeError) as caught:
        draft(document(owner="a"))
    assert caught.value.findings[0].fix.startswith("Remove `schema` to write floe's shorthand")


def test_a_thousand_errors_are_not_a_thousand_findings() -> None:
    with pytest.raises(FloeError) as caught:
        draft(document(table(*(column(f"c{number}", "money") for number in range(1000)))))
    assert len(caught.value.findings) == 100
    assert caught.value.findings[-1].message.endswith("(and 900 more errors in this file)")


def test_the_bundled_schemas_are_the_pinned_ones(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for version in HASHES:
        assert validator(version).is_valid({}) is False
    (tmp_path / "s.json").write_text("{}")
    monkeypatch.setattr(schemas, "schema_path", lambda _: tmp_path / "s.json")
    with pytest.raises(FloeError) as caught:
        schema_text("3.1.0")
    assert caught.value.findings[0].code == "FLOE-E800"
