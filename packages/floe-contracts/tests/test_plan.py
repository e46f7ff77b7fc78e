"""The check plan: each check at the cheapest source that answers it exactly."""

from __future__ import annotations

from typing import Any

import pytest
from builders import column, contract, sla, table

from floe_contracts.plan import plan
from floe_core.checks import Check, Operator, Source


def checks(*tables: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    return [(item.id, item.source.value) for item in plan(contract(*tables, **more)).checks]


def only(*tables: dict[str, Any], **more: Any) -> Check:
    [check] = plan(contract(*tables, **more)).checks
    return check


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"required": True}, [("orders.c:nullValues", "metadata")]),
        ({"unique": True}, [("orders.c:duplicateValues", "pass")]),
        ({"primaryKey": True}, [("orders.c:nullValues", "metadata"), ("orders.c:duplicateValues", "pass")]),
        ({"logicalTypeOptions": {"minLength": 1}}, [("orders.c:minLength", "pass")]),
        ({"logicalTypeOptions": {"pattern": "a+"}}, [("orders.c:invalidValues", "pass")]),
        ({"logicalTypeOptions": {"format": "email"}}, [("orders.c:invalidValues", "pass")]),
        ({"logicalTypeOptions": {"format": "password"}}, [("orders.c:format", "not run")]),
        ({"quality": [{"metric": "nullValues", "mustBe": 0}]}, [("orders.c:nullValues", "metadata")]),
        (
            {"quality": [{"metric": "missingValues", "arguments": {"missingValues": ["", None]}, "mustBe": 0}]},
            [("orders.c:missingValues", "pass")],
        ),
        ({"quality": [{"metric": "invalidValues", "mustBe": 0}]}, [("orders.c:invalidValues", "not run")]),
        (
            {"quality": [{"type": "custom", "engine": "soda", "implementation": "x"}]},
            [("orders.c:custom", "not run")],
        ),
        ({"quality": [{"type": "text", "description": "x"}]}, [("orders.c:text", "not run")]),
    ],
)
def test_each_promise_becomes_a_check(options: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert checks(table(column("c", **options))) == expected


@pytest.mark.parametrize(
    ("logical", "options", "source"),
    [
        ("integer", {"maximum": 9}, Source.METADATA),
        ("number", {"maximum": 9}, Source.PASS),
        ("date", {"minimum": "2026-01-01"}, Source.METADATA),
    ],
)
def test_bounds_come_from_metadata_only_where_they_are_exact(
    logical: str, options: dict[str, Any], source: Source
) -> None:
    assert only(table(column("c", logical, logicalTypeOptions=options))).source is source


def test_two_rules_with_one_metric_stay_two_checks() -> None:
    rules = [{"metric": "nullValues", "mustBe": 0}, {"metric": "nullValues", "mustBeLessThan": 5}]
    found = plan(contract(table(column("c", quality=rules)))).checks
    assert [item.id for item in found] == ["orders.c:nullValues", "orders.c:nullValues#2"]
    assert [item.operator for item in found] == [Operator.EQUAL, Operator.LESS]


def test_a_key_of_several_columns_is_unique_together() -> None:
    found = plan(contract(table(column("a", primaryKey=True), column("b", primaryKey=True)))).checks
    assert found[-1].arguments == (("properties", ("a", "b")),)
    assert found[-1].column == ""


def test_freshness_is_measured_on_its_element_or_on_the_table() -> None:
    at = column("at", "timestamp")
    assert only(table(at), slaProperties=[sla("freshness", "6h")]).column == ""
    on_element = only(table(at), slaProperties=[sla("freshness", "6h", element="orders.at")])
    assert (on_element.column, on_element.threshold, on_element.source) == ("at", 21600, Source.METADATA)


@pytest.mark.parametrize(
    ("element", "measured"),
    [
        ("at", [("o", "AT"), ("crm", "at")]),
        ("orders", [("o", "")]),
        ("orders.at, crm.at", [("o", "AT"), ("crm", "at")]),
        ("orders.AT", [("o", "AT")]),
        ("orders.inner.at", [("o", "in.AT")]),
        ("crm.at,gone", [("crm", "at"), ("", "gone")]),
    ],
)
def test_an_element_is_found_in_every_spelling_that_the_judge_accepts(
    element: str, measured: list[tuple[str, str]]
) -> None:
    at = column("at", "timestamp", physicalName="AT")
    inner = column("inner", "object", physicalName="in", properties=[at])
    tables = (table(at, inner, physicalName="o"), table(column("at", "timestamp"), name="crm"))
    found = plan(contract(*tables, slaProperties=[sla("freshness", "6h", element=element)])).checks
    assert [(item.table, item.column) for item in found] == measured
    assert [item.source for item in found if item.column in ("", "gone", "in.AT")] == [
        {"": Source.METADATA, "gone": Source.NOBODY, "in.AT": Source.PASS}[name]
        for _, name in measured
        if name in ("", "gone", "in.AT")
    ]


def test_availability_of_one_table_is_asked_of_that_table() -> None:
    tables = (table(column("id")), table(column("id"), name="crm"))
    found = plan(contract(*tables, slaProperties=[sla("availability", "99%", element="crm")])).checks
    assert [item.table for item in found] == ["crm"]


def test_an_sla_that_cannot_be_read_is_listed_with_that_reason() -> None:
    found = only(slaProperties=[sla("freshness", "soon")])
    assert (found.source, found.reason) == (Source.NOBODY, "its value cannot be read")


def test_rules_ask_about_the_names_that_the_table_has() -> None:
    inner = column("b", physicalName="B", quality=[{"metric": "nullValues", "mustBe": 0}])
    nulls = {"metric": "nullValues", "mustBe": 0}
    twins = {"metric": "duplicateValues", "arguments": {"properties": ["a", "o.b"]}, "mustBe": 0}
    columns = (
        column("a", physicalName="A", quality=[nulls]),
        column("o", "object", physicalName="O", properties=[inner]),
    )
    found = plan(contract(table(*columns, quality=[twins]))).checks
    assert [(item.column, item.source) for item in found] == [
        ("", Source.PASS),
        ("A", Source.METADATA),
        ("O.B", Source.PASS),
    ]
    assert found[0].arguments == (("properties", ("A", "O.B")),)


def test_odcs_3_0_writes_arguments_beside_the_rule() -> None:
    rule = {"rule": "validValues", "validValues": ["a", "b"], "mustBe": 0}
    found = only(table(column("c", quality=[rule])), apiVersion="v3.0.2", team=[{"username": "a"}])
    assert (found.metric, found.source) == ("invalidValues", Source.PASS)
    assert found.arguments == (("validValues", ("a", "b")),)


def test_a_promise_that_nothing_measures_is_listed_as_not_run() -> None:
    found = plan(
        contract(
            slaProperties=[sla("freshness", "6h", element="nope"), sla("retention", "P1Y"), sla("quality", "95%")]
        )
    ).checks
    assert [(item.metric, item.source, item.reason) for item in found] == [
        ("freshness", Source.NOBODY, "nope is no column"),
        ("retention", Source.NOBODY, "floe does not measure it"),
        ("quality", Source.NOBODY, "the score of all checks together"),
    ]


def test_queries_run_by_themselves_when_they_only_read() -> None:
    def check(query: str) -> Check:
        return only(table(column("c"), quality=[{"type": "sql", "query": query, "mustBe": 0}]))

    assert check("select count(*) from ${table}").source is Source.QUERY
    refused = check("drop table orders")
    assert (refused.source, refused.reason) == (Source.NOBODY, "the query is a DROP, not a SELECT")


def test_columns_beyond_icebergs_metrics_need_a_pass() -> None:
    columns = [column(f"c{number}", required=True) for number in range(101)]
    found = plan(contract(table(*columns))).checks
    assert (found[99].source, found[100].source) == (Source.METADATA, Source.PASS)


def test_fields_inside_a_column_need_a_pass() -> None:
    inner = column("a", "object", properties=[column("b", required=True)])
    assert checks(table(inner)) == [("orders.a.b:nullValues", "pass")]


def test_rules_of_the_table_count_rows() -> None:
    check = only(table(column("c"), quality=[{"metric": "rowCount", "mustBeGreaterThan": 0}], physicalName="t"))
    assert (check.id, check.source, check.table) == ("t:rowCount", Source.METADATA, "t")


def test_the_groups_of_a_plan_hold_every_check_once() -> None:
    made = plan(
        contract(table(column("a", required=True, unique=True)), slaProperties=[sla("availability", "99%")])
    )
    assert sum(len(made.of(source)) for source in Source) == len(made.checks)
    assert len(made.of(Source.METADATA, "orders")) == 2
