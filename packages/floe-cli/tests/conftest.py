"""A small mesh on disk, and two ways to run `floe`: in this process, and as the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from floe_cli.main import run

sys.path.insert(0, str(Path(__file__).parent))  # the modules beside this one

ENTERPRISE = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.2.3"}
    scope: enterprise
    plugins:
      compute: duckdb
    data_architecture:
      pattern: medallion
    governance:
      quality_gates:
        minimum_test_coverage: 80
        require_descriptions: true
    identity:
      enforcement: "off"
"""
DOMAIN = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: sales, version: "2.0"}
    scope: domain
    parent: enterprise.yaml
    governance:
      quality_gates:
        minimum_test_coverage: 90
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: customer-360, version: "1.0"}
    domain: ../domain.yaml
"""
DECIDED_OUTSIDE = ("PYTHON", "LC_", "LANG", "FLOE", "COLUMNS", "TERM", "NO_COLOR", "FORCE_COLOR")


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    """A folder with enterprise.yaml, domain.yaml and the product customer-360, all clean."""
    folder = tmp_path / "mesh"
    (folder / "customer-360").mkdir(parents=True)
    for name, text in (
        ("enterprise.yaml", ENTERPRISE),
        ("domain.yaml", DOMAIN),
        ("customer-360/floe.yaml", PRODUCT),
    ):
        (folder / name).write_text(dedent(text), encoding="utf-8")
    return folder


@pytest.fixture
def environment() -> dict[str, str]:
    """The variables of this process without those that change how Python or a terminal behaves."""
    return {name: value for name, value in os.environ.items() if not name.startswith(DECIDED_OUTSIDE)}


@pytest.fixture
def floe_script() -> str:
    """The installed command itself."""
    return str(Path(sys.executable).with_name("floe"))


@pytest.fixture
def floe(
    mesh: Path, environment: dict[str, str], floe_script: str
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the installed `floe` in the mesh, with the variables given; its output must be UTF-8."""

    def command(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [floe_script, *args], cwd=mesh, env=environment | variables, capture_output=True, encoding="utf-8"
        )

    return command


@pytest.fixture
def floe_here(
    mesh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the same command line in this process, in the mesh: everything but the console script."""
    monkeypatch.chdir(mesh)

    def command(*args: str) -> subprocess.CompletedProcess[str]:
        code = run(list(args))
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(["floe", *args], code, shown.out, shown.err)

    return command


@pytest.fixture
def edit(mesh: Path) -> Callable[[str, str, str], None]:
    """Changes one line of one file of the mesh."""

    def change(name: str, old: str, new: str) -> None:
        path = mesh / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


@pytest.fixture
def startup_code(tmp_path: Path) -> Callable[[str], str]:
    """A folder for PYTHONPATH whose code Python runs before floe starts."""

    def write(code: str) -> str:
        folder = tmp_path / "startup"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(dedent(code), encoding="utf-8")
        return str(folder)

    return write


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., str]:
    """A folder for PYTHONPATH with a distribution that announces a plugin, and whose code cannot be imported."""

    def write(distribution: str, version: str, name: str, group: str = "floe.catalogs") -> str:
        site = tmp_path / distribution
        info = site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (site / f"{name}_plugin.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {name}_plugin:Catalog\n", encoding="utf-8")
        return str(site)

    return write
