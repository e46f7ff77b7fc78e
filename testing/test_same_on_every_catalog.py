"""The example on a SQL and on a REST catalog: one product, whatever keeps its tables and its name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from floe_core.artifacts import FILE
from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest

MESH = Path(__file__).resolve().parents[1] / "docs" / "examples" / "mesh"
FLOE = Path(sys.executable).with_name("floe")
MANIFEST = Path("enterprise", "manifest.yaml")  # the file that names the catalog
REGISTERS = ("identity:\n  enforcement: warn\n", "identity:\n  enforcement: register\n")
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
MAY_DIFFER = {
    "digest",  # of all the others
    "identity.registration_timestamp",
    "inheritance.0.sha256",  # of the manifest, and below the hash of all files and the commit that it is in
    "metadata.compiled_at",
    "metadata.git_commit",
    "metadata.source_hash",
}
CATALOG = "plugins.catalog."
TABLES = [
    ("bronze.bronze_crm_customers", 3),
    ("bronze.bronze_shop_orders", 3),
    ("gold.gold_customers", 3),
    ("silver.silver_customer_history", 3),
    ("silver.silver_customers", 3),
    ("silver.silver_orders", 3),
]


@dataclass(frozen=True, slots=True)
class World:
    """The example in a checkout of its own, on one kind of catalog."""

    mesh: Path

    @classmethod
    def make(cls, mesh: Path, catalog: dict[str, Any]) -> World:
        shutil.copytree(MESH, mesh, ignore=shutil.ignore_patterns("target", ".floe", "logs"))
        text = (mesh / MANIFEST).read_text(encoding="utf-8")
        assert text.count(REGISTERS[0]) == text.count("\nplugins:\n") == 1
        named = text.replace("\nplugins:\n", f"\nplugins:\n  catalog: {json.dumps(catalog)}\n")
        (mesh / MANIFEST).write_text(named.replace(*REGISTERS), encoding="utf-8")
        for command in (
            ("init", "-q"),
            ("remote", "add", "origin", "https://github.com/acme/sales-customer-360.git"),
            ("add", "."),
            ("commit", "-qm", "x"),
        ):
            subprocess.run([*GIT, *command], cwd=mesh, check=True)
        return cls(mesh)

    def floe(self, command: str) -> dict[str, Any]:
        """What the command reports; earlier artifacts are gone before it starts."""
        shutil.rmtree(self.mesh / "customer-360" / "target", ignore_errors=True)
        done = subprocess.run(
            [FLOE, *command.split(), "customer-360", "--format", "json"],
            cwd=self.mesh,
            env={name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        summary: dict[str, Any] = json.loads(done.stdout)["summary"]
        return summary

    def artifacts(self) -> dict[str, Any]:
        read: Any = json.loads((self.mesh / "customer-360" / FILE).read_bytes())
        return dict(leaves(read))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar with its dotted path; an empty list or object counts as one."""
    inside = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    found = [leaf for key, item in inside for leaf in leaves(item, f"{path}.{key}".lstrip("."))]
    yield from found or [(path, value)]


def differences(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    """The paths where they differ, apart from what the manifest says about the catalog."""
    paths = {path for path in {*one, *other} if not path.startswith(CATALOG)}
    return {path for path in paths if one.get(path, ...) != other.get(path, ...)}


@pytest.mark.service
def test_compile_and_run_leave_the_same_artifacts_and_tables(tmp_path: Path) -> None:
    with required(), iceberg_rest(tmp_path / "server") as uri:
        config = {"uri": uri, "timeout": "7s"}
        sql = World.make(tmp_path / "sql", {"type": "sql", "config": {}})
        rest = World.make(tmp_path / "rest", {"type": "rest", "config": config})
        made, runs = [], []
        for world in (sql, rest):
            world.floe("compile")
            made.append(world.artifacts())
        for world in (sql, rest):
            runs.append(world.floe("run"))
            made.append(world.artifacts())
    for one in made:
        assert one["identity.namespace_registered"] is True
        for other in made:
            assert differences(one, other) <= MAY_DIFFER
    assert [one[f"{CATALOG}type"] for one in made] == ["sql", "rest"] * 2
    assert differences(made[0], made[2]) <= {"digest", "metadata.compiled_at"}
    for run in runs:
        tables = {item["table"].removeprefix("sales.customer_360."): item["rows"] for item in run["tables"]}
        assert sorted(tables.items()) == TABLES
    assert built(runs[0]) == built(runs[1])


def built(summary: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((node["id"], node["status"]) for node in summary["nodes"])
