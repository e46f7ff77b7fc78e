"""Quality gates: required tests and what satisfies them, coverage, documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws
from rule_context import context, dbt_test, model

from floe_core.defaults import TESTS_BY_LAYER
from floe_core.findings import Severity
from floe_core.project import Column, Config, Constraint, DependsOn, RawNode
from floe_core.rules import Context, enforce
from floe_core.rules.coverage import percent
from floe_core.rules.documentation import is_placeholder
from floe_core.rules.required_tests import CURES, OF_KEY, OF_MODEL


def columns(*names: str, **meta: Mapping[str, Any]) -> dict[str, Column]:
    return {
        name: Column(name, "What it holds.", meta={"floe": meta[name]} if name in meta else {}) for name in names
    }


def layer(name: str, *required: str) -> dict[str, Any]:
    """A platform that demands exactly these tests of one layer."""
    return {"data_architecture": {"pattern": "custom", "layers": {name: {"required_tests": list(required)}}}}


def missing(required: str, node: RawNode, *tests: RawNode, product: Mapping[str, Any] | None = None) -> list[str]:
    config = Config(meta={"floe": {"layer": "mart", **node.config.meta.get("floe", {})}})
    placed = model(
        node.name,
        columns=node.columns,
        config=config,
        constraints=node.constraints,
        description=node.description,
        resource_type=node.resource_type,
    )
    done = enforce(context(layer("mart", required), nodes=(placed, *tests), product=product))
    return [item.code for item in done.findings]


KEYED = model("a", columns=columns("id", "b"), config=Config(meta={"floe": {"primary_key": ["id"]}}))
PAIR = model("a", columns=columns("id", "b"), config=Config(meta={"floe": {"primary_key": ["id", "b"]}}))
PLAIN = model("a", columns=columns("id", "b"))


@pytest.mark.parametrize(
    ("required", "node", "tests", "satisfied"),
    [
        ("not_null_pk", KEYED, [("not_null", "id")], True),
        ("not_null_pk", KEYED, [("not_null", "ID")], True),
        ("not_null_pk", KEYED, [("not_null", "b")], False),
        ("not_null_pk", PAIR, [("not_null", "id")], False),
        ("not_null_pk", PAIR, [("not_null", "id"), ("not_null", "b")], True),
        ("unique_pk", KEYED, [("unique", "id")], True),
        ("unique_pk", KEYED, [("not_null", "id")], False),
        ("unique_pk", PAIR, [("unique", "b")], True),
        ("unique_business_key", KEYED, [("unique", "id")], True),
        ("referential_integrity", PLAIN, [("relationships", "b")], True),
        ("referential_integrity", PLAIN, [("unique", "b")], False),
        ("accepted_values", PLAIN, [("accepted_values", "b")], True),
        ("accepted_values", PLAIN, [], False),
        ("hash_key", model("a", columns=columns("customer_hk")), [("unique", "customer_hk")], False),
        (
            "hash_key",
            model("a", columns=columns("customer_hk")),
            [("unique", "customer_hk"), ("not_null", "customer_hk")],
            True,
        ),
        ("load_date", model("a", columns=columns("load_dts")), [("not_null", "load_dts")], True),
        ("load_date", model("a", columns=columns("load_dts")), [], False),
        ("record_source", model("a", columns=columns("rsrc")), [("not_null", "rsrc")], True),
        ("scd_validation", PLAIN, [], False),
        (
            "scd_validation",
            model("a", columns=columns("dbt_valid_from", "dbt_valid_to")),
            [("not_null", "dbt_valid_from")],
            True,
        ),
        ("scd_validation", model("a", columns=columns("dbt_valid_from")), [("not_null", "dbt_valid_from")], False),
        ("scd_validation", model("a", resource_type="snapshot"), [], True),
        ("documentation", model("a", description="Orders.", columns=columns("id")), [], True),
        ("documentation", model("a", description="Orders.", columns={"id": Column("id")}), [], False),
        ("documentation", model("a", description="TBD", columns=columns("id")), [], False),
        ("freshness", PLAIN, [], False),
        ("freshness", model("a", config=Config(meta={"floe": {"freshness": "PT6H"}})), [], True),
    ],
)
def test_what_satisfies_a_required_test(
    required: str, node: RawNode, tests: list[tuple[str, str]], satisfied: bool
) -> None:
    found = missing(required, node, *(dbt_test(node, kind, column) for kind, column in tests))
    assert found == ([] if satisfied else ["FLOE-E210"])


def test_a_test_of_several_columns_shows_that_a_key_of_several_is_unique() -> None:
    together = dbt_test(PAIR, "unique_combination_of_columns", combination_of_columns=["ID", "b"])
    wider = dbt_test(PAIR, "unique_combination_of_columns", combination_of_columns=["id", "b", "c"])
    assert missing("unique_pk", PAIR, together) == []
    assert missing("unique_pk", PAIR, wider) == ["FLOE-E210"]


def test_without_a_key_the_finding_is_that_there_is_none() -> None:
    assert missing("not_null_pk", PLAIN, dbt_test(PLAIN, "not_null", "id")) == ["FLOE-E211"]


@pytest.mark.parametrize(
    "node",
    [
        model("a", columns=columns("id", id={"primary_key": True})),
        model("a", columns=columns("id"), constraints=[Constraint("primary_key", ["id"])]),
        model("a", columns={"id": Column("id", constraints=[Constraint("primary_key")])}),
        model("a", columns=columns("id"), config=Config(meta={"floe": {"primary_key": "id"}})),
    ],
)
def test_a_key_is_declared_in_meta_or_by_a_constraint(node: RawNode) -> None:
    assert missing("not_null_pk", node, dbt_test(node, "not_null", "id")) == []


def test_a_port_declares_key_and_freshness_of_its_model() -> None:
    port = {
        "name": "a",
        "schema": [{"name": "b", "type": "string", "primary_key": True}],
        "sla": {"freshness": "6h"},
    }
    product = {"output_ports": [port]}
    assert missing("not_null_pk", KEYED, dbt_test(KEYED, "not_null", "b"), product=product) == []
    assert missing("freshness", KEYED, product=product) == []


def test_the_finding_lists_what_is_required_and_what_is_missing() -> None:
    gold = model(
        "gold_revenue",
        columns=columns("id"),
        config=Config(meta={"floe": {"primary_key": ["id"], "freshness": "PT1H"}}),
    )
    tests = (dbt_test(gold, "not_null", "id"), dbt_test(gold, "unique", "id"))
    tier = {"data_architecture": {"pattern": "medallion"}, "governance": {"quality_gates": {}}}
    [finding] = enforce(context(tier, nodes=(gold, *tests))).findings
    assert finding.message == "gold_revenue missing required tests"
    assert finding.details == (
        ("Required", "[not_null_pk, unique_pk, freshness, documentation]"),
        ("Missing", "[documentation]"),
    )


def test_every_required_test_of_the_defaults_has_a_meaning_and_a_cure() -> None:
    demanded = {name for names in TESTS_BY_LAYER.values() for name in names}
    assert demanded == {*OF_KEY, *OF_MODEL} == set(CURES)


def test_block_on_failure_false_makes_gates_warn() -> None:
    gates = {"minimum_test_coverage": 50, "require_descriptions": True, "block_on_failure": False}
    found = enforce(context({"governance": {"quality_gates": gates}}, nodes=(model("a"),))).findings
    assert [(item.code, item.severity) for item in found] == [
        ("FLOE-E220", Severity.WARNING),
        ("FLOE-E230", Severity.WARNING),
    ]


def covered(minimum: int, names: int, tested: int, sql: str | None = "select * from nowhere") -> Context:
    node = model("a", columns=columns(*(f"c{number}" for number in range(names))), compiled_code=sql)
    tests = (dbt_test(node, "not_null", f"c{number}") for number in range(tested))
    return context({"governance": {"quality_gates": {"minimum_test_coverage": minimum}}}, nodes=(node, *tests))


@laws
@given(st.integers(0, 100), st.integers(0, 20), st.integers(0, 20))
def test_coverage_is_tested_columns_over_columns(minimum: int, names: int, tested: int) -> None:
    tested = min(names, tested)
    done = enforce(covered(minimum, names, tested))
    wanted = names * minimum > 100 * tested if names else minimum > 0
    assert [item.code for item in done.findings] == (["FLOE-E220"] if wanted else [])
    assert done.summary.coverage == (100 * tested / names if names else None)


def test_columns_of_the_sql_count_as_well_as_declared_ones() -> None:
    sql = "select 1 as C0, 2 as c1, 3 as c2"
    [finding] = enforce(covered(100, 2, 2, sql)).findings
    assert finding.actual == "66.6 % (2 of 3 columns)"
    assert finding.fix == "Add tests to c2."


def test_sql_that_cannot_be_followed_is_said() -> None:
    [finding] = enforce(covered(100, 2, 1, sql=None)).findings
    assert finding.message == (
        "a: test coverage 50 % is below 100 % (declared columns only: its SQL could not be followed)"
    )


@pytest.mark.parametrize(("name", "minimum"), [("bronze_a", 50), ("silver_a", 80), ("gold_a", 100)])
def test_each_layer_has_a_default_minimum(name: str, minimum: int) -> None:
    tier = {
        "data_architecture": {"pattern": "medallion", "layers": {"x": {"required_tests": []}}},
        "governance": {"quality_gates": {}},
    }
    found = enforce(context(tier, nodes=(model(name),))).findings
    assert [item.expected for item in found if item.code == "FLOE-E220"] == [f"at least {minimum} %"]


def test_an_explicit_minimum_holds_for_models_of_no_layer() -> None:
    [finding] = enforce(covered(60, 2, 1)).findings
    assert finding.expected == "at least 60 %"


def test_a_share_is_never_rounded_up_to_its_minimum() -> None:
    assert percent(79.99) == "79.9 %"
    assert percent(80) == "80 %"


def class_coverage(*tested: str) -> list[str | None]:
    node = model("a", columns=columns("mail", "phone", "city", mail={"classification": "PII"}))
    product = {
        "output_ports": [
            {
                "name": "a",
                "classification": "CONFIDENTIAL",
                "schema": [{"name": "phone", "type": "string", "classification": "pii"}],
            }
        ]
    }
    tier = {"governance": {"classification": {"coverage": {"pii": 100}}}}
    done = enforce(
        context(tier, nodes=(node, *(dbt_test(node, "unique", name) for name in tested)), product=product)
    )
    return [item.actual for item in done.findings]


def test_coverage_of_a_class_counts_the_columns_of_that_class_in_yaml_and_ports() -> None:
    assert class_coverage("city") == ["0 % (0 of 2 columns)"]
    assert class_coverage("mail") == ["50 % (1 of 2 columns)"]
    assert class_coverage("mail", "phone") == []


def test_coverage_of_a_class_counts_inherited_columns() -> None:
    bronze = model("bronze_a", columns=columns("mail", mail={"classification": "pii"}), relation_name="db.bronze_a")
    reads = DependsOn([bronze.unique_id])
    gold = model("gold_a", depends_on=reads, compiled_code="select mail as contact from db.bronze_a")
    tier = {"governance": {"classification": {"coverage": {"pii": 100}}}}
    done = enforce(context(tier, nodes=(bronze, dbt_test(bronze, "unique", "mail"), gold)))
    assert [(item.code, item.fix) for item in done.findings] == [("FLOE-E221", "Add tests to contact.")]


def words() -> Iterator[tuple[str, bool]]:
    for text in (
        "TBD",
        "tbd.",
        "TODO",
        "TODO: ask",
        "todo - later",
        "FIXME",
        "description",
        "...",
        "…",
        "n/a",
        "N/A",
    ):
        yield text, True
    for text in ("-", "?", " None ", "<description>", "No description", "To be  defined", "[WIP]", "Lorem ipsum"):
        yield text, True
    for text in ("", "Todos of a user.", "Name", "NA region", "Description of goods.", "Unknown customers.", "id"):
        yield text, False


@pytest.mark.parametrize(("text", "verdict"), list(words()))
def test_text_that_only_fills_the_field(text: str, verdict: bool) -> None:
    assert is_placeholder(text) is verdict
