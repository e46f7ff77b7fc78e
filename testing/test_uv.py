"""`.ci/uv` stands in for uv, also where it is called uv itself."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

CI = Path(__file__).resolve().parents[1] / ".ci"


def test_it_never_takes_itself_for_the_uv_on_the_path() -> None:
    """It would start itself until the machine has no processes left."""
    env = os.environ | {"PATH": f"{CI}{os.pathsep}{os.environ['PATH']}"}
    with subprocess.Popen(
        [CI / "uv", "--version"], env=env, stdout=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    assert out.startswith("uv ")
