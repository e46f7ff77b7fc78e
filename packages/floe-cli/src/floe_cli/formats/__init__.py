"""How a report is written: one module for each format, each a pure `render(report) -> str`, imported on use."""

from __future__ import annotations

from importlib import import_module

from floe_core.findings import Report

FORMATS = ("text", "json", "sarif", "junit", "github", "gitlab")


def render(report: Report, output: str) -> str:
    """The report in one of FORMATS, without a last line break; "" when it has nothing to say."""
    text: str = import_module(f"floe_cli.formats.{output}").render(report)
    return text
