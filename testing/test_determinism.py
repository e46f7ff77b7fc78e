"""The example's artifacts are the same bytes wherever and however they are made."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from floe_core.artifacts import FILE

MESH = Path(__file__).resolve().parents[1] / "docs" / "examples" / "mesh"
FLOE = Path(sys.executable).with_name("floe")
WORLDS = {
    "here": {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "0"},
    "a longer name/ünï/there": {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4711"},
}


def test_the_bytes_are_the_same_in_another_folder_time_zone_locale_and_hash_seed(tmp_path: Path) -> None:
    """From nothing each time: dbt reads the project, and no cache is shared."""
    made = []
    for name, variables in WORLDS.items():
        mesh = tmp_path / name
        shutil.copytree(MESH, mesh, ignore=shutil.ignore_patterns("target", ".floe", "logs"))
        env = {**os.environ, **variables, "SOURCE_DATE_EPOCH": "1767434400", "FLOE_CACHE": str(mesh / "cache")}
        done = subprocess.run([FLOE, "compile", "customer-360"], cwd=mesh, env=env, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        made.append((mesh / "customer-360" / FILE).read_bytes())
    assert made[0] == made[1]
    assert str(tmp_path).encode() not in made[0]
    assert b"gold_customers" in made[0]
