"""Whether every table lands where floe says, under a name that Spark itself would write.

With a catalog name as its first part, or quoted, a schema no longer equals what Spark answers when dbt asks which
tables exist: dbt then rebuilds what it should extend, every node says success, and the history is gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dbt.contracts.graph.manifest import Manifest
from dbt.contracts.graph.nodes import ModelNode, SeedNode, SnapshotNode

from floe_core.findings import Finding, FloeError, Place
from floe_dbt.locate import PROJECT_FILE
from floe_dbt.shadow import PLAIN, Shadow

Table = ModelNode | SeedNode | SnapshotNode


def check_placement(shadow: Shadow, manifest: Manifest) -> None:
    """Raise with a finding for each table that would land somewhere else, or not as Iceberg."""
    tables = [node for node in manifest.nodes.values() if isinstance(node, ModelNode | SeedNode | SnapshotNode)]
    findings = [finding for node in tables for finding in _judge(shadow, manifest, node)]
    if findings:
        raise FloeError(*sorted(findings, key=lambda finding: (finding.place, finding.message)))


def expected_schema(shadow: Shadow, node: Table) -> str:
    """{namespace}.{layer} by the prefix of the name, else by `meta.floe.layer`, else {namespace}."""
    prefixes = sorted(shadow.request.layers, key=len, reverse=True)
    layer = next((shadow.request.layers[prefix] for prefix in prefixes if node.name.startswith(prefix)), None)
    meta = node.config.meta.get("floe") or {}
    layer = layer or (meta.get("layer") if isinstance(meta, dict) else None)
    return f"{shadow.namespace}{shadow.separator}{layer}" if layer else shadow.namespace


def _judge(shadow: Shadow, manifest: Manifest, node: Table) -> Iterator[Finding]:
    if node.config.materialized == "ephemeral":
        return
    label = f"{node.resource_type} {node.name!r}"
    ours = node.package_name == manifest.metadata.project_name
    expected = expected_schema(shadow, node) if ours else shadow.namespace
    inside = node.schema == expected if ours else node.schema.startswith(shadow.namespace)
    if not inside or not PLAIN.fullmatch(node.schema):
        place = _place(shadow, manifest, node, "schema", node.schema)
        message = f"{label} would be written to schema {node.schema!r}"
        yield Finding("FLOE-E304", message, place, expected=expected, actual=node.schema)
    if ours and node.config.database:
        place = _place(shadow, manifest, node, "database", str(node.config.database))
        message = f"{label} names the database {node.config.database!r}"
        yield Finding("FLOE-E304", message, place, expected="no database", actual=str(node.config.database))
    stored = node.config.get("file_format")
    if ours and stored not in (None, "iceberg"):
        place = _place(shadow, manifest, node, "file_format", str(stored))
        yield Finding("FLOE-E305", f"{label} is stored as {stored}", place, expected="iceberg", actual=str(stored))
    if ours and not PLAIN.fullmatch(node.alias):
        place = _place(shadow, manifest, node, "alias", node.alias)
        yield Finding("FLOE-E306", f"{label} would become the table {node.alias!r}", place, actual=node.alias)


def _place(shadow: Shadow, manifest: Manifest, node: Table, key: str, value: str) -> Place:
    """Where the setting is written: the model, its YAML, the project, the project's own naming macro."""
    patch = getattr(node, "patch_path", None) or ""
    macro = manifest.macros.get(f"macro.{node.package_name}.generate_{key}_name")
    candidates = [node.original_file_path, patch.partition("://")[2], PROJECT_FILE]
    written = re.compile(rf"{key}[\"']?\s*[:=]\s*[\"']?{re.escape(value)}\b")
    for path in filter(None, candidates):
        for number, line in enumerate(_lines(shadow.project / path), 1):
            if written.search(line):
                return shadow.place(path, number)
    if macro and not macro.original_file_path.startswith("floe_macros"):
        for number, line in enumerate(_lines(shadow.project / macro.original_file_path), 1):
            if f"generate_{key}_name" in line:
                return shadow.place(macro.original_file_path, number)
    return shadow.place(node.original_file_path)


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8", errors="replace").splitlines() if file.is_file() else []
