"""Rules about the product and its project: approvals, schedules, ports, layers, circles, meta, custom rules."""

from __future__ import annotations

from typing import Any

import pytest
from rule_context import context, dbt_test, model

from floe_core.findings import Severity
from floe_core.project import Column, Config, DependsOn, RawNode
from floe_core.rules import RULES, Topic, enforce


def codes(*tiers: dict[str, Any], nodes: tuple[RawNode, ...] = (), **product: Any) -> list[str]:
    return [item.code for item in enforce(context(*tiers, nodes=nodes, product=product)).findings]


def schedule(cron: str, timezone: str = "UTC", **more: Any) -> dict[str, Any]:
    return {"cron": cron, "timezone": timezone, **more}


def policy(**keys: Any) -> dict[str, Any]:
    return {"governance": {"schedule": keys}}


def test_products_are_compared_as_catalogs_spell_them() -> None:
    assert codes({}, {"approved_products": ["domain.customer_360"]}) == []
    assert codes({}, {"approved_products": ["domain.customer-360"]}) == []
    assert codes({}, {"approved_products": ["domain.orders"]}) == ["FLOE-E171"]
    assert codes({}, {"approved_products": []}) == ["FLOE-E171"]
    assert codes({}, {}) == []


def test_no_list_of_sources_approves_all_and_an_empty_one_none() -> None:
    ingestion = [{"type": "dlt", "source": "crm"}, {"type": "dlt", "source": "erp"}]
    assert codes({}, ingestion=ingestion) == []
    assert codes({"approved_sources": ["crm"]}, ingestion=ingestion) == ["FLOE-E172"]
    assert codes({"approved_sources": []}, ingestion=ingestion) == ["FLOE-E172", "FLOE-E172"]
    assert codes({"approved_sources": ["crm", "erp"]}, {"approved_sources": ["crm"]}, ingestion=ingestion) == [
        "FLOE-E172"
    ]


@pytest.mark.parametrize(
    ("tiers", "cron", "expected"),
    [
        ([policy(allowed=["* 0-6 * * *"])], "0 6 * * *", []),
        ([policy(allowed=["* 0-6 * * *"])], "0 7 * * *", ["FLOE-E173"]),
        ([policy(allowed=["* 0-6 * * *", "* 22 * * *"])], "30 22 * * *", []),
        ([policy(allowed=["* 0-6 * * *"]), policy(allowed=["0 * * * *"])], "0 3 * * *", []),
        ([policy(allowed=["* 0-6 * * *"]), policy(allowed=["0 * * * *"])], "5 3 * * *", ["FLOE-E173"]),
        ([policy(allowed=["* 0-6 * * *"]), policy(allowed=["0 * * * *"])], "5 8 * * *", ["FLOE-E173"] * 2),
        ([policy(min_interval="1h")], "0 * * * *", []),
        ([policy(min_interval="1h")], "0,59 * * * *", ["FLOE-E174"]),
        ([policy(min_interval="1h"), policy(min_interval="2h")], "0 * * * *", ["FLOE-E174"]),
        ([policy(min_interval="24h")], "0 6 * * *", []),
        ([policy(min_interval="1h", allowed=["* 0 * * *"])], "*/5 * * * *", ["FLOE-E173", "FLOE-E174"]),
        ([policy()], "* * * * *", []),
    ],
)
def test_schedules_stay_in_every_tiers_window_and_are_not_too_frequent(
    tiers: list[dict[str, Any]], cron: str, expected: list[str]
) -> None:
    assert codes(*tiers, schedule=schedule(cron)) == expected


def test_a_window_is_read_in_the_time_zone_of_the_product() -> None:
    night = policy(allowed=["* 0-6 * * *"])
    assert codes(night, schedule=schedule("0 6 * * *", "Asia/Tokyo")) == []
    assert codes(night, schedule=schedule("0 21 * * *", "Asia/Tokyo")) == ["FLOE-E173"]


def test_a_schedule_that_is_off_is_read_and_not_judged() -> None:
    never = policy(allowed=["0 0 1 1 *"], min_interval="24h")
    assert codes(never, schedule=schedule("* * * * *", enabled=False)) == []
    assert codes(never, schedule=schedule("0 6 31 2 *", "Mars/Olympus", enabled=False)) == [
        "FLOE-E175",
        "FLOE-E176",
    ]


def test_a_daily_run_breaks_24_hours_on_the_day_the_clock_is_put_forward() -> None:
    done = enforce(
        context(policy(min_interval="24h"), product={"schedule": schedule("0 6 * * *", "Europe/Berlin")})
    )
    assert [item.message for item in done.findings] == ["two runs are PT23H apart on 2027-03-28, less than P1D"]


@pytest.mark.parametrize(
    ("pattern", "reads", "expected"),
    [
        ("medallion", ("silver_a", "bronze_b"), []),
        ("medallion", ("bronze_a", "silver_b"), ["FLOE-E311"]),
        ("medallion", ("gold_a", "gold_b"), []),
        ("kimball", ("dim_a", "fact_b"), []),
        ("kimball", ("fact_a", "dim_b"), []),
        ("kimball", ("dim_a", "bridge_b"), ["FLOE-E311"]),
        ("kimball", ("stg_a", "dim_b"), ["FLOE-E311"]),
        ("data_vault", ("hub_a", "sat_b"), ["FLOE-E311"]),
        ("data_vault", ("link_a", "hub_b"), []),
    ],
)
def test_a_layer_reads_from_itself_or_earlier_ones(
    pattern: str, reads: tuple[str, str], expected: list[str]
) -> None:
    child, parent = reads
    nodes = (model(child, depends_on=DependsOn([f"model.shop.{parent}"])), model(parent))
    tier = {"data_architecture": {"pattern": pattern, "naming": {"enforcement": "strict"}}}
    assert codes(tier, nodes=nodes) == expected


@pytest.mark.parametrize(
    ("level", "severity"), [("off", None), ("warn", Severity.WARNING), ("strict", Severity.ERROR)]
)
def test_layer_order_has_a_level_of_its_own(level: str, severity: Severity | None) -> None:
    nodes = (model("bronze_a", depends_on=DependsOn(["model.shop.gold_b"])), model("gold_b"))
    tier = {"data_architecture": {"pattern": "medallion", "layer_order": level}}
    found = enforce(context(tier, nodes=nodes)).findings
    assert [item.severity for item in found] == ([severity] if severity else [])


def test_a_layer_can_be_named_in_meta() -> None:
    named = model(
        "orders", config=Config(meta={"floe": {"layer": "bronze"}}), depends_on=DependsOn(["model.shop.gold_b"])
    )
    tier = {
        "data_architecture": {"pattern": "medallion", "layer_order": "strict", "naming": {"enforcement": "off"}}
    }
    assert codes(tier, nodes=(named, model("gold_b"))) == ["FLOE-E311"]


def test_a_node_that_the_manifest_lacks_is_a_reference_that_leads_nowhere() -> None:
    assert codes({}, nodes=(model("a", depends_on=DependsOn(["model.shop.ghost", "macro.x"])),)) == ["FLOE-E312"]


def test_ports_name_models_seeds_and_snapshots() -> None:
    nodes = (model("a"), model("b", resource_type="seed"), model("c", resource_type="snapshot"))
    ports = [{"name": name} for name in "abc"]
    assert codes({}, nodes=nodes, output_ports=ports) == []
    assert codes({}, nodes=nodes, output_ports=[{"name": "x", "table": "A"}]) == ["FLOE-E313"]


@pytest.mark.parametrize(
    ("floe", "expected"),
    [
        ({"primary_key": ["id"]}, []),
        ({"primary_key": "ID"}, []),
        ({"primary_key": []}, ["FLOE-E241"]),
        ({"primary_key": {"a": 1}}, ["FLOE-E241"]),
        ({"primary_key": ["ghost"]}, ["FLOE-E241"]),
        ({"freshness": "PT6H"}, []),
        ({"freshness": 6}, ["FLOE-E241"]),
        ({"freshness": None}, ["FLOE-E241"]),
        ({"layer": "anything"}, []),
        ({"layer": 3}, ["FLOE-E241"]),
        ("gold", ["FLOE-E241"]),
        ({"something": "else"}, []),
    ],
)
def test_meta_that_cannot_be_read_is_said(floe: object, expected: list[str]) -> None:
    assert codes({}, nodes=(model("a", meta={"floe": floe}, columns={"id": Column("id")}),)) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("pii", []),
        ("PII", []),
        (["phi", "sensitive"], []),
        ("personal", ["FLOE-E240"]),
        (["pii", "secret"], ["FLOE-E240"]),
        (None, ["FLOE-E240"]),
        (3, ["FLOE-E240"]),
        ({"a": 1}, ["FLOE-E240"]),
    ],
)
def test_classifications_are_those_that_floe_knows(written: object, expected: list[str]) -> None:
    column = Column("id", meta={"floe": {"classification": written}})
    assert codes({}, nodes=(model("a", columns={"id": column}),)) == expected


def custom(**rule: Any) -> dict[str, Any]:
    return {"governance": {"custom_rules": [rule]}}


def test_tags_of_the_node_and_of_its_config_both_count() -> None:
    rule = custom(type="require_tags_for_prefix", prefix="gold_", required_tags=["a", "b"])
    assert codes(rule, nodes=(model("gold_x", tags=["a"], config=Config(tags="b")),)) == []
    assert codes(rule, nodes=(model("gold_x", tags=["a"]), model("silver_x"))) == ["FLOE-E401"]


@pytest.mark.parametrize(
    ("owner", "expected"), [("me", []), ("", ["FLOE-E402"]), (None, ["FLOE-E402"]), (False, [])]
)
def test_a_meta_field_must_hold_something(owner: object, expected: list[str]) -> None:
    rule = custom(type="require_meta_field", field="owner", applies_to="gold_*")
    assert codes(rule, nodes=(model("gold_x", meta={"owner": owner}), model("x"))) == expected


def test_each_type_of_test_must_stand_on_enough_columns() -> None:
    node = model("a")
    rule = custom(type="require_tests_of_type", test_types=["not_null", "unique"], min_columns=2)
    tests = [dbt_test(node, kind, column) for kind in ("not_null", "unique") for column in ("x", "y")]
    assert codes(rule, nodes=(node, *tests)) == []
    assert codes(rule, nodes=(node, *tests[:3])) == ["FLOE-E403"]


def test_two_tiers_with_the_same_rule_find_it_once() -> None:
    rule = custom(type="require_meta_field", field="owner")
    assert codes(rule, rule, nodes=(model("a"),)) == ["FLOE-E402"]


def test_without_a_project_the_product_itself_is_still_judged() -> None:
    whole = context(
        {"approved_sources": []},
        product={"ingestion": [{"type": "dlt", "source": "crm"}], "output_ports": [{"name": "a"}]},
    )
    unparsed = type(whole)(whole.product, whole.chain, whole.merged)
    assert [item.code for item in enforce(unparsed).findings] == ["FLOE-E172"]
    assert enforce(unparsed).summary.models == ()


def test_each_rule_checks_either_models_or_the_product_and_names_belong_to_step_three() -> None:
    for rule in RULES:
        assert (rule.model is None) != (rule.product is None)
        assert rule.step == (3 if rule.topic is Topic.NAMING else 4)


def test_a_circle_of_many_models_is_one_finding_that_names_a_few() -> None:
    names = [f"m{number:03}" for number in range(300)]
    nodes = tuple(
        model(name, depends_on=DependsOn([f"model.shop.{following}"]))
        for name, following in zip(names, [*names[1:], names[0]], strict=True)
    )
    [finding] = enforce(context({}, nodes=nodes)).findings
    assert finding.message.endswith("m018, m019, … read each other in a circle")
    assert len(finding.related) == 20


def test_a_model_that_reads_itself_is_a_circle_of_one() -> None:
    [finding] = enforce(context({}, nodes=(model("a", depends_on=DependsOn(["model.shop.a"])),))).findings
    assert finding.message == "a reads itself"
