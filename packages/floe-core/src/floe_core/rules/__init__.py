"""Rules: one row each. The tuple below is everything that steps 3 and 4 of a compile check."""

from __future__ import annotations

from floe_core.rules import (
    approval,
    classification,
    coverage,
    custom,
    documentation,
    meta,
    naming,
    plugins,
    required_tests,
    rule,
    schedule,
    semantic,
    sql,
)
from floe_core.rules.context import Breach, Context, Model
from floe_core.rules.engine import Enforced, ModelSummary, Summary, run
from floe_core.rules.plugins import RulePlugin
from floe_core.rules.rule import Rule, Topic, always
from floe_core.schemas.manifest import RequireMeta, RequireTags, RequireTests

__all__ = [
    "RULES",
    "Breach",
    "Context",
    "Enforced",
    "Model",
    "ModelSummary",
    "Rule",
    "RulePlugin",
    "Summary",
    "Topic",
    "enforce",
]

RULES: tuple[Rule, ...] = (
    Rule(("FLOE-E201",), Topic.NAMING, rule.naming, model=naming.check_name),
    Rule(("FLOE-E202",), Topic.NAMING, rule.unless_naming_is_off, product=naming.check_patterns),
    Rule(
        ("FLOE-E210", "FLOE-E211"),
        Topic.QUALITY,
        required_tests.layer_gate,
        model=required_tests.check_model,
    ),
    Rule(("FLOE-E220",), Topic.QUALITY, coverage.model_gate, model=coverage.check_coverage),
    Rule(("FLOE-E221",), Topic.CLASSIFICATION, coverage.class_gate, model=coverage.check_class_coverage),
    Rule(
        ("FLOE-E230", "FLOE-E232"),
        Topic.QUALITY,
        documentation.model_gate,
        model=documentation.check_model,
    ),
    Rule(
        ("FLOE-E231", "FLOE-E232"),
        Topic.QUALITY,
        documentation.column_gate,
        model=documentation.check_columns,
    ),
    Rule(("FLOE-E240",), Topic.CLASSIFICATION, always, model=meta.check_classification),
    Rule(("FLOE-E240",), Topic.CLASSIFICATION, always, product=meta.check_sources),
    Rule(("FLOE-E241",), Topic.QUALITY, always, model=meta.check_meta),
    Rule(("FLOE-E310",), Topic.SEMANTIC, always, product=semantic.check_circles),
    Rule(("FLOE-E311",), Topic.SEMANTIC, rule.layer_order, model=semantic.check_layer_order),
    Rule(("FLOE-E312",), Topic.SEMANTIC, always, product=semantic.check_references),
    Rule(("FLOE-E313",), Topic.SEMANTIC, always, product=semantic.check_output_ports),
    Rule(("FLOE-E314",), Topic.SEMANTIC, always, product=semantic.check_input_ports),
    Rule((*sql.CODES.values(), "FLOE-E325"), Topic.SQL, None, model=sql.check_model),
    Rule(("FLOE-E340", "FLOE-E341", "FLOE-E344"), Topic.CLASSIFICATION, None, model=classification.check_model),
    Rule(("FLOE-E340", "FLOE-E342", "FLOE-E343"), Topic.CLASSIFICATION, None, product=classification.check_product),
    Rule(("FLOE-E171",), Topic.APPROVAL, always, product=approval.check_product),
    Rule(("FLOE-E172",), Topic.APPROVAL, always, product=approval.check_sources),
    Rule(("FLOE-E176",), Topic.APPROVAL, always, product=schedule.check_windows),
    Rule(
        ("FLOE-E173", "FLOE-E174", "FLOE-E175", "FLOE-E176"),
        Topic.APPROVAL,
        always,
        product=schedule.check_schedule,
    ),
    Rule(("FLOE-E401",), Topic.CUSTOM, custom.stated(RequireTags), model=custom.check_tags),
    Rule(("FLOE-E402",), Topic.CUSTOM, custom.stated(RequireMeta), model=custom.check_meta_field),
    Rule(("FLOE-E403",), Topic.CUSTOM, custom.stated(RequireTests), model=custom.check_test_types),
    Rule((), Topic.CUSTOM, None, product=plugins.check_plugins),
)


def enforce(context: Context) -> Enforced:
    """Check a product against its guardrails: every rule, every model, all findings at once."""
    return run(context, RULES)
