"""The generated manifest of the benchmarks is the one that dbt makes of the generated project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from testing.benchmarks._project import NAME, Generated
from testing.cases import PROFILE

ALL = 100  # models: every layer, and every rule broken once
OF_ONE_RUN = {"created_at"}
ONLY_COMPILED = {"compiled", "compiled_code", "compiled_path", "extra_ctes", "extra_ctes_injected"}


def read(manifest: Path, *without: str) -> dict[str, Any]:
    """The nodes and what they read; columns, tests and dependencies are part of a node."""
    data = json.loads(manifest.read_text())
    return {
        name: {key: value for key, value in node.items() if key not in without}
        for name, node in data["nodes"].items()
    } | {name: source["relation_name"] for name, source in data["sources"].items()}


def test_dbt_makes_the_same_manifest_of_the_generated_project(tmp_path: Path) -> None:
    generated = Generated(ALL)
    manifest = generated.write(tmp_path / "project")
    (tmp_path / "profiles.yml").write_text(PROFILE.replace("floe", NAME))
    target = tmp_path / "target"
    places = ("--project-dir", manifest.parents[1], "--profiles-dir", tmp_path, "--target-path", target)
    quiet = ("--quiet", "--no-partial-parse", "--no-send-anonymous-usage-stats", "--log-path", str(target))
    done = dbtRunner().invoke([*quiet, "parse", *map(str, places)])
    assert done.success, done.exception
    assert set(generated.offending().values()) == {1}
    without = OF_ONE_RUN | ONLY_COMPILED
    assert read(manifest, *without) == read(target / "manifest.json", *without)
