"""Whatever a dbt project writes into meta, tags and arguments: every rule ends, every finding has a place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from manifests import laws
from rule_context import TODAY, context, dbt_test, model

from floe_core.project import Column, ColumnConfig, Config, DependsOn, Project
from floe_core.rules import Context, enforce

TIER = {
    "data_architecture": {
        "pattern": "medallion",
        "naming": {"enforcement": "warn"},
        "layers": {
            "gold": {"required_tests": ["scd_validation", "referential_integrity", "hash_key", "load_date"]}
        },
    },
    "governance": {
        "quality_gates": {
            "minimum_test_coverage": 50,
            "require_descriptions": True,
            "require_column_descriptions": True,
        },
        "classification": {"coverage": {"pii": 100, "restricted": 50}},
        "custom_rules": [
            {"type": "require_tags_for_prefix", "prefix": "gold_", "required_tags": ["a"]},
            {"type": "require_meta_field", "field": "owner"},
            {"type": "require_tests_of_type", "test_types": ["unique"], "min_columns": 2},
        ],
    },
}
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["pii", "id", "gold"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
floe = json | st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("primary_key", "freshness", "layer", "classification"), json)
)
names = st.sampled_from(["gold_a", "stg_a", "a", "", "*", "ß_A", "gold_", "a\nb", "'"])


@laws
@given(names, floe, floe, json, json, st.text(max_size=6))
def test_odd_values_never_stop_a_rule(
    name: str, of_model: Any, of_column: Any, argument: Any, owner: Any, text: str
) -> None:
    node = model(
        name,
        description=text,
        columns={"id": Column("id", text, meta={"floe": of_column}, config=ColumnConfig(meta={"floe": of_column}))},
        config=Config(meta={"floe": of_model, "owner": owner}),
        depends_on=DependsOn([f"model.shop.{name}", "model.shop.ghost", text]),
        patch_path=text or None,
    )
    tests = (
        dbt_test(node, "unique_combination_of_columns", combination_of_columns=argument),
        dbt_test(node, "not_null", column_name=argument),
        dbt_test(node, text or "x", "ID", model=argument),
    )
    given_nodes = context(TIER, nodes=(node, *tests))
    nowhere = tuple(Project(project.manifest, Path("/nowhere")) for project in given_nodes.projects)
    whole = Context(given_nodes.product, given_nodes.chain, given_nodes.merged, nowhere, today=TODAY)
    for finding in enforce(whole).findings:
        assert finding.message
        assert finding.line >= 1
        assert finding.path.startswith("/nowhere")
