"""Users who outgrow one machine change configuration, not code: the example on a real standalone cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from testing import cluster

from floe_core.findings import FloeError
from floe_spark.jars import JARS, ensure_jars

pytestmark = pytest.mark.service
MESH = Path(__file__).resolve().parents[1] / "docs" / "examples" / "mesh"
LOCAL = "    config:\n      conf:\n"
REMOTE = "    config:\n      master: '{address}'\n      conf:\n        spark.executor.memory: 512m\n"


def run(mesh: Path) -> dict[str, Any]:
    floe = Path(sys.executable).with_name("floe")
    done = subprocess.run(
        [floe, "run", "customer-360", "--format", "json"], cwd=mesh, capture_output=True, encoding="utf-8"
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, report["errors"]) == (0, []), done.stderr
    return report


def test_the_example_runs_on_a_standalone_cluster(tmp_path: Path) -> None:
    try:
        ensure_jars(JARS)
    except FloeError as exc:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"Spark's jars cannot be had: {exc}")
    mesh = tmp_path / "mesh"
    shutil.copytree(MESH, mesh, ignore=shutil.ignore_patterns("target", "logs", ".floe"))
    with cluster.running(tmp_path / "cluster") as address:
        manifest = mesh / "enterprise" / "manifest.yaml"
        text = manifest.read_text(encoding="utf-8")
        assert text.count(LOCAL) == 1
        manifest.write_text(text.replace(LOCAL, REMOTE.format(address=address)), encoding="utf-8")
        report = run(mesh)
    tables = {item["table"]: item["rows"] for item in report["summary"]["tables"]}
    assert tables["sales.customer_360.gold.gold_customers"] == 3
    executors = {path.parents[1].name for path in (tmp_path / "cluster").glob("work-*/app-*/*")}
    assert executors == {"work-0", "work-1"}, "both workers took part"
