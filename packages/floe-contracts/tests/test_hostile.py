"""Contracts written to harm: they get a code or stay text, and nothing of them is ever run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import column, contract, document, table

from floe_contracts.changes import compare
from floe_contracts.export import FORMATS, export
from floe_contracts.judge import judge
from floe_contracts.lint import lint
from floe_contracts.plan import plan
from floe_contracts.read import parse_draft
from floe_contracts.sql import render
from floe_core.findings import FloeError

NAMES = [
    "x'; DROP TABLE orders; --",
    'x" OR 1=1',
    "x`y",
    "{{ config.env('HOME') }}",
    "{% raw %}",
    "../../etc/passwd",
    "${jndi:ldap://x}",
    "$(touch /tmp/floe-was-here)",
    "a\u202eb",
    "\x7f".replace("\x7f", "é"),
    "x" * 5000,
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_hostile_name_stays_a_name(name: str) -> None:
    made = contract(table(column(name, required=True), name=name), name=name)
    assert judge(made, in_product=True) == []
    assert compare(made, made) == []
    assert [check.column for check in plan(made).checks] == [name]
    assert json.loads(json.dumps(made.document))["schema"][0]["name"] == name


@pytest.mark.parametrize("output", FORMATS)
def test_a_hostile_name_can_be_exported(output: str) -> None:
    text = export(contract(table(column("{{ 7 * 191 }}"), name="{{ 7 * 193 }}")), output)
    assert "1337" not in text
    assert "1351" not in text


@pytest.mark.parametrize("name", ["t`; DROP TABLE x; --", 't"; DROP TABLE x; --', "a.b", "t"])
def test_a_query_gets_names_as_one_quoted_word(name: str) -> None:
    rendered = render("SELECT count(*) FROM ${table} WHERE ${column} IS NULL", ("sales", name), name)
    assert rendered.count(f"`{name.replace('`', '``')}`") == 2


def test_ten_thousand_columns_are_read_and_compared() -> None:
    wide = contract(table(*(column(f"c{number}") for number in range(10_000))))
    assert len(wide.tables[0].columns) == 10_000
    assert compare(wide, wide) == []
    assert judge(wide, in_product=True) == []


def nested(depth: int) -> dict[str, Any]:
    block = column("leaf")
    for number in range(depth):
        block = column(f"c{number}", "object", properties=[block])
    return document(table(block))


def test_deep_nesting_is_read_until_the_reader_refuses() -> None:
    assert lint_text(nested(20)) == []
    assert lint_text(nested(40)) == ["FLOE-E509"]


def lint_text(data: dict[str, Any]) -> list[str]:
    try:
        parse_draft(json.dumps(data).encode(), "c.yaml")
    except FloeError as exc:
        return [item.code for item in exc.findings]
    return []


def test_a_contract_of_aliases_is_refused(tmp_path: Path) -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for one, two in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"{two}: &{two} [{','.join([f'*{one}'] * 9)}]\n"
    file = tmp_path / "c.yaml"
    file.write_text(f"apiVersion: v3.1.0\nkind: DataContract\n{bomb}")
    made, [finding] = lint(file)
    assert made is None
    assert finding.code == "FLOE-E509"


def test_references_in_a_contract_are_never_followed(tmp_path: Path) -> None:
    link = [{"type": "businessDefinition", "url": "http://127.0.0.1:9/x"}]
    file = tmp_path / "c.yaml"
    file.write_text(json.dumps(document(table(column("id", authoritativeDefinitions=link)))))
    _, findings = lint(file, of_record=True)
    assert findings == []
