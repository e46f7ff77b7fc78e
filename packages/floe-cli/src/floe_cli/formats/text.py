"""Findings for people: one paragraph each."""

from __future__ import annotations

from floe_cli.terminal import lines
from floe_core.findings import Report


def render(report: Report) -> str:
    paragraphs = ["\n".join(lines(item)) for item in report.listed]
    if report.left_out:
        paragraphs.append(f"… and {report.left_out:,} more")
    return "\n\n".join(paragraphs)
