"""The kit as authors outside run it: pytest in a process of its own, a plugin by name, its settings in a file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

RunKit = Callable[..., str]


@pytest.fixture
def run_kit(tmp_path: Path) -> RunKit:
    """Runs the kit; gives what it printed, and fails when its exit code is another than expected."""

    def run(
        name: str, config: dict[str, Any], *arguments: str, exit_code: int = 0, path: Path | None = None
    ) -> str:
        file = tmp_path / "config.yaml"
        file.write_text(yaml.safe_dump(config), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "--pyargs", "floe_testing.conformance.catalog", "-q"]
        command += ["-p", "no:cacheprovider", f"--basetemp={tmp_path / 'kit'}", "-W", "error"]
        command += [f"--floe-catalog={name}", f"--floe-config={file}", "--floe-rounds=2", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, **({"PYTHONPATH": str(path)} if path else {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == exit_code, done.stdout
        return done.stdout

    return run
