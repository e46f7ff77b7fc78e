"""A compile on machines that are read-only or half there: what cannot be kept is said or not missed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from floe_cli.main import run

MESH = Path(__file__).resolve().parents[1] / "docs" / "examples" / "mesh"


@pytest.fixture
def product(tmp_path: Path) -> str:
    shutil.copytree(MESH, tmp_path / "mesh", ignore=shutil.ignore_patterns("target", ".floe", "logs"))
    return str(tmp_path / "mesh" / "customer-360")


def test_a_cache_that_cannot_be_written_is_missed_only_where_it_is_needed(
    product: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A container without a home: a check needs a place for dbt outside the product, a compile has one inside."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "file" / "cache"))
    assert run(["compile", product, "--check", "--format", "json"]) == 2
    [error] = json.loads(capsys.readouterr().out)["errors"]
    assert (error["code"], error["fix"]) == ("FLOE-E900", "Set FLOE_CACHE to a folder that can be written.")
    assert run(["compile", product, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["errors"] == []
