"""Contracts and products in few lines."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from floe_contracts.meaning import understand
from floe_contracts.read import Draft, parse_draft
from floe_core.compile import follow, load, merge
from floe_core.contract import Contract
from floe_core.findings import Finding
from floe_core.load import Loaded
from floe_core.merge import Merged
from floe_core.schemas.data_product import DataProduct

HEAD = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "orders", "version": "1.0.0", "status": "active"}
TEAM = {"members": [{"username": "a@acme.com", "role": "owner"}]}


def column(name: str, logical: str = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "logicalType": logical, **more}


def table(*columns: dict[str, Any], name: str = "orders", **more: Any) -> dict[str, Any]:
    return {"name": name, "properties": list(columns), **more}


def document(*tables: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**HEAD, "team": TEAM, "schema": list(tables or (table(column("id")),)), **more}


def draft(data: dict[str, Any], path: str = "datacontract.yaml") -> Draft:
    return parse_draft(json.dumps(data, ensure_ascii=False, indent=1).encode(), path)[0]


def contract(*tables: dict[str, Any], **more: Any) -> Contract:
    return understand(draft(document(*tables, **more)))


def sla(name: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"property": name, "value": value, **more}


def put(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    return folder


def product(folder: Path) -> tuple[Loaded[DataProduct], Merged]:
    """A product folder, loaded and merged with everything above it."""
    chain, _ = follow(load(folder)[0])
    merged, findings = merge(chain)
    assert [item for item in findings if item.blocks] == []
    return chain.product, merged


def told(findings: list[Finding]) -> list[str]:
    """Findings as the cases write them."""
    return [f"{Path(item.path).name}:{item.line}:{item.column} {item.code}" for item in findings]
