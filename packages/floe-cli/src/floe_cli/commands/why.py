"""`floe why`: who set a guardrail."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

import click

from floe_cli.terminal import emit, format_option, harmless, table
from floe_core.compile import follow, load, merge
from floe_core.findings import FloeError, Report, as_seen_from_here
from floe_core.merge import Leaf, Merged, Statement
from floe_core.order import show
from floe_core.settings import strategies


@click.command(short_help="Tell which tier set a guardrail, and what the others said.")
@click.argument("field")
@click.option(
    "--product",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder with a floe.yaml.  [default: the current folder]",
)
@format_option
def command(field: str, product: Path, output: str) -> int:
    """Tell which tier, file and line set FIELD, and what the other tiers said.

    FIELD is a path like governance.quality_gates.threshold, a block like governance, or a last word that is
    unmistakable.
    """
    try:
        chain, _ = follow(load(product)[0])
    except FloeError as exc:
        return emit(Report("floe why", exc.findings), output)
    merged, findings = merge(chain)
    leaves = _matching(field, merged)
    if output == "text":
        unset = f"{field} is not set by any tier, and has no default."
        click.echo("\n\n".join(_paragraph(leaf) for leaf in leaves) or unset)
        click.echo() if findings else None
    return emit(Report("floe why", tuple(findings), {"fields": [_to_json(leaf) for leaf in leaves]}), output)


def _matching(field: str, merged: Merged) -> list[Leaf]:
    """The settings whose path contains the words of `field` in a row."""
    leaves = [leaf for path, leaf in merged.leaves.items() if _contains(".".join(path), field)]
    known = [".".join(path) for path in strategies()]
    if not leaves and not any(_contains(name, field) for name in known):
        words = {*known, *(word for name in known for word in name.split("."))}
        near = difflib.get_close_matches(field, words, 3)
        hint = f" Did you mean {' or '.join(near)}?" if near else " `floe schema manifest` lists all of them."
        raise click.UsageError(f"There is no setting {field}.{hint}")
    return leaves


def _contains(path: str, field: str) -> bool:
    return f".{field}." in f".{path}."


def _paragraph(leaf: Leaf) -> str:
    title = click.style(harmless(f"{'.'.join(leaf.path)} = {show(leaf.value)}"), bold=True)
    rows = [
        ("→" if said in leaf.setters else " ", said.tier, _where(said), _what(said))
        for said in reversed(leaf.statements)
    ]
    return f"{title}   ({leaf.strategy.name}: {leaf.strategy.rule})\n{table(rows, '  ')}"


def _where(said: Statement) -> str:
    return str(as_seen_from_here(said.place))


def _what(said: Statement) -> str:
    return f"{show(said.value)} (by default)" if said.default else show(said.value)


def _to_json(leaf: Leaf) -> dict[str, Any]:
    return {
        "path": ".".join(leaf.path),
        "value": json.loads(json.dumps(leaf.value, default=_plain)),
        "strategy": leaf.strategy.name,
        "statements": [
            {
                "tier": said.tier,
                "value": json.loads(json.dumps(said.value, default=_plain)),
                "default": said.default,
                "in_force": said in leaf.setters,
                "path": as_seen_from_here(said.place).path,
                "line": said.place.line,
                "column": said.place.column,
            }
            for said in leaf.statements
        ],
    }


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json", exclude_none=True) if hasattr(value, "model_dump") else show(value)
