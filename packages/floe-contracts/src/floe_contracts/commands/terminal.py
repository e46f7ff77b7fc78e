"""What the commands share: options, the host, and text that cannot steer a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from floe_core.commands import CommandHost

F = TypeVar("F", bound=Callable[..., Any])
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
PATH = click.Path(path_type=Path)


def choose_format(*formats: str) -> Callable[[F], F]:
    """The option `--format`."""
    return click.option("--format", "output", type=click.Choice(formats), default=formats[0], show_default=True)


format_option = choose_format("text", "json")
report_option = choose_format("text", "json", "sarif", "junit", "github", "gitlab")  # those of compile


def folder_option(command: F) -> F:
    about = "A product's or a platform's folder, whose catalog is used; the current one by default."
    return click.option("--in", "folder", type=PATH, default=Path(), metavar="FOLDER", help=about)(command)


def host(ctx: click.Context) -> CommandHost:
    return cast(CommandHost, ctx.obj)


def safe(text: str) -> str:
    """The text on one line, its control characters spelt out: what a file says never steers the terminal."""
    return _CONTROL.sub(lambda found: repr(found.group())[1:-1], text)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = [tuple(safe(cell)[:60] for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
    )
