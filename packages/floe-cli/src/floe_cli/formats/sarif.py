"""SARIF 2.1.0, for code scanning. Rules are the rows of the codes that occur."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

from floe_cli import __version__
from floe_core.codes import Code
from floe_core.findings import Finding, Place, Report, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://docs.floe.dev"
LEVELS = {
    Severity.INFO: "note",
    Severity.WARNING: "warning",
    Severity.ERROR: "error",
    Severity.CRITICAL: "error",
}


def render(report: Report) -> str:
    rows = {item.code: item.row for item in report.listed}
    numbers = {code: number for number, code in enumerate(rows)}
    run = {
        "tool": {
            "driver": {
                "name": "floe",
                "version": __version__,
                "informationUri": HOME,
                "rules": [_rule(row) for row in rows.values()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report)],
        "results": [_result(item, numbers[item.code]) for item in report.listed],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _invocation(report: Report) -> dict[str, Any]:
    invocation: dict[str, Any] = {
        "commandLine": report.command,
        "exitCode": report.exit_code,
        "executionSuccessful": report.exit_code <= 1,
    }
    if report.left_out:
        text = f"… and {report.left_out:,} more"
        invocation["toolExecutionNotifications"] = [{"level": "note", "message": {"text": text}}]
    return invocation


def _rule(row: Code) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": "".join(word.capitalize() for word in row.title.replace("-", " ").split()),
        "shortDescription": {"text": row.title},
        "fullDescription": {"text": row.why},
        "help": {"text": row.fix},
        "helpUri": row.docs,
    }


def _result(item: Finding, number: int) -> dict[str, Any]:
    labels = (("Fix", item.fix), ("Expected", item.expected), ("Actual", item.actual))
    text = "\n".join((item.message, *(f"{label}: {value}" for label, value in labels if value)))
    return {
        "ruleId": item.code,
        "ruleIndex": number,
        "level": LEVELS[item.severity],
        "message": {"text": text},
        "locations": _locations(item.place),
        "relatedLocations": [
            {"id": count, "message": {"text": other.message}, **location}
            for count, other in enumerate(item.related)
            for location in _locations(other.place)
        ],
        "partialFingerprints": {"floe/v1": item.fingerprint},
        "properties": {"severity": item.severity.value},
    }


def _locations(place: Place) -> list[dict[str, Any]]:
    """The place in a file; nowhere for what is in no file, like the command line."""
    if place.path.startswith("("):
        return []
    uri = quote(place.path.encode("utf-8", "replace"))
    region = {"startLine": place.line, "startColumn": place.column}
    return [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}]
