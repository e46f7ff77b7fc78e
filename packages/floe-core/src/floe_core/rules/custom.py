"""`custom_rules` of a manifest: tags, meta fields and tests that a platform asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from floe_core.findings import Finding, Place, Related, Severity
from floe_core.merge import Statement
from floe_core.order import show
from floe_core.rules.context import CUSTOM, Breach, Context, Model
from floe_core.rules.naming import fits
from floe_core.rules.rule import SeverityOf
from floe_core.schemas.manifest import RequireMeta, RequireTags, RequireTests
from floe_core.schemas.values import Block

R = TypeVar("R", bound=Block)


def stated(kind: type[Block]) -> SeverityOf:
    """Blocks, where some tier states a rule of that kind."""
    return lambda merged: Severity.ERROR if any(isinstance(rule, kind) for rule in merged.get(CUSTOM, ())) else None


def check_tags(context: Context, model: Model) -> Iterator[Breach]:
    """E401: a model with the prefix lacks tags."""
    for rule, said in _rules(context, RequireTags):
        absent = [tag for tag in rule.required_tags if tag not in model.node.all_tags]
        if model.name.startswith(rule.prefix) and absent:
            message = f"{model.name} lacks the tags {show(absent)}"
            place = model.places.value(model.node, "tags")
            yield _breach("FLOE-E401", message, place, said, f"Add `tags: {show(absent)}` to the model's config.")


def check_meta_field(context: Context, model: Model) -> Iterator[Breach]:
    """E402: a model lacks a meta field, or has it empty."""
    for rule, said in _rules(context, RequireMeta):
        if fits(rule.applies_to, model.name) and model.node.all_meta.get(rule.field) in (None, "", [], {}):
            message = f"{model.name} lacks the meta field {rule.field}"
            place = model.places.value(model.node, "meta", rule.field)
            yield _breach("FLOE-E402", message, place, said, f"Add `{rule.field}` under the model's `meta`.")


def check_test_types(context: Context, model: Model) -> Iterator[Breach]:
    """E403: too few columns carry a test of each type."""
    for rule, said in _rules(context, RequireTests):
        if not fits(rule.applies_to, model.name):
            continue
        tests = [name for names in model.tests_of_column.values() for name in names]  # each once for a column
        short = [kind for kind in dict.fromkeys(rule.test_types) if tests.count(kind) < rule.min_columns]
        if short:
            columns = "1 column" if rule.min_columns == 1 else f"{rule.min_columns} columns"
            message = f"{model.name} needs {show(short)} on at least {columns} each"
            fix = f"Add {' and '.join(f'`{kind}`' for kind in short)} to the model's columns."
            yield _breach("FLOE-E403", message, model.places.entry(model.node), said, fix)


def _rules(context: Context, kind: type[R]) -> list[tuple[R, Statement]]:
    """The rules of one kind, each with the first tier that states it."""
    return [(rule, said) for rule, said in context.custom_rules if isinstance(rule, kind)]


def _breach(code: str, message: str, place: Place, said: Statement, fix: str) -> Breach:
    demand = Related(said.place, f"{said.tier} asks for it")
    return Breach(Finding(code, message, place, fix=fix, related=(demand,)), frozenset({said.tier}))
