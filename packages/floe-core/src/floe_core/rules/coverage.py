"""Test coverage: columns with a test ÷ columns, model by model."""

from __future__ import annotations

from collections.abc import Iterator

from floe_core.defaults import COVERAGE
from floe_core.findings import Finding, Severity
from floe_core.merge import Leaf, Merged
from floe_core.order import show
from floe_core.rules.context import Breach, Context, Model, fold, setters
from floe_core.rules.rule import gate
from floe_core.schemas.levels import FieldClass

CLASS_COVERAGE = ("governance", "classification", "coverage")


def is_measured(merged: Merged) -> bool:
    """Whether anything asks for coverage of every column."""
    return any(path == COVERAGE or path[-1] == "minimum_coverage" for path in merged.leaves)


def model_gate(merged: Merged) -> Severity | None:
    """A gate like the others, off where nothing asks for coverage."""
    return gate(merged) if is_measured(merged) else None


def class_gate(merged: Merged) -> Severity | None:
    """A gate like the others, off where no class has a minimum."""
    return gate(merged) if any(path[:3] == CLASS_COVERAGE for path in merged.leaves) else None


def check_coverage(context: Context, model: Model) -> Iterator[Breach]:
    """E220: fewer tested columns than the platform, the layer or the product demands."""
    missed = [leaf for leaf in _minimums(context, model) if _below(model.coverage, leaf.value)]
    if not missed:
        return
    wanted = max(leaf.value for leaf in missed)
    untested = [name for folded, name in model.columns.items() if folded not in model.tests_of_column]
    yield Breach(
        Finding(
            "FLOE-E220",
            f"{model.name}: test coverage {percent(model.coverage)} is below {percent(wanted)}{_caveat(model)}",
            model.places.entry(model.node),
            fix=f"Add tests to {_listed(untested)}." if untested else "Declare the model's columns and test them.",
            expected=f"at least {percent(wanted)}",
            actual=f"{percent(model.coverage)} ({len(model.tested)} of {len(model.columns)} columns)",
        ),
        frozenset().union(*map(setters, missed)),
    )


def check_class_coverage(context: Context, model: Model) -> Iterator[Breach]:
    """E221: fewer tested columns of a class than the platform demands for that class."""
    for field_class in FieldClass:
        leaf = context.leaf((*CLASS_COVERAGE, field_class.value))
        columns = _columns_of(field_class, context, model) if leaf else {}
        untested = [name for folded, name in columns.items() if folded not in model.tests_of_column]
        if leaf is None or not columns:
            continue
        share = 100 * (len(columns) - len(untested)) / len(columns)
        if _below(share, leaf.value):
            kind = field_class.value
            message = (
                f"{model.name}: test coverage of {kind} columns {percent(share)} is below {percent(leaf.value)}"
            )
            finding = Finding(
                "FLOE-E221",
                message,
                model.places.column(model.node, untested[0]),
                fix=f"Add tests to {_listed(untested)}.",
                expected=f"at least {percent(leaf.value)}",
                actual=f"{percent(share)} ({len(columns) - len(untested)} of {len(columns)} columns)",
            )
            yield Breach(finding, setters(leaf))


def _minimums(context: Context, model: Model) -> list[Leaf]:
    paths = (COVERAGE, ("data_architecture", "layers", model.layer or "", "minimum_coverage"))
    return [leaf for path in paths if (leaf := context.leaf(path))]


def _below(share: float, wanted: float) -> bool:
    return share + 1e-9 < wanted


def _columns_of(field_class: FieldClass, context: Context, model: Model) -> dict[str, str]:
    """The columns of a class, written in YAML or a port or inherited: folded name to name."""
    reached = context.columns.travel.reached.get(model.node.unique_id, {})
    names = {fold(name): name for name, classes in reached.items() if field_class in classes}
    return {name: model.declared[name].name if name in model.declared else shown for name, shown in names.items()}


def _caveat(model: Model) -> str:
    unknown = model.facts is not None and model.inferred is None
    return " (declared columns only: its SQL could not be followed)" if unknown else ""


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown


def percent(value: float) -> str:
    """A share that never rounds up to the next whole number: 79.96 stays below 80."""
    return f"{show(int(value * 10) / 10)} %"
