"""SQL linting: what the policy objects to in a model's SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from floe_core.findings import Finding, Place, Severity
from floe_core.rules.context import Breach, Context, Model, setters
from floe_core.schemas.levels import SqlLinting
from floe_core.sql.facts import Smell, SmellKind, SqlFacts
from floe_core.sql.lineage import UNCOMPILED
from floe_core.sql.positions import locate

CODES = {
    SmellKind.DOES_NOT_PARSE: "FLOE-E320",
    SmellKind.SELECT_STAR: "FLOE-E321",
    SmellKind.CROSS_JOIN: "FLOE-E322",
    SmellKind.ORDER_BY: "FLOE-E323",
    SmellKind.HARD_CODED_TABLE: "FLOE-E324",
}
SEVERITIES = {SqlLinting.WARN: Severity.WARNING, SqlLinting.ERROR: Severity.ERROR}

LINTING = ("governance", "sql_linting", "enforcement")

Locate = Callable[[int, int], Place]


def check_model(context: Context, model: Model) -> Iterator[Breach]:
    """E320–E325: what the policy objects to in the SQL of a model, at its line of the file."""
    leaf = context.leaf(LINTING)
    if leaf is None or leaf.value is SqlLinting.DISABLED or model.facts is None:
        return
    last = bool(context.layers) and model.layer == context.layers[-1]
    for finding in check_sql(model.name, model.facts, _locator(model), leaf.value, last_layer=last):
        yield Breach(finding, setters(leaf))


def _locator(model: Model) -> Locate:
    code, compiled = model.places.code(model.node), model.node.compiled_code or ""

    def find(line: int, column: int) -> Place:
        raw = model.places.text(code.path)
        return Place(code.path, *locate(raw, compiled, line, column))

    return find


def check_sql(
    model: str, facts: SqlFacts, find: Locate, linting: SqlLinting, *, last_layer: bool
) -> Iterator[Finding]:
    """Every smell of one model; `find` leads from its compiled SQL to the file, `*` matters in the last layer."""
    if linting is SqlLinting.DISABLED:
        return
    if facts == UNCOMPILED:
        yield Finding("FLOE-E325", f"{model}: SQL not checked, {facts.not_followed}", find(1, 1), Severity.WARNING)
    for smell in facts.smells:
        if last_layer or smell.kind is not SmellKind.SELECT_STAR:
            place = find(smell.line, smell.column)
            yield Finding(CODES[smell.kind], _message(model, smell), place, SEVERITIES[linting])


def _message(model: str, smell: Smell) -> str:
    match smell.kind:
        case SmellKind.DOES_NOT_PARSE:
            return f"{model}: the SQL does not parse: {smell.detail}"
        case SmellKind.HARD_CODED_TABLE:
            return f"{model} reads {smell.detail} by name, without ref or source"
        case _:
            return f"{model}: {smell.detail}"
