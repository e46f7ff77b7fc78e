"""The tables of docs/reference/observability.md."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from docs.markdown import table
from docs.repo import ROOT

from floe_telemetry import CheckType, ViolationSeverity, ViolationType, names
from floe_telemetry.metrics import LABELS, METRICS

FACETS = ROOT / "packages/floe-telemetry/src/floe_telemetry/facets"
LINK = "../../packages/floe-telemetry/src/floe_telemetry/facets"


def resource_table() -> str:
    rows = [(*_attribute(item), "in a mesh" if item.mesh_only else "always") for item in names.RESOURCE]
    return table(("attribute", "meaning", "examples", "set"), rows)


def spans_table() -> str:
    return table(("span", "what it is"), [(f"`{span.name}`", span.description) for span in names.SPANS])


def span_attributes_table() -> str:
    rows = [(f"`{span.name}`", *_attribute(item)) for span in names.SPANS for item in span.attributes]
    return table(("span", "attribute", "meaning", "examples"), rows)


def _attribute(item: names.Attribute) -> tuple[str, str, str]:
    return f"`{item.name}`", item.description, _codes(item.examples)


def metrics_table() -> str:
    rows = [
        (
            f"`{metric.name}`",
            metric.kind.value,
            metric.unit or "–",
            _codes(metric.labels),
            f"`{metric.prometheus}`",
            metric.description,
        )
        for metric in METRICS
    ]
    return table(("metric", "type", "unit", "labels", "in Prometheus", "meaning"), rows)


def labels_table() -> str:
    rows = [(f"`{name}`", meaning, f"`{example}`") for name, (meaning, example) in LABELS.items()]
    return table(("label", "meaning", "example"), rows)


def facets_table() -> str:
    rows = []
    for path in sorted(FACETS.glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        rows.append((f"[`{schema['title']}`]({LINK}/{path.name})", schema["description"], _fields(schema)))
    return table(("facet and schema", "what it says", "fields"), rows)


def _fields(schema: dict[str, Any]) -> str:
    return _codes(name for name in schema["properties"] if not name.startswith("_"))


def vocabularies_table() -> str:
    fields = {"violationType": ViolationType, "severity": ViolationSeverity, "checkType": CheckType}
    return table(("field", "values"), [(f"`{name}`", _codes(words)) for name, words in fields.items()])


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words) or "–"
