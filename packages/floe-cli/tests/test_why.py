"""`floe why`: who set a guardrail, where, and what the others said."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
Edit = Callable[[str, str, str], None]

COVERAGE = "governance.quality_gates.minimum_test_coverage"
PRODUCT = ("--product", "customer-360")


def fields_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    report = json.loads(done.stdout)
    assert (report["command"], report["exit_code"], report["errors"]) == ("floe why", 0, [])
    fields: list[dict[str, Any]] = report["summary"]["fields"]
    return fields


@pytest.mark.parametrize("field", [COVERAGE, "minimum_test_coverage", "quality_gates.minimum_test_coverage"])
def test_a_field_shows_the_value_the_rule_and_every_tier(floe_here: Run, field: str) -> None:
    done = floe_here("why", field, *PRODUCT)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{COVERAGE} = 90   (≥: a child may raise it)",
        "  →  domain sales     domain.yaml:8:28       90",
        "     enterprise acme  enterprise.yaml:11:28  80",
    ]


def test_a_field_as_a_report_says_the_same(floe_here: Run) -> None:
    [field] = fields_of(floe_here("why", COVERAGE, *PRODUCT, "--format", "json"))
    enterprise = {"tier": "enterprise acme", "path": "enterprise.yaml", "line": 11, "column": 28}
    domain = {"tier": "domain sales", "path": "domain.yaml", "line": 8, "column": 28}
    assert field == {
        "path": COVERAGE,
        "value": 90,
        "strategy": "≥",
        "statements": [
            enterprise | {"value": 80, "default": False, "in_force": False},
            domain | {"value": 90, "default": False, "in_force": True},
        ],
    }


def test_a_product_that_raises_a_guardrail_is_the_one_in_force(floe_here: Run, edit: Edit) -> None:
    edit("customer-360/floe.yaml", "domain: ", "quality: {minimum_coverage: 95}\ndomain: ")
    shown = floe_here("why", COVERAGE, *PRODUCT).stdout.splitlines()
    assert shown[0].startswith(f"{COVERAGE} = 95 ")
    assert shown[1] == "  →  product customer-360  customer-360/floe.yaml:4:29  95"


def test_a_block_shows_each_of_its_settings(floe_here: Run) -> None:
    paths = [field["path"] for field in fields_of(floe_here("why", "quality_gates", *PRODUCT, "--format=json"))]
    gates = "governance.quality_gates."
    assert sorted(paths) == [
        f"{gates}block_on_failure",
        f"{gates}minimum_test_coverage",
        f"{gates}require_descriptions",
    ]
    paragraphs = floe_here("why", "quality_gates", *PRODUCT).stdout.split("\n\n")
    assert sorted(text.split(" = ")[0] for text in paragraphs) == sorted(paths)


def test_a_default_is_called_one_and_names_the_tier_that_brought_it(floe_here: Run) -> None:
    assert floe_here("why", "block_on_failure", *PRODUCT).stdout.splitlines() == [
        "governance.quality_gates.block_on_failure = true   (false<true: a child may switch it on)",
        "  →  enterprise acme  enterprise.yaml:10:3  true (by default)",
    ]
    [field] = fields_of(floe_here("why", "block_on_failure", *PRODUCT, "--format=json"))
    assert [(said["default"], said["value"]) for said in field["statements"]] == [(True, True)]


def test_values_of_every_kind_are_plain_json(floe_here: Run, edit: Edit) -> None:
    edit("domain.yaml", "governance:", "naming_conventions: [gold_*]\nsla_minimums: {freshness: 6h}\ngovernance:")
    values = {
        field["path"]: field["value"]
        for word in ("compute", "freshness", "naming_conventions", "pattern", "required_tests")
        for field in fields_of(floe_here("why", word, *PRODUCT, "--format=json"))
    }
    layers = [{"glob": "bronze_*"}, {"glob": "silver_*"}, {"glob": "gold_*"}]
    assert values["plugins.compute"] == {"type": "duckdb", "config": {}}
    assert values["sla_minimums.freshness"] == "PT6H"
    assert values["naming_conventions"] == [layers, [{"glob": "gold_*"}]]
    assert values["data_architecture.pattern"] == "medallion"
    assert values["data_architecture.layers.bronze.required_tests"] == ["not_null_pk"]


def test_a_setting_that_nobody_set_says_so(floe_here: Run) -> None:
    done = floe_here("why", "secrets_backend", *PRODUCT)
    assert (done.returncode, done.stdout) == (0, "secrets_backend is not set by any tier, and has no default.\n")
    assert fields_of(floe_here("why", "secrets_backend", *PRODUCT, "--format=json")) == []


@pytest.mark.parametrize(
    ("field", "hint"),
    [
        ("minimum_test_coverag", "Did you mean minimum_test_coverage"),
        ("quality_gate", "Did you mean quality_gates"),
        ("xyz", "`floe schema manifest` lists all of them."),
    ],
)
def test_an_unknown_field_is_wrong_usage_with_the_nearest_one(floe_here: Run, field: str, hint: str) -> None:
    done = floe_here("why", field, *PRODUCT)
    assert done.returncode == 2
    assert done.stdout.startswith(f"✗ FLOE-E001 (command line):1:1  There is no setting {field}. {hint}")
    as_json = floe_here("why", field, *PRODUCT, "--format=json")
    assert (as_json.returncode, json.loads(as_json.stdout)["errors"][0]["code"]) == (2, "FLOE-E001")


@pytest.mark.parametrize(
    ("old", "new", "exit_code", "code"),
    [
        ("coverage: 90", "coverage: 70", 1, "FLOE-E160"),
        ("scope: domain", "scope: [", 2, "FLOE-E101"),
        ("parent: enterprise.yaml", "parent: v1.2.3", 3, "FLOE-E159"),
    ],
)
def test_a_platform_that_does_not_merge_is_reported_instead(
    floe_here: Run, edit: Edit, old: str, new: str, exit_code: int, code: str
) -> None:
    edit("domain.yaml", old, new)
    for output in ("text", "json"):
        done = floe_here("why", COVERAGE, *PRODUCT, "--format", output)
        assert done.returncode == exit_code
        assert code in done.stdout


def test_without_a_product_the_current_folder_is_asked(
    floe_here: Run, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(mesh / "customer-360")
    assert "../domain.yaml:8:28" in floe_here("why", COVERAGE).stdout
