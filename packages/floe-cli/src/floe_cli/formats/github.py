"""Workflow commands of GitHub Actions: each finding becomes an annotation at its line."""

from __future__ import annotations

from collections.abc import Iterator

from floe_core.findings import Finding, Report, Severity

COMMANDS = {
    Severity.INFO: "notice",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "error",
}


def render(report: Report) -> str:
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    for item in report.listed:
        where = (
            "" if item.path.startswith("(") else f"file={_property(item.path)},line={item.line},col={item.column},"
        )
        title = _property(f"{item.code} {item.row.title}")
        yield f"::{COMMANDS[item.severity]} {where}title={title}::{_data(_text(item))}"
    if report.left_out:
        yield f"::notice title=floe::… and {report.left_out:,} more"


def _text(item: Finding) -> str:
    others = (f"{other.place}  {other.message}" for other in item.related)
    return "\n".join((item.message, *others, f"Fix: {item.fix}"))


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
