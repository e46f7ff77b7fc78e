"""Packages contribute rows to `floe doctor`; one whose rows cannot be had is itself a failed row."""

from __future__ import annotations

from pathlib import Path

import pytest

from floe_core import plugins
from floe_core.distributions import distributions
from floe_core.doctor import GROUP, Check, contributed

ROWS = """\
from floe_core.distributions import distributions
from floe_core.doctor import Check
def checks():
    yield Check("Engine", "there")
    yield Check("Fuel", "low", "Fill it up.", "FLOE-E800")
"""


@pytest.fixture(autouse=True)
def nothing_else_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test puts on the path announces rows."""
    here = (found for found in distributions() if found.folder.is_relative_to(tmp_path))
    monkeypatch.setattr(plugins, "distributions", lambda: here)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> None:
    module = name.replace("-", "_")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{module} = {module}:checks\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


def test_rows_come_from_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "doctor-rows", ROWS)
    assert list(contributed()) == [Check("Engine", "there"), Check("Fuel", "low", "Fill it up.", "FLOE-E800")]


@pytest.mark.parametrize(
    ("name", "code", "row"),
    [
        (
            "doctor-import",
            "import nowhere_to_be_found",
            ("FLOE-E802", "cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ),
        ("doctor-raise", "def checks():\n    raise KeyError('x')", ("FLOE-E802", "fails: KeyError: 'x'")),
        ("doctor-exit", "def checks():\n    raise SystemExit(4)", ("FLOE-E802", "fails: SystemExit: 4")),
        (
            "doctor-none",
            "def checks():\n    pass",
            ("FLOE-E802", "fails: TypeError: 'NoneType' object is not iterable"),
        ),
        ("doctor-value", "checks = 3", ("FLOE-E803", "(doctor_value:checks) cannot be called")),
        ("doctor-text", "def checks():\n    return ['x']", ("FLOE-E803", "yields something else than Check")),
    ],
)
def test_a_broken_package_is_a_failed_row_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, row: tuple[str, str]
) -> None:
    install(tmp_path, monkeypatch, name, code)
    [check] = contributed()
    assert (check.name, check.code) == (name.replace("-", "_"), row[0])
    assert check.detail.startswith(f"{name.replace('-', '_')} of {name} 1.0 ")
    assert check.detail.endswith(row[1])
    assert check.fix
