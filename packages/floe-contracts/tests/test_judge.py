"""What the JSON Schema cannot see."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import column, contract, document, draft, sla, table

from floe_contracts.judge import judge
from floe_contracts.meaning import understand
from floe_core.contract import Contract, Origin
from floe_core.findings import Place, Severity


def codes(judged: Contract, *, in_product: bool = True) -> list[str]:
    return [item.code for item in judge(judged, in_product=in_product)]


def test_a_sound_contract_has_nothing_against_it() -> None:
    assert codes(contract(slaProperties=[sla("freshness", "PT6H", element="orders.id")])) == []


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"slaProperties": [sla("freshness", "PT6H", element="updated_at")]}, "FLOE-E503"),
        ({"slaProperties": [sla("freshness", "PT6H", element="id, nope")]}, "FLOE-E503"),
        ({"slaProperties": [sla("freshnes", "PT6H")]}, "FLOE-E504"),
        ({"slaProperties": [sla("freshness", 6)]}, "FLOE-E504"),
        ({"slaProperties": [sla("freshness", 6, unit="m")]}, "FLOE-E504"),
        ({"slaProperties": [sla("freshness", "soon")]}, "FLOE-E504"),
        ({"slaProperties": [sla("availability", 0.99)]}, "FLOE-E504"),
        ({"version": "1.0"}, "FLOE-E521"),
        ({"version": "v1.0.0"}, "FLOE-E521"),
        ({"version": "01.0.0"}, "FLOE-E521"),
        ({"status": "alive"}, "FLOE-E525"),
        ({"team": {}}, "FLOE-E501"),
        ({"schema": []}, "FLOE-E501"),
        ({"schema": [table(column("id")), table(column("id"))]}, "FLOE-E505"),
        ({"schema": [table(column("id"), column("ID"))]}, "FLOE-E505"),
        ({"schema": [table(column("a", "object", properties=[column("x"), column("x")]))]}, "FLOE-E505"),
        ({"schema": [table(column("id", classification="secret"))]}, "FLOE-E506"),
        ({"schema": [table(column("id", classification="pii, secret"))]}, "FLOE-E506"),
        ({"schema": [table(quality=[{"type": "sql", "query": "drop table x", "mustBe": 0}])]}, "FLOE-E507"),
    ],
)
def test_each_flaw_is_an_error_in_a_product_and_a_warning_about_a_bare_file(
    more: dict[str, Any], code: str
) -> None:
    judged = understand(draft(document() | more))
    [inside] = judge(judged, in_product=True)
    [bare] = judge(judged, in_product=False)
    assert (inside.code, inside.severity) == (code, Severity.ERROR)
    assert (bare.code, bare.severity) == (code, Severity.WARNING)


def test_values_of_a_list_stand_once_and_null_is_not_among_those_of_a_required_column() -> None:
    values = [{"value": 1}, {"value": 1.0, "label": "one"}, {"value": True}, {"value": "1"}, {"value": None}]
    judged = contract(table(column("id", "integer", required=True, enum=values)), apiVersion="v3.2.0")
    assert [item.message for item in judge(judged, in_product=True)] == [
        "the value 1.0 stands here a second time",
        "null is a legal value of a column that is required",
    ]


@pytest.mark.parametrize("pattern", ["(", "[a-", "a{2,1}", "*", "(?P<x>", "\\", "(" * 5000])
def test_a_pattern_that_nobody_can_match_is_told_where_it_stands(pattern: str) -> None:
    of_column = column("id", logicalTypeOptions={"pattern": pattern})
    rule = {"metric": "invalidValues", "arguments": {"pattern": pattern}, "mustBe": 0}
    of_rule = column("id", quality=[rule])
    for written, path in ((of_column, "logicalTypeOptions"), (of_rule, "quality/0/arguments")):
        judged = replace(contract(table(written)), origin=lambda path: Origin("", Place("/".join(map(str, path)))))
        [finding] = judge(judged, in_product=True)
        assert finding.code == "FLOE-E501"
        assert finding.place.path == f"schema/0/properties/0/{path}/pattern"


@pytest.mark.parametrize(
    "pattern", ["^[a-z]+$", r"\p{L}+", r"\QA.B\E", "(?<year>[0-9]{4})", "a++", "(?=x)x", "[[a]", ""]
)
def test_a_pattern_that_some_engine_reads_is_left_to_the_one_that_will_match(pattern: str) -> None:
    assert codes(contract(table(column("id", logicalTypeOptions={"pattern": pattern})))) == []


def test_keys_and_values_of_a_map_are_judged_like_columns() -> None:
    rule = {"type": "sql", "query": "drop table x", "mustBe": 0}
    value = {"logicalType": "string", "classification": "secret", "quality": [rule]}
    tags = column("tags", "map", map={"key": {"logicalType": "string"}, "value": value})
    judged = contract(table(tags), apiVersion="v3.2.0")
    assert sorted(codes(judged)) == ["FLOE-E506", "FLOE-E507"]
    assert [rule.column for rule in judged.tables[0].rules] == ["tags.{value}"]


@pytest.mark.parametrize(
    "element", ["id", "orders.id", "orders", "address.street", "orders.address.street", "a_id"]
)
def test_elements_may_be_spelt_with_and_without_their_table(element: str) -> None:
    address = column("address", "object", properties=[column("street")])
    judged = contract(
        table(column("id"), column("other", physicalName="a_id"), address),
        slaProperties=[sla("freshness", "1d", element=element)],
    )
    assert codes(judged) == []


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM ${table} WHERE ${column} IS NULL",
        "select max(x) from {model}",
        "WITH a AS (SELECT 1 AS x) SELECT x FROM a",
        "SELECT 1 UNION ALL SELECT 2",
        "SELECT size(transform(tags, tag -> upper(tag))) FROM ${table};",
        "SELECT count(*) FROM sales.orders JOIN sales.crm.customers USING (id)",
    ],
)
def test_a_single_select_may_run(query: str) -> None:
    assert codes(contract(table(column("id"), quality=[{"type": "sql", "query": query, "mustBe": 0}]))) == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("DELETE FROM orders", "is a DELETE"),
        ("SELECT 1; DROP TABLE orders", "more than one statement"),
        ("", "there is no query"),
        ("SELECT * FROM (", "cannot be read"),
        ("ADD JAR '/tmp/x.jar'", "is a ADD JAR"),
        ("EXECUTE IMMEDIATE 'DROP TABLE orders'", "is a EXECUTE"),
        ("SELECT TRANSFORM(id) USING 'touch /tmp/x' AS (b) FROM orders", "holds a TRANSFORM … USING"),
        ("WITH a AS (FROM t SELECT TRANSFORM(x) USING 'sh') SELECT * FROM a", "holds a TRANSFORM … USING"),
        ("SELECT count(*) FROM text.`/etc/passwd`", "reads the file /etc/passwd"),
        ("SELECT 1 WHERE 1 IN (SELECT 1 FROM `Parquet`.secrets)", "reads the file secrets"),
        ("SELECT 1 FROM `org.acme.Source`.x", "reads the file x"),
        ("SELECT 1 FROM text.${column}", "reads the file"),
        ("SELECT 1 FROM IDENTIFIER('text.`/etc/passwd`')", "calls identifier"),
        ("SELECT IDENTIFIER('reflect')('java.lang.System', 'exit', 0)", "cannot be read"),
        (f"SELECT 1 FROM t {'JOIN t ' * 60}", "too ambiguous"),  # noqa: S608 - never run
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "nested too deep"),
        ("{{ run_query('drop table x') }}", "is a template"),
        ("CREATE TABLE x AS SELECT 1", "is a CREATE"),
        ("INSERT INTO x SELECT 1", "is a INSERT"),
        ("SELECT reflect('java.lang.System', 'exit', 0)", "calls reflect"),
        ("SELECT * FROM read_csv('/etc/passwd')", "calls read_csv"),
        ("SET x = 1", "is a SET"),
        ("SELECT 1" + " " * 30_000, "is longer than"),
        ("WITH a AS (INSERT INTO x SELECT 1) SELECT 1", "holds a INSERT"),
    ],
)
def test_nothing_else_may_run(query: str, reason: str) -> None:
    judged = contract(table(column("id"), quality=[{"type": "sql", "query": query, "mustBe": 0}]))
    [finding] = judge(judged, in_product=True)
    assert finding.code == "FLOE-E507"
    assert reason in finding.message


@pytest.mark.parametrize(
    ("team", "owner"),
    [
        ({"name": "crew"}, "crew"),
        ({"name": "crew", "members": [{"username": "x"}, {"username": "a", "role": "Data Owner"}]}, "a"),
        ([{"username": "a", "role": "Owner"}], "a"),
        ([{"username": "b"}], "b"),
    ],
)
def test_the_owner_is_found_in_any_form_of_team(team: object, owner: str) -> None:
    assert contract(team=team).owner == owner
