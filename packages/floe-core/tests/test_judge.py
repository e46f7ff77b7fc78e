"""Steps 3 and 4 as the compile line prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_context import TODAY, context, model, read_context

from floe_core.env import Judged, Spec
from floe_core.findings import FloeError
from floe_core.project import Config
from floe_core.rules import Context
from floe_core.rules.judge import judge, read_project

CASES = Path(__file__).parent / "rule_cases"
STRICT = {"data_architecture": {"pattern": "medallion", "naming": {"enforcement": "strict"}}}


def judged(given: Context) -> Judged:
    return judge(Spec(given.chain, given.merged), given.projects, (), TODAY)


def test_valid_names_are_lines_and_findings_belong_to_their_step() -> None:
    given = read_context(CASES / "FLOE-E201" / "bad")
    done = judged(given)
    assert done.naming.lines == ("bronze_customers: valid (bronze layer)",)
    assert [item.code for item in done.naming.findings] == ["FLOE-E201", "FLOE-E201"]
    assert done.gates.findings == ()
    assert done.summary == {"models": 3, "columns": 0, "tested_columns": 0, "coverage": None}


def test_the_overall_coverage_is_reported() -> None:
    given = read_context(CASES / "FLOE-E220" / "bad")
    done = judged(given)
    assert done.gates.lines == ("Test coverage: 60 % overall (3 of 5 columns); judged model by model",)
    assert [item.code for item in done.gates.findings] == ["FLOE-E220", "FLOE-E220"]


def test_models_are_compiled_with_layer_namespace_and_table() -> None:
    folder = CASES / "FLOE-E201" / "bad"
    given = read_context(folder)
    done = judged(given)
    assert [(item.name, item.kind, item.layer, item.namespace, item.table, item.path) for item in done.models] == [
        (
            "bronze_customers",
            "model",
            "bronze",
            "default.customer_360.bronze",
            "bronze_customers",
            "models/bronze_customers.sql",
        ),
        ("stg_payments", "model", None, "default.customer_360", "stg_payments", "models/staging/stg_payments.sql"),
        ("countries", "seed", None, "default.customer_360", "countries", "seeds/countries.csv"),
    ]


def test_a_port_publishes_a_model_under_another_name() -> None:
    given = context(
        {},
        nodes=(model("gold_a", config=Config(materialized="table")),),
        product={"output_ports": [{"name": "a", "table": "gold_a", "published_as": "a"}]},
    )
    [compiled] = judged(given).models
    assert (compiled.table, compiled.materialization) == ("a", "table")


def test_many_names_are_counted_and_not_listed() -> None:
    given = context(STRICT, nodes=tuple(model(f"gold_{number}") for number in range(80)))
    lines = judged(given).naming.lines
    assert len(lines) == 51
    assert lines[-1] == "and 30 more"


def test_a_project_in_which_nothing_was_found_says_so() -> None:
    assert judged(context(STRICT)).naming.lines == ("shop: no models, seeds or snapshots of its own",)


def test_without_projects_the_product_is_judged() -> None:
    given = read_context(CASES / "FLOE-E172" / "bad")
    done = judge(Spec(given.chain, given.merged), (), (), TODAY)
    assert [item.code for item in done.gates.findings] == ["FLOE-E172"]


def test_a_manifest_that_cannot_be_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(FloeError):
        read_project(tmp_path / "manifest.json", tmp_path)
