"""What a terminal sees: in colour there, plain elsewhere (click leaves colours out, and so does NO_COLOR)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from floe_cli.formats import render
from floe_core.findings import Finding, Report, Severity, relative_to_cwd
from floe_core.line import Nobody

MARKS = {
    Severity.INFO: ("i", "blue"),
    Severity.WARNING: ("!", "yellow"),
    Severity.ERROR: ("✗", "red"),
    Severity.CRITICAL: ("✗", "red"),
}
INDENT = " " * 6
HEADS = 5  # findings that a step names before it only counts

F = TypeVar("F", bound=Callable[..., Any])


def choose_format(*formats: str) -> Callable[[F], F]:
    """The option `--format`."""
    return click.option(
        "--format",
        "output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How to print the result.",
    )


format_option = choose_format("text", "json")


def emit(report: Report, output: str) -> int:
    """Print a report and return its exit code."""
    if text := render(replace(report, found=relative_to_cwd(report.found)), output):
        click.echo(text)
        if output == "text":
            click.echo()
    return report.exit_code


def lines(item: Finding) -> Iterator[str]:
    """One finding: where and what, who else is concerned, what was expected, how to fix it."""
    yield head(item)
    for other in item.related:
        yield harmless(f"    {other.place}  {other.message}")
    for label, detail in item.details:
        yield from _labelled(label, detail)
    said = " ".join(
        (
            item.message,
            *(other.message for other in item.related),
            *(detail if isinstance(detail, str) else " ".join(detail) for _, detail in item.details),
        )
    )
    for label, value in (("Expected", item.expected), ("Actual", item.actual)):
        if value and value not in said and not item.details:
            yield harmless(f"    {label}: {value}")
    if "Suggestions" not in dict(item.details):
        yield harmless(f"    Fix: {item.fix}")
    yield click.style(f"    floe explain {item.code}", dim=True)


def head(item: Finding) -> str:
    """One finding on one line: where and what."""
    mark, colour = MARKS[item.severity]
    code = click.style(f"{mark} {item.code}", fg=colour, bold=True)
    return f"{code} {click.style(harmless(str(item.place)), bold=True)}  {harmless(item.message)}"


def _labelled(label: str, value: str | tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, str):
        yield harmless(f"    {label}: {value}")
        return
    yield harmless(f"    {label}:")
    yield from (harmless(f"      - {item}") for item in value)


class Steps:
    """Shows on stderr how a compile gets on. Findings are one line here; what they say in full comes at the end."""

    def step(self, number: int, of: int, title: str) -> None:
        click.echo(click.style(f"[{number}/{of}] {title}", bold=True), err=True)

    def note(self, text: str) -> None:
        click.echo(f"{INDENT}{harmless(text)}", err=True)

    def working(self, text: str) -> None:
        self.note(text)

    def found(self, findings: Sequence[Finding]) -> None:
        shown = sorted(findings, key=lambda item: (item.place, item.code))[:HEADS]
        for item in relative_to_cwd(shown):
            click.echo(f"{INDENT}{head(item)}", err=True)
        if (more := len(findings) - HEADS) > 0:
            click.echo(f"{INDENT}… and {more:,} more", err=True)


class Waiting(Nobody):
    """Shows on stderr only what takes its time: for formats that programs read, and somebody may still wait for."""

    def working(self, text: str) -> None:
        click.echo(harmless(text), err=True)


def harmless(text: str) -> str:
    """The text on one line, its control characters spelt out: what a file says never steers the terminal."""
    return _CONTROL.sub(lambda found: repr(found.group())[1:-1], text)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def verdict(text: str, ok: bool) -> str:
    """A last line: what came out."""
    mark, colour = ("✓", "green") if ok else ("✗", "red")
    return click.style(f"{mark} {text}", fg=colour, bold=True)


def table(rows: Sequence[tuple[str, ...]], indent: str = "") -> str:
    """Columns, each as wide as its widest cell."""
    cells = [tuple(map(harmless, row)) for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in cells
    )
