"""How changes are shown: a table, a conclusion, and JSON."""

from __future__ import annotations

from typing import Any

import click

from floe_contracts.changes import CLASSES, Bump, bump_of
from floe_contracts.commands.terminal import safe, table
from floe_contracts.version import Verdict
from floe_core.contract import Contract
from floe_core.table import Change


def show_changes(judged: Verdict) -> None:
    rows = [
        (bump.name, change.id, change.where, change.old or "-", change.new or "-", *directions(change))
        for bump, change in sorted(bumps(judged), key=lambda pair: -pair[0])
    ]
    if rows:
        click.echo(table([("bump", "change", "where", "old", "new", "consumers", "producers"), *rows]))
        click.echo()


def bumps(judged: Verdict) -> list[tuple[Bump, Change]]:
    return [(bump_of(change, judged.widening), change) for change in judged.changes]


def directions(change: Change) -> tuple[str, str]:
    row = CLASSES[change.id]
    return row.consumers.value, row.producers.value


def conclusion(before: Contract, after: Contract, judged: Verdict) -> str:
    if judged.required is Bump.NONE:
        return safe(f"{after.name}: nothing changed since {before.version}")
    many = len(judged.changes) > 1
    count = f"{len(judged.changes)} changes" if many else "1 change"
    need = f"since {before.version} {'need' if many else 'needs'} a {judged.required.name} version"
    return safe(f"{after.name}: {count} {need}: {judged.version}")


def summary(before: Contract, after: Contract, judged: Verdict) -> dict[str, Any]:
    return {
        "contract": after.name,
        "old": before.version,
        "new": after.version,
        "required_bump": judged.required.name,
        "version": judged.version,
        "changes": [
            {
                "id": change.id,
                "where": change.where,
                "old": change.old,
                "new": change.new,
                "bump": bump.name,
                "consumers": CLASSES[change.id].consumers.value,
                "producers": CLASSES[change.id].producers.value,
            }
            for bump, change in bumps(judged)
        ],
    }
