"""Merging files: what a weakening says, where it points, and who set each value."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from manifests import architecture, gates, line_of, manifest, tier

from floe_core import Finding, Manifest, PolicyViolationError, Severity, load_manifest, merge_manifests
from floe_core.findings import Place
from floe_core.merge import Leaf, Merged, Statement, Tier, merge_tiers, short_name
from floe_core.order import AtLeast, Extend
from floe_core.schemas.parts import NamePattern
from floe_core.settings import Settings, flatten

CONVENTIONS = ("naming_conventions",)
COVERAGE = ("governance", "quality_gates", "minimum_test_coverage")
HEAD = "apiVersion: floe.dev/v1\nkind: Manifest\nmetadata: {name: acme}\nscope: enterprise\n"  # four lines

ENTERPRISE = """\
    required_floe_version: ">=0.1"
    approved_plugins:
      compute: [duckdb, spark]
    data_architecture:
      pattern: medallion
      layers:
        gold: {minimum_coverage: 95}
    governance:
      quality_gates:
        threshold: 80
        block_on_failure: true
      classification: {minimum: INTERNAL}
    sla_minimums: {freshness: 24h}
    """
DOMAIN = """\
    required_floe_version: ">=0.0.9"
    approved_plugins:
      compute:
      - spark
      - trino
    data_architecture:
      pattern: kimball
      layers:
        gold: {minimum_coverage: 90}
    governance:
      quality_gates:
        threshold: 70
        block_on_failure: false
      classification: {minimum: PUBLIC}
    sla_minimums: {freshness: 2d}
    """


def written(folder: Path, name: str, text: str) -> Tier:
    path = folder / f"{name}.yaml"
    path.write_text(HEAD + dedent(text), encoding="utf-8")
    loaded = load_manifest(path)
    return Tier(name, flatten(loaded.document), loaded.place)


def spot(place: Place) -> str:
    return f"{Path(place.path).name}:{place.line}:{place.column}"


def test_all_weakenings_of_a_file_come_at_once_with_both_values_and_both_places(tmp_path: Path) -> None:
    tiers = [written(tmp_path, "acme", ENTERPRISE), written(tmp_path, "sales", DOMAIN)]
    merged, findings = merge_tiers(tiers)
    assert {
        spot(item.place): (item.code, item.message, [(spot(other.place), other.message) for other in item.related])
        for item in findings
    } == {
        "sales.yaml:5:24": (
            "FLOE-E160",
            "required_floe_version >=0.0.9 is weaker than >=0.1",
            [("acme.yaml:5:24", "acme requires at least >=0.1")],
        ),
        "sales.yaml:7:3": (
            "FLOE-E161",
            "approved_plugins.compute [trino] is not approved by the parent",
            [("acme.yaml:7:3", "acme requires only from [duckdb, spark]")],
        ),
        "sales.yaml:11:12": (
            "FLOE-E162",
            "pattern kimball differs from medallion",
            [("acme.yaml:9:12", "acme requires medallion")],
        ),
        "sales.yaml:13:30": (
            "FLOE-E160",
            "data_architecture.layers.gold.minimum_coverage 90 is weaker than 95",
            [("acme.yaml:11:30", "acme requires at least 95")],
        ),
        "sales.yaml:16:16": (
            "FLOE-E160",
            "threshold 70 is weaker than 80",
            [("acme.yaml:14:16", "acme requires at least 80")],
        ),
        "sales.yaml:17:23": (
            "FLOE-E160",
            "block_on_failure false is weaker than true",
            [("acme.yaml:15:23", "acme requires true")],
        ),
        "sales.yaml:18:29": (
            "FLOE-E160",
            "minimum PUBLIC is weaker than INTERNAL",
            [("acme.yaml:16:29", "acme requires INTERNAL or CONFIDENTIAL or RESTRICTED")],
        ),
        "sales.yaml:19:27": (
            "FLOE-E160",
            "freshness P2D is weaker than P1D",
            [("acme.yaml:17:27", "acme requires at most P1D")],
        ),
    }
    assert all(item.severity is Severity.ERROR for item in findings)
    above, _ = merge_tiers(tiers[:1])
    assert merged.get(("governance", "quality_gates", "threshold")) == 80
    assert {path: merged.get(path) for path, leaf in above.leaves.items() if leaf.strategy.ordered} == {
        path: leaf.value for path, leaf in above.leaves.items() if leaf.strategy.ordered
    }


@pytest.mark.parametrize(
    ("parent", "child", "expected", "actual", "fix"),
    [
        (
            gates(minimum_test_coverage=80),
            gates(minimum_test_coverage=70),
            "at least 80",
            "70",
            "Use at least 80, or remove it to inherit 80.",
        ),
        (
            manifest(approved_sources=["salesforce"]),
            manifest(approved_sources=["sap", "salesforce"]),
            "only from [salesforce]",
            "[sap, salesforce]",
            "Remove [sap]; the parent approves [salesforce].",
        ),
        (
            architecture(pattern="data_vault"),
            architecture(pattern="custom"),
            "data_vault",
            "custom",
            "Use data_vault, or remove it to inherit data_vault.",
        ),
    ],
)
def test_a_weakening_tells_what_is_expected_what_is_there_and_how_to_fix_it(
    parent: Manifest, child: Manifest, expected: str, actual: str, fix: str
) -> None:
    with pytest.raises(PolicyViolationError) as caught:
        merge_manifests(parent, child)
    (finding,) = caught.value.findings
    assert (finding.expected, finding.actual, finding.fix) == (expected, actual, fix)
    assert (str(finding.place), [str(item.place) for item in finding.related]) == ("child:1:1", ["parent:1:1"])
    assert finding.related[0].message.startswith("parent requires ")


def test_a_weakening_names_every_tier_that_demands_more_and_no_other() -> None:
    tiers = (
        tier(gates(threshold=value), name)
        for value, name in ((60, "top"), (80, "middle"), (85, "low"), (70, "last"))
    )
    merged, (finding,) = merge_tiers(tiers)
    assert finding.message == "threshold 70 is weaker than 85"
    assert finding.place.path == "last"
    assert [(item.place.path, item.message) for item in finding.related] == [
        ("middle", "middle requires at least 80"),
        ("low", "low requires at least 85"),
    ]
    assert [said.tier for said in merged.leaves["governance", "quality_gates", "threshold"].statements] == [
        "top",
        "middle",
        "low",
    ]


def test_a_demand_that_was_stated_is_not_called_a_default() -> None:
    stated, implied = gates(block_on_failure=True), gates()
    for parent, suffix in ((stated, ""), (implied, " (by default)")):
        _, (finding,) = merge_tiers([tier(parent, "acme"), tier(gates(block_on_failure=False))])
        assert finding.related[0].message == f"acme requires true{suffix}"


def test_merging_two_manifests_brings_no_defaults() -> None:
    assert merge_manifests(manifest(), manifest()) == manifest()


def test_information_does_not_stop_a_merge() -> None:
    merged = merge_manifests(manifest(naming_conventions=["a"]), manifest(naming_conventions=[{"regex": "b"}]))
    assert merged.naming_conventions == ((NamePattern(glob="a"),), (NamePattern(regex="b"),))


# Naming: OR inside a tier, AND across tiers.


def names(*documents: Manifest) -> tuple[list[str], list[Finding]]:
    merged, findings = merge_tiers(
        (tier(item, name) for item, name in zip(documents, "abc", strict=False)), defaults=False
    )
    return [" | ".join(map(str, group)) for group in merged.get(CONVENTIONS, ())], findings


@pytest.mark.parametrize(
    ("documents", "groups"),
    [
        ([manifest(naming_conventions=["raw_*", "stg_*"])], ["raw_* | stg_*"]),
        ([manifest(naming_conventions=["raw_*"]), manifest(naming_conventions=["*_v2"])], ["raw_*", "*_v2"]),
        ([manifest(naming_conventions=["raw_*"]), manifest(naming_conventions=["raw_*"])], ["raw_*"]),
        ([manifest(naming_conventions=["raw_*"]), manifest(naming_conventions=[])], ["raw_*"]),
        ([manifest(naming_conventions=[]), manifest(naming_conventions=["raw_*"])], ["raw_*"]),
        ([architecture(pattern="medallion")], ["bronze_* | silver_* | gold_*"]),
        ([architecture(pattern="custom")], []),
        (
            [manifest(data_architecture={"pattern": "medallion"}, naming_conventions=["raw_*", "gold_*"])],
            ["bronze_* | silver_* | gold_* | raw_*"],
        ),
        (
            [architecture(pattern="data_vault"), manifest(naming_conventions=["*_sales"])],
            ["hub_* | link_* | sat_*", "*_sales"],
        ),
        (
            [
                architecture(pattern="data_vault"),
                manifest(data_architecture={"pattern": "data_vault"}, naming_conventions=["hub_x"]),
            ],
            ["hub_* | link_* | sat_*", "hub_* | link_* | sat_* | hub_x"],
        ),
        (
            [manifest(data_architecture={"pattern": "medallion"}, naming_conventions=[["a*"], ["*b"]])],
            ["a*", "*b"],
        ),
        (
            [manifest(data_architecture={"pattern": "data_vault"}, naming_conventions=[["a*"], ["a*"]])],
            ["hub_* | link_* | sat_* | a*"],
        ),
    ],
)
def test_a_name_matches_one_pattern_of_each_tier(documents: list[Manifest], groups: list[str]) -> None:
    assert names(*documents) == (groups, [])


def test_patterns_that_leave_no_name_are_a_finding_on_the_child() -> None:
    groups, (finding,) = names(
        manifest(naming_conventions=["raw_*", "x*"]), manifest(naming_conventions=["stg_*", "dim_*"])
    )
    assert (finding.code, finding.severity) == ("FLOE-E163", Severity.ERROR)
    assert finding.message == "no name can match [stg_*, dim_*] and every parent's patterns"
    assert finding.place == Place("b", line_of(CONVENTIONS))
    assert [(item.place, item.message) for item in finding.related] == [
        (Place("a", line_of(CONVENTIONS)), "a allows [raw_*, x*]")
    ]
    assert groups == ["raw_* | x*", "stg_* | dim_*"]


def test_a_contradiction_is_told_of_the_child_that_makes_it_and_only_there() -> None:
    _, findings = names(
        manifest(naming_conventions=["raw_*"]),
        manifest(naming_conventions=[]),
        manifest(naming_conventions=["stg_*"]),
    )
    assert [(item.path, [other.message for other in item.related]) for item in findings] == [
        ("c", ["a allows [raw_*]"])
    ]
    _, findings = names(
        manifest(naming_conventions=["raw_*"]),
        manifest(naming_conventions=["stg_*"]),
        manifest(naming_conventions=["raw_*"]),
    )
    assert [item.path for item in findings] == ["b"]


def test_prefixes_that_contradict_the_parent_are_told_at_the_pattern() -> None:
    _, (finding,) = names(manifest(naming_conventions=["raw_*"]), architecture(pattern="medallion"))
    assert finding.code == "FLOE-E163"
    assert finding.place == Place("b", line_of(("data_architecture", "pattern")))


def test_an_empty_group_leaves_no_name() -> None:
    _, (finding,) = names(manifest(naming_conventions=["raw_*"]), manifest(naming_conventions=[[]]))
    assert finding.message == "no name can match [] and every parent's patterns"
    _, (finding,) = names(manifest(naming_conventions=[[]]), manifest(naming_conventions=["raw_*"]))
    assert finding.related == ()


@pytest.mark.parametrize(
    ("parent", "child", "reason"),
    [
        (["raw_*"], [{"regex": "stg_.*"}], "they use regular expressions"),
        ([{"regex": "raw_.*"}], ["stg_*"], "they use regular expressions"),
        (["*a" * 300 + "b"], ["*a" * 300 + "c"], "there are too many"),
    ],
)
def test_what_cannot_be_decided_is_said(parent: list[Any], child: list[Any], reason: str) -> None:
    _, (finding,) = names(manifest(naming_conventions=parent), manifest(naming_conventions=child))
    assert (finding.code, finding.severity, finding.blocks) == ("FLOE-E163", Severity.INFO, False)
    assert finding.message == f"whether a name can match every tier's patterns is not decided: {reason}"
    assert finding.place.path == "b"
    assert [item.place.path for item in finding.related] == ["a"]


def test_other_lists_of_patterns_are_not_compared() -> None:
    _, findings = merge_tiers(
        tier(manifest(governance={"product_registration": {"allowed_repositories": [item]}})) for item in "ab"
    )
    assert findings == []


# Who said it.


def test_a_product_inherits_what_a_domain_says_for_itself_and_a_domain_does_not() -> None:
    enterprise = manifest(artifacts={"repository": "oci://a"}, catalog_namespace="acme")
    product = Tier(
        "product", Settings({COVERAGE: 90}, frozenset()), lambda _: Place("floe.yaml"), is_manifest=False
    )
    merged, _ = merge_tiers([tier(enterprise), product])
    assert merged.get(("artifacts", "repository")) == "oci://a"
    assert merged.get(COVERAGE) == 90
    merged, _ = merge_tiers([tier(enterprise), tier(manifest(catalog_namespace="sales")), product])
    assert ("artifacts", "repository") not in merged.leaves
    assert merged.get(("catalog_namespace",)) == "sales"
    assert [said.tier for said in merged.leaves["catalog_namespace",].statements] == ["tier"]


def test_a_gate_of_the_product_opens_no_others() -> None:
    """With gates, medallion demands tests in every layer; a product's own coverage is only that."""
    platform = tier(manifest(data_architecture={"pattern": "medallion"}))
    gate = Settings({COVERAGE: 90}, frozenset({COVERAGE[:1], COVERAGE[:2]}))
    product = Tier("product", gate, lambda _: Place("floe.yaml"), is_manifest=False)
    merged, _ = merge_tiers([platform, product])
    assert merged.get(COVERAGE) == 90
    assert [path for path in merged.leaves if path[:2] == ("data_architecture", "layers")] == []


def test_what_is_not_set_has_the_value_asked_for() -> None:
    merged, _ = merge_tiers([tier(gates(threshold=0))])
    assert merged.get(("governance", "quality_gates", "threshold"), 5) == 0
    assert merged.get(("sla_minimums", "quality"), 5) == 5
    assert merged.get(("sla_minimums", "quality")) is None
    assert Merged().get(COVERAGE) is None


def leaf(value: Any, *said: tuple[str, Any, bool]) -> Leaf:
    place = Place("x")
    return Leaf(
        ("x",), AtLeast(), value, tuple(Statement(who, what, place, default) for who, what, default in said)
    )


def test_the_setter_is_the_first_to_say_the_value_or_all_who_added_to_it() -> None:
    stated = leaf(80, ("a", 70, False), ("b", 80, False), ("c", 80, False))
    assert [said.tier for said in stated.setters] == ["b"]
    added = Leaf(
        ("x",),
        Extend(),
        ("p", "q"),
        tuple(Statement(who, (what,), Place("x")) for who, what in (("a", "p"), ("b", "q"))),
    )
    assert [said.tier for said in added.setters] == ["a", "b"]


def test_a_value_is_stated_when_any_tier_said_it() -> None:
    assert not leaf(1, ("a", 1, True)).is_stated
    assert leaf(1, ("a", 1, True), ("b", 1, False)).is_stated
    assert leaf(1, ("a", 1, False), ("b", 1, True)).is_stated


def test_statements_are_kept_in_order_with_their_places() -> None:
    merged, _ = merge_tiers([tier(gates(threshold=70), "acme"), tier(gates(threshold=90), "sales")])
    path = ("governance", "quality_gates", "threshold")
    assert merged.leaves[path].statements == (
        Statement("acme", 70.0, Place("acme", line_of(path))),
        Statement("sales", 90.0, Place("sales", line_of(path))),
    )
    assert merged.leaves[path].path == path


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (COVERAGE, "minimum_test_coverage"),
        (("identity", "enforcement"), "identity.enforcement"),
        (("plugins", "compute"), "plugins.compute"),
        (
            ("data_architecture", "layers", "gold", "minimum_coverage"),
            "data_architecture.layers.gold.minimum_coverage",
        ),
        (("shared_services", "threshold"), "shared_services.threshold"),
        (("scope",), "scope"),
    ],
)
def test_a_setting_is_called_by_its_last_word_where_that_is_unmistakable(path: tuple[str, ...], name: str) -> None:
    assert short_name(path) == name
