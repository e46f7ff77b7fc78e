"""Files are replaced as one step, whatever happens in between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from floe_core.files import cache_folder, digest_of, write_atomically


def run(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Runs code in a process of its own; `path` is its only argument."""
    return subprocess.run([sys.executable, "-c", dedent(code), str(path)], capture_output=True, text=True)


def test_the_content_is_replaced_and_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.json"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert [item.name for item in path.parent.iterdir()] == ["file.json"]


@pytest.mark.parametrize("moment", ["fsync", "replace"])
def test_killed_before_the_rename_the_old_content_stays(tmp_path: Path, moment: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    code = f"""
        import os, signal, sys
        from pathlib import Path
        from floe_core.files import write_atomically
        os.{moment} = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
        write_atomically(Path(sys.argv[1]), b"new")
    """
    assert run(code, path).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    write_atomically(path, b"newer")  # what the killed one left behind is in nobody's way
    assert path.read_bytes() == b"newer"


def test_on_a_full_disk_the_old_content_stays_and_nothing_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    code = """
        import resource, sys
        from pathlib import Path
        from floe_core.files import write_atomically
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        try:
            write_atomically(Path(sys.argv[1]), b"x" * 1000)
        except OSError as exc:
            print(exc.strerror)
    """
    assert run(code, path).stdout == "File too large\n"
    assert path.read_bytes() == b"old"
    assert [item.name for item in tmp_path.iterdir()] == ["file.json"]


def test_permissions_are_those_of_the_file_before_or_of_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    before = os.umask(0o027)
    try:
        write_atomically(path, b"1")
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        write_atomically(path, b"2")
        assert path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(before)


def test_a_digest_is_the_sha256_of_the_content(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"a" * 3_000_000)
    known = subprocess.run(["sha256sum", str(path)], capture_output=True, text=True, check=True).stdout
    assert digest_of(path) == known.split()[0]


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"FLOE_CACHE": "/x", "XDG_CACHE_HOME": "/y", "HOME": "/z"}, "/x"),
        ({"XDG_CACHE_HOME": "/y", "HOME": "/z"}, "/y/floe"),
        ({"HOME": "/z"}, "/z/.cache/floe"),
    ],
)
def test_the_cache_is_where_the_user_says(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], folder: str
) -> None:
    for name in ("FLOE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(folder)
