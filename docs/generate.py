"""What the docs say that the code knows: each function returns the text of a page, or of a part of one."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import click
from docs import keys, telemetry
from docs.keys import written
from docs.markdown import table

from floe_cli.main import cli
from floe_core import codes, order
from floe_core.defaults import COVERAGE_BY_LAYER, DEFAULTS, TESTS_BY_LAYER
from floe_core.json_schema import artifacts_schema, manifest_schema, product_schema, report_schema, run_schema
from floe_core.naming import LAYERS
from floe_core.personal import ALONE, OF_PEOPLE, PEOPLE, PERSONAL
from floe_core.schemas.levels import ClassificationLevel, SchemaEvolution
from floe_core.schemas.values import Json
from floe_core.settings import strategies
from floe_spark.evolution import ALLOWED, WORDS

CODE_GROUPS = (
    ("floe itself", codes.BUG + codes.USAGE),
    ("Reading files", codes.LOAD + codes.DBT_MANIFEST + codes.STALE_MANIFEST),
    ("Following references", codes.RESOLVE + codes.UNREACHABLE),
    ("Merging tiers", codes.WEAKENING),
    ("SQL", codes.SQL),
    ("Classification", codes.CLASSIFICATION),
    ("Approvals, schedules, overrides", codes.APPROVAL),
    ("Names", codes.NAMING),
    ("Quality gates", codes.GATES),
    ("dbt", codes.DBT_PROJECT + codes.DBT_PACKAGES + codes.DBT_RUN),
    ("Semantics", codes.SEMANTIC),
    ("Rules of your own", codes.CUSTOM),
    ("Spark", codes.ENGINE),
    ("Guardrails of a run", codes.GUARDRAILS),
    ("Staging and publishing", codes.STAGING + codes.PUBLICATION),
    ("Contract checks", codes.CHECKS),
    ("Identity", codes.IDENTITY + codes.IDENTITY_RULES + codes.UNPROVEN + codes.UNKNOWN_PRODUCT),
    ("Data contracts", codes.CONTRACTS),
    ("Plugins", codes.PLUGINS),
    ("Artifacts", codes.ARTIFACTS),
)


def codes_table() -> str:
    rows = [row for _, group in CODE_GROUPS for row in group]
    return table(
        ("code", "title", "exit"),
        [(f"[{row.id}](#{row.id.lower()})", row.title, str(int(row.exit))) for row in rows],
    )


def codes_text() -> str:
    return "\n\n".join(f"## {title}\n\n" + "\n\n".join(map(_code, group)) for title, group in CODE_GROUPS)


def _code(row: codes.Code) -> str:
    return f"### {row.id}\n\n**{row.title}.** {row.why}\n\nFix: {row.fix} Exit code {int(row.exit)}."


def walk_commands() -> Iterator[click.Context]:
    """`floe` and every command below it, as contexts that know their full name."""
    return _commands_from(click.Context(cli, info_name="floe", **cli.context_settings))


def _commands_from(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(group := context.command, click.Group):
        for name in group.list_commands(context):
            if command := group.get_command(context, name):
                yield from _commands_from(click.Context(command, parent=context, info_name=name))


def commands_text() -> str:
    return "\n\n".join(map(_command, walk_commands()))


def _command(context: click.Context) -> str:
    records = (param.get_help_record(context) for param in context.command.get_params(context))
    options = [(f"`{record[0]}`", " ".join(record[1].split())) for record in records if record and record[1]]
    return "\n\n".join(
        (
            f"## {context.command_path}",
            f"```text\n{_usage(context)}\n```",
            inspect.cleandoc(context.command.help or ""),
            table(("option", "meaning"), options),
        )
    )


def _usage(context: click.Context) -> str:
    return " ".join((context.command_path, *context.command.collect_usage_pieces(context)))


def commands_table() -> str:
    """What each command is for."""
    return table(
        ("command", "what it does"),
        [
            (f"`{_usage(context).replace(' [OPTIONS]', '')}`", context.command.get_short_help_str(limit=200))
            for context in walk_commands()
            if not isinstance(context.command, click.Group)
        ],
    )


# For each strategy a parent's value and what two children say.
EXAMPLES: dict[str, tuple[Any, Any, Any]] = {
    "≥": (80, 90, 70),
    "≤": (24, 12, 48),
    "ladder": (ClassificationLevel.INTERNAL, ClassificationLevel.RESTRICTED, ClassificationLevel.PUBLIC),
    "false<true": (True, True, False),
    "require-set": (("a",), ("b",), ()),
    "extend": (("a",), ("b",), ()),
    "subset": (("a", "b"), ("b",), ("b", "c")),
    "all-of": ((("raw_*",),), (("*_v2",),), (("*",),)),
    "equal": ("a", "a", "b"),
    "override": ("a", "b", "c"),
    "own": ("a", "b", "c"),
}


def strategies_table() -> str:
    """How two tiers combine, worked out by the strategies themselves."""
    used = {strategy.name: strategy for strategy in strategies().values()}
    return table(
        ("strategy", "meaning", "parent", "child → in force", "child → in force"),
        [_strategy(used[name], *EXAMPLES[name]) for name in EXAMPLES if name in used],
    )


def _strategy(strategy: order.Strategy, parent: Any, first: Any, second: Any) -> tuple[str, ...]:
    def outcome(child: Any) -> str:
        if not strategy.holds(child, parent):
            return f"{_said(child)} → [{strategy.code}](../reference/codes.md#{strategy.code.lower()})"
        return f"{_said(child)} → {_said(strategy.join(parent, child))}"

    return f"`{strategy.name}`", strategy.rule, _said(parent), outcome(first), outcome(second)


def _said(value: Any) -> str:
    """A value as a table shows it; groups of patterns in words."""
    groups = isinstance(value, tuple) and value and isinstance(value[0], tuple)
    return " and ".join(f"`{' or '.join(group)}`" for group in value) if groups else f"`{order.show(value)}`"


def defaults_table() -> str:
    """Every default that does not depend on the layers."""
    return table(
        ("setting", "default", "applies once this is set"),
        [
            (_dotted(row.path), f"`{written(row.value)}`", _dotted(row.since) if row.since else "always")
            for row in DEFAULTS
        ],
    )


def _dotted(path: tuple[str, ...]) -> str:
    return f"`{'.'.join(path)}`"


def layers_table() -> str:
    """What every layer demands once quality gates are set."""
    return table(
        ("pattern", "layer and prefix", "required tests", "coverage"),
        [
            (f"`{pattern.value}`", f"`{layer}_*`", ", ".join(TESTS_BY_LAYER[layer]), _percent(layer))
            for pattern, layers in LAYERS.items()
            for layer in layers
        ],
    )


def evolution_table() -> str:
    """What each level of schema_evolution accepts."""
    return table(
        ("change of a column", *(f"`{level.value}`" for level in SchemaEvolution)),
        [
            (WORDS[change], *("accepted" if level <= allowed else "withheld" for level in SchemaEvolution))
            for change, allowed in ALLOWED.items()
        ],
    )


def personal_table() -> str:
    """The endings of names that look personal."""
    listed = {kind: ["_".join(name.split()) for name in names.split(";")] for kind, names in PERSONAL.items()}
    rows = [(kind, ", ".join(names)) for kind, names in listed.items()]
    people = " or ".join(f"_{what}" for what in OF_PEOPLE.split())
    alone = ("the whole name", ", ".join(ALONE.split()))
    return table(("about", "names"), [*rows, ("people", f"{', '.join(PEOPLE.split())}, then {people}"), alone])


def _percent(layer: str) -> str:
    return f"{COVERAGE_BY_LAYER[layer]} %" if layer in COVERAGE_BY_LAYER else "–"


def _schema_file(schema: Json) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


# Whole files, and the parts of pages between `<!-- begin NAME -->` and `<!-- end NAME -->`.
FILES: dict[str, Callable[[], str]] = {
    "docs/reference/schemas/manifest.json": lambda: _schema_file(manifest_schema()),
    "docs/reference/schemas/product.json": lambda: _schema_file(product_schema()),
    "docs/reference/schemas/artifacts.json": lambda: _schema_file(artifacts_schema()),
    "docs/reference/schemas/run.json": lambda: _schema_file(run_schema()),
    "docs/reference/schemas/report.json": lambda: _schema_file(report_schema()),
}
PARTS: dict[tuple[str, str], Callable[[], str]] = {
    ("README.md", "commands"): commands_table,
    ("packages/floe-cli/README.md", "commands"): commands_table,
    ("docs/guide/columns.md", "personal"): personal_table,
    ("docs/guide/running.md", "evolution"): evolution_table,
    ("docs/guide/merging.md", "strategies"): strategies_table,
    ("docs/guide/merging.md", "defaults"): defaults_table,
    ("docs/guide/merging.md", "layers"): layers_table,
    ("docs/reference/cli.md", "commands"): commands_text,
    ("docs/reference/codes.md", "list"): codes_table,
    ("docs/reference/codes.md", "codes"): codes_text,
    ("docs/reference/keys.md", "kinds"): keys.kinds_table,
    ("docs/reference/keys.md", "manifest"): keys.manifest_keys,
    ("docs/reference/keys.md", "aliases"): keys.aliases_table,
    ("docs/reference/keys.md", "product"): keys.product_keys,
    ("docs/reference/observability.md", "resource"): telemetry.resource_table,
    ("docs/reference/observability.md", "spans"): telemetry.spans_table,
    ("docs/reference/observability.md", "attributes"): telemetry.span_attributes_table,
    ("docs/reference/observability.md", "metrics"): telemetry.metrics_table,
    ("docs/reference/observability.md", "labels"): telemetry.labels_table,
    ("docs/reference/observability.md", "facets"): telemetry.facets_table,
    ("docs/reference/observability.md", "vocabularies"): telemetry.vocabularies_table,
}
