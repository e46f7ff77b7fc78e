"""Runs rules: once for the product, once for each model; then exceptions are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from floe_core.findings import Finding, Severity
from floe_core.rules.context import Breach, Context, Model
from floe_core.rules.coverage import is_measured
from floe_core.rules.overrides import Hit, apply_overrides
from floe_core.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """One model in the printed steps: `valid` says whether its name is."""

    name: str
    layer: str | None
    valid: bool


@dataclass(frozen=True, slots=True)
class Summary:
    """What was looked at. Columns are counted only where some guardrail asks for coverage."""

    models: tuple[ModelSummary, ...] = ()
    columns: int = 0
    tested_columns: int = 0

    @property
    def coverage(self) -> float | None:
        """The overall share of tested columns, in percent: reported, never judged."""
        return 100 * self.tested_columns / self.columns if self.columns else None


@dataclass(frozen=True, slots=True)
class Enforced:
    """What the rules found, and what they looked at."""

    hits: tuple[Hit, ...]
    summary: Summary

    @property
    def findings(self) -> list[Finding]:
        return [hit.finding for hit in self.hits]

    def of_step(self, step: int) -> list[Finding]:
        """What belongs to step 3 (names) or 4 (everything else)."""
        return [hit.finding for hit in self.hits if hit.step == step]


@dataclass(slots=True)
class _Count:
    columns: int = 0
    tested: int = 0

    def add(self, model: Model) -> None:
        self.columns += len(model.columns)
        self.tested += len(model.tested)


def run(context: Context, rules: Sequence[Rule]) -> Enforced:
    """Every finding of the rules, by place, with exceptions made."""
    judged = frozenset(code for rule in rules for code in rule.codes)
    count = _Count()
    hits = [*of_product(context, rules), *of_models(context, rules, count if is_measured(context.merged) else None)]
    left = apply_overrides(context, hits, judged)
    left.sort(key=lambda hit: (hit.finding.place, hit.finding.code, hit.finding.message))
    misnamed = {hit.model for hit in left if hit.finding.code == "FLOE-E201"}
    models = tuple(
        ModelSummary(node.name, context.layer_of(node), node.name not in misnamed)
        for project in context.projects
        for node in project.nodes
    )
    return Enforced(tuple(left), Summary(models, count.columns, count.tested))


def of_product(context: Context, rules: Sequence[Rule]) -> Iterator[Hit]:
    for rule, severity in in_force(context, rules):
        for breach in rule.product(context) if rule.product else ():
            yield Hit(_weighed(breach, severity), rule.step)


def of_models(context: Context, rules: Sequence[Rule], count: _Count | None = None) -> Iterator[Hit]:
    """One model at a time, so that nothing about a model outlives its turn."""
    rows = [(rule, severity) for rule, severity in in_force(context, rules) if rule.model]
    for model in context.models():
        yield from of_model(context, model, rows)
        if count:
            count.add(model)


def of_model(context: Context, model: Model, rows: Iterable[tuple[Rule, Severity | None]]) -> list[Hit]:
    return [
        Hit(_weighed(breach, severity), rule.step, model.name)
        for rule, severity in rows
        if rule.model
        for breach in rule.model(context, model)
    ]


def in_force(context: Context, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Severity | None]]:
    """The rules that are on, each with the severity of its findings."""
    for rule in rules:
        severity = rule.severity(context.merged) if rule.severity else None
        if severity or not rule.severity:
            yield rule, severity


def _weighed(breach: Breach, severity: Severity | None) -> Breach:
    if severity is None or severity is breach.finding.severity:
        return breach
    return replace(breach, finding=replace(breach.finding, severity=severity))
