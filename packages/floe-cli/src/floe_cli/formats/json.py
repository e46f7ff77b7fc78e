"""The JSON report `floe-report/1`; `floe schema report` prints its schema."""

from __future__ import annotations

import json

from floe_core.findings import Report


def render(report: Report) -> str:
    return json.dumps(report.to_json(), indent=2, ensure_ascii=False)
