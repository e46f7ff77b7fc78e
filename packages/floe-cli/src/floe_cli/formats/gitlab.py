"""GitLab's Code Quality report. It has no place for "and more", so it always lists everything."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import Any

from floe_core.codes import Exit
from floe_core.findings import Finding, Report, Severity

SEVERITIES = {
    Severity.INFO: "info",
    Severity.WARNING: "minor",
    Severity.ERROR: "major",
    Severity.CRITICAL: "critical",
}


def render(report: Report) -> str:
    seen: Counter[str] = Counter()
    issues = []
    for item in (*report.errors, *report.findings):
        issues.append(_issue(item, seen[item.fingerprint]))
        seen[item.fingerprint] += 1
    return json.dumps(issues, indent=2, ensure_ascii=False)


def _issue(item: Finding, earlier: int) -> dict[str, Any]:
    """GitLab keeps one of two issues with the same fingerprint, so the second and later ones say so."""
    unique = hashlib.sha256(f"{item.fingerprint}:{earlier}".encode()).hexdigest()[:32]
    return {
        "type": "issue",
        "description": f"{item.message}. Fix: {item.fix}",
        "check_name": item.code,
        "fingerprint": item.fingerprint if not earlier else unique,
        "severity": "blocker" if item.row.exit > Exit.FINDINGS else SEVERITIES[item.severity],
        "location": {"path": item.path, "lines": {"begin": item.line}},
    }
