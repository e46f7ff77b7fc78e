"""Change classes: every row is reachable, has its mirror, and says what the specification says."""

from __future__ import annotations

from typing import Any

import pytest
from builders import column, contract, sla, table
from generators import DOCUMENTS, with_version
from hypothesis import HealthCheck, given, settings

from floe_contracts.changes import CLASSES, Bump, bump_of, compare, required_bump
from floe_core.contract import Contract
from floe_core.schemas.levels import Widening
from floe_core.table import ColumnChange

DEPRECATION = {"property": "floe.deprecation", "value": {"announced": "2026-01-03", "sunset_date": "2026-03-03"}}
ID = column("id", required=True)


def rules(*items: dict[str, Any]) -> Contract:
    return contract(table(column("id", quality=list(items))))


def nulls(**operator: Any) -> dict[str, Any]:
    return {"metric": "nullValues", **operator}


# old, new, the class of the change, the bump that the specification or a ruling gives it
CHANGES: list[tuple[Contract, Contract, str, Bump]] = [
    (contract(table(ID, column("a"))), contract(table(ID)), "column-removed", Bump.MAJOR),
    (contract(table(ID)), contract(table(column("id", "integer", required=True))), "type-changed", Bump.MAJOR),
    (
        contract(table(column("id", "string", physicalType="varchar"))),
        contract(table(column("id", "number", physicalType="varchar"))),
        "type-changed",
        Bump.MAJOR,
    ),
    (contract(table(ID)), contract(table(ID, column("a", required=True))), "column-added-required", Bump.MAJOR),
    (contract(table(ID)), contract(table(ID, column("a"))), "column-added-optional", Bump.MINOR),
    (contract(table(column("id"))), contract(table(ID)), "column-became-required", Bump.MAJOR),
    (contract(table(ID)), contract(table(column("id"))), "column-became-optional", Bump.MINOR),
    (
        contract(slaProperties=[sla("freshness", "4h")]),
        contract(slaProperties=[sla("freshness", "8h")]),
        "sla-relaxed",
        Bump.MAJOR,
    ),
    (
        contract(slaProperties=[sla("availability", "99.9%")]),
        contract(slaProperties=[sla("availability", "99%")]),
        "sla-relaxed",
        Bump.MAJOR,
    ),
    (
        contract(slaProperties=[sla("freshness", "6h")]),
        contract(slaProperties=[sla("freshness", "PT4H")]),
        "sla-tightened",
        Bump.MINOR,
    ),
    (contract(), contract(slaProperties=[sla("freshness", "6h")]), "sla-added", Bump.MINOR),
    (contract(slaProperties=[sla("freshness", "6h")]), contract(), "sla-removed", Bump.MAJOR),
    (
        contract(slaProperties=[sla("timeOfAvailability", "a")]),
        contract(slaProperties=[sla("timeOfAvailability", "b")]),
        "sla-changed",
        Bump.MAJOR,
    ),
    (
        contract(table(ID)),
        contract(table(column("id", required=True, description="x"))),
        "description-changed",
        Bump.PATCH,
    ),
    (contract(tags=["a"]), contract(tags=["b"]), "words-changed", Bump.PATCH),
    (contract(), contract(authoritativeDefinitions=[{"type": "doc", "url": "u"}]), "words-changed", Bump.PATCH),
    (contract(), contract(description={"purpose": "x"}), "words-changed", Bump.PATCH),
    (contract(table(ID)), contract(table(ID), table(ID, name="b")), "table-added", Bump.MINOR),
    (contract(table(ID), table(ID, name="b")), contract(table(ID)), "table-removed", Bump.MAJOR),
    (contract(table(ID)), contract(table(ID, physicalName="t")), "table-moved", Bump.MAJOR),
    (rules(), rules(nulls(mustBe=0)), "rule-added", Bump.MINOR),
    (rules(nulls(mustBe=0)), rules(), "rule-removed", Bump.MAJOR),
    (rules(nulls(mustBeLessThan=9)), rules(nulls(mustBeLessThan=5)), "rule-tightened", Bump.MINOR),
    (rules(nulls(mustBeLessThan=5)), rules(nulls(mustBeLessOrEqualTo=5)), "rule-loosened", Bump.MAJOR),
    (rules(nulls(mustBe=0)), rules(nulls(mustBe=0, severity="info")), "rule-loosened", Bump.MAJOR),
    (rules(nulls(mustBe=0)), rules(nulls(mustBe=1)), "rule-changed", Bump.MAJOR),
    (rules(nulls(mustBe=0)), rules(nulls(mustBe=0, unit="percent")), "rule-changed", Bump.MAJOR),
    (rules(nulls(mustBe=0)), rules(nulls(mustBe=0, description="x")), "words-changed", Bump.PATCH),
    (rules(), rules({"type": "text", "description": "x"}), "words-changed", Bump.PATCH),
    (contract(), contract(status="deprecated"), "status-advanced", Bump.MINOR),
    (contract(status="deprecated"), contract(), "status-returned", Bump.MINOR),
    (contract(), contract(customProperties=[DEPRECATION]), "deprecation-changed", Bump.MINOR),
    (
        contract(table(column("id", "integer", physicalType="int"))),
        contract(table(column("id", "integer", physicalType="bigint"))),
        "type-widened",
        Bump.MAJOR,
    ),
    (
        contract(table(column("id", "integer", physicalType="bigint"))),
        contract(table(column("id", "integer", physicalType="long"))),
        "type-respelt",
        Bump.PATCH,
    ),
    (
        contract(table(ID)),
        contract(table(column("id", required=True, unique=True))),
        "uniqueness-added",
        Bump.MINOR,
    ),
    (contract(table(column("id", unique=True))), contract(table(column("id"))), "uniqueness-removed", Bump.MAJOR),
    (contract(table(column("id"))), contract(table(column("id", primaryKey=True))), "key-added", Bump.MINOR),
    (contract(table(column("id", primaryKey=True))), contract(table(column("id"))), "key-removed", Bump.MAJOR),
    (
        contract(table(column("id", primaryKey=True), column("b"))),
        contract(table(column("id", primaryKey=True), column("b", primaryKey=True))),
        "key-changed",
        Bump.MAJOR,
    ),
    (
        contract(table(column("id"))),
        contract(table(column("id", classification="pii"))),
        "classification-strengthened",
        Bump.MINOR,
    ),
    (
        contract(table(column("id", classification="pii"))),
        contract(table(column("id", classification="public"))),
        "classification-weakened",
        Bump.MAJOR,
    ),
    (
        contract(table(column("id", classification="pii"))),
        contract(table(column("id", classification="phi"))),
        "classification-changed",
        Bump.MAJOR,
    ),
    (
        contract(table(column("id"))),
        contract(table(column("id", physicalName="x"))),
        "column-physical-name-changed",
        Bump.MAJOR,
    ),
]
LIMITS = [
    ({}, {"maxLength": 5}, "limit-added", Bump.MINOR),
    ({"maxLength": 5}, {}, "limit-removed", Bump.MAJOR),
    ({"maxLength": 5}, {"maxLength": 3}, "limit-tightened", Bump.MINOR),
    ({"maxLength": 5}, {"maxLength": 7}, "limit-loosened", Bump.MAJOR),
    ({"pattern": "a"}, {"pattern": "b"}, "limit-changed", Bump.MAJOR),
]
CHANGES += [
    (
        contract(table(column("id", logicalTypeOptions=old))),
        contract(table(column("id", logicalTypeOptions=new))),
        change,
        bump,
    )
    for old, new, change, bump in LIMITS
]


@pytest.mark.parametrize(
    ("old", "new", "change", "bump"), CHANGES, ids=[f"{n}-{item[2]}" for n, item in enumerate(CHANGES)]
)
def test_each_change_has_its_class_and_bump(old: Contract, new: Contract, change: str, bump: Bump) -> None:
    assert [item.id for item in compare(old, new)] == [change]
    assert required_bump(compare(old, new)) is bump


def test_every_class_has_an_example() -> None:
    assert {change for _, _, change, _ in CHANGES} == set(CLASSES)


@pytest.mark.parametrize("row", CLASSES.values(), ids=CLASSES)
def test_every_class_has_its_mirror_or_a_written_waiver(row: Any) -> None:
    assert row.mirror or row.waiver
    for mirror in row.mirror:
        assert row.id in CLASSES[mirror].mirror


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS)
def test_every_change_seen_one_way_is_seen_mirrored_the_other_way(old: dict[str, Any], new: dict[str, Any]) -> None:
    one, two = with_version(old, "1.0.0"), with_version(new, "1.0.0")
    back = {(change.path, change.id) for change in compare(two, one)}
    for change in compare(one, two):
        mirrors = {(change.path, mirror) for mirror in CLASSES[change.id].mirror}
        assert mirrors & back, change


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS)
def test_two_contracts_without_a_change_have_one_hash(old: dict[str, Any], new: dict[str, Any]) -> None:
    one, two = with_version(old, "1.0.0"), with_version(new, "1.0.0")
    assert compare(one, one) == []
    assert (compare(one, two) == []) == (one.document_hash == two.document_hash)


def test_a_widening_is_minor_where_the_platform_says_so() -> None:
    [change] = compare(
        contract(table(column("id", "integer", physicalType="int"))),
        contract(table(column("id", "integer", physicalType="bigint"))),
    )
    assert change.id == ColumnChange.TYPE_WIDENED
    assert bump_of(change) is Bump.MAJOR
    assert bump_of(change, Widening.MINOR) is Bump.MINOR


def test_the_order_of_columns_is_no_change_of_schema_but_of_the_document() -> None:
    one, two = contract(table(column("a"), column("b"))), contract(table(column("b"), column("a")))
    assert one.schema_hash == two.schema_hash
    assert one.document_hash != two.document_hash
    assert [change.id for change in compare(one, two)] == ["words-changed"]


def test_two_rules_of_one_metric_are_two_rules() -> None:
    old, new = rules(nulls(mustBe=0), nulls(mustBeLessThan=5)), rules(nulls(mustBe=0))
    assert [change.id for change in compare(old, new)] == ["rule-removed"]


@pytest.mark.parametrize(
    ("metric", "argument", "bound", "more"),
    [
        ("invalidValues", "validValues", {"mustBe": 0}, "rule-loosened"),
        ("invalidValues", "validValues", {"mustBeLessThan": 5}, "rule-loosened"),
        ("invalidValues", "validValues", {"mustBeGreaterThan": 5}, "rule-changed"),
        ("missingValues", "missingValues", {"mustBe": 0}, "rule-tightened"),
    ],
)
def test_more_or_fewer_values_loosen_or_tighten_a_rule(
    metric: str, argument: str, bound: dict[str, int], more: str
) -> None:
    def of(*values: object) -> Contract:
        return rules({"metric": metric, "arguments": {argument: list(values)}, **bound})

    fewer = CLASSES[more].mirror[0]
    assert [change.id for change in compare(of("a"), of("a", "b"))] == [more]
    assert [change.id for change in compare(of("a", "b"), of("a"))] == [fewer]
    assert [change.id for change in compare(of("a", "b"), of("a", "c"))] == ["rule-changed"]
    assert [change.id for change in compare(of("a", "b"), of("b", "a"))] == ["words-changed"]


def test_legal_values_of_odcs_3_0_are_part_of_the_rule() -> None:
    def of(*values: str) -> Contract:
        rule = {"rule": "validValues", "validValues": list(values), "mustBe": 0}
        return contract(table(column("id", quality=[rule])), apiVersion="v3.0.2", team=[{"username": "a"}])

    assert [change.id for change in compare(of("a"), of("a", "b"))] == ["rule-loosened"]


def test_the_order_and_the_names_of_rules_are_words() -> None:
    zero, few = nulls(mustBe=0), nulls(mustBeLessThan=5)
    assert {change.id for change in compare(rules(zero, few), rules(few, zero))} == {"words-changed"}
    assert [change.id for change in compare(rules(zero), rules({**zero, "name": "no gaps"}))] == ["words-changed"]
    assert [change.id for change in compare(rules(zero, few), rules(few))] == ["rule-removed"]
