"""Codes that only a whole compile can find, with dbt, git and a catalog: each has its `bad` and its `good` case.

Those of dbt are projects in `compile_cases/CODE`, as the rules' cases are. Those of identity depend on a checkout
and a catalog: one registered product without findings is good for all, and each is it with one thing changed.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from floe_cli.main import run
from floe_core.codes import CODES

ROOT = Path(__file__).resolve().parents[1]
CASES = Path(__file__).parent / "compile_cases"
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())

Compile = Callable[..., list[str]]


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Compile:
    """What `floe compile` finds in a folder, as `expected` writes it; every finding teaches."""
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))

    def compiled(folder: Path, *args: str) -> list[str]:
        monkeypatch.chdir(folder)
        code = run(["compile", ".", *args, "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        assert report["exit_code"] == code
        items = [*report["findings"], *report["errors"]]
        assert all(item["message"] and item["why"] and item["fix"] for item in items)
        return [f"{item['path']}:{item['line']}:{item['column']} {item['code']}" for item in items]

    return compiled


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_bad_project_finds_exactly_what_is_expected_and_the_good_one_nothing(
    found: Compile, tmp_path: Path, folder: Path
) -> None:
    for kind in ("bad", "good"):
        shutil.copytree(folder / kind, tmp_path / kind)
    expected = (folder / "bad" / "expected").read_text().splitlines()
    assert found(tmp_path / "bad", "--check") == expected
    assert {line.split(" ")[1] for line in expected} == {folder.name}
    assert found(tmp_path / "good", "--check") == []


# Identity

MANIFEST = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: acme, version: "1.0"}
scope: enterprise
identity: {enforcement: enforce, auto_register: true}
governance:
  product_registration: {mode: open, allowed_repositories: ["github.com/acme/*"]}
"""
PRODUCT = """\
apiVersion: floe.dev/v1
kind: DataProduct
metadata:
  name: crm
  version: "1.0"
  owner: crm@acme.com
  domain: sales
  repository: github.com/acme/crm
platform: {ref: ../manifest.yaml}
"""


def git(folder: Path, *args: str) -> None:
    author = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    subprocess.run(["git", *author, *args], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder of a product that is committed and registered."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_", "GITLAB_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "repository" / "crm"
    folder.mkdir(parents=True)
    (folder.parent / "manifest.yaml").write_text(MANIFEST)
    (folder / "floe.yaml").write_text(PRODUCT)
    (folder.parent / ".gitignore").write_text(".floe/\n")
    git(folder.parent, "init", "--quiet")
    git(folder.parent, "remote", "add", "origin", "git@github.com:acme/crm.git")
    git(folder.parent, "add", "--all")
    git(folder.parent, "commit", "--quiet", "--message", "A product")
    assert run(["product", "register", "--in", str(folder)]) == 0, capsys.readouterr()
    capsys.readouterr()
    return folder


def edit(folder: Path, old: str, new: str, file: str = "floe.yaml") -> None:
    text = (folder / file).read_text()
    assert text.count(old) == 1
    (folder / file).write_text(text.replace(old, new))


def manifest(old: str, new: str) -> Callable[[Path], None]:
    return lambda product: edit(product, old, new, "../manifest.yaml")


def another_repository(product: Path) -> None:
    edit(product, "github.com/acme/crm", "github.com/acme/other")
    git(product, "remote", "set-url", "origin", "https://github.com/acme/other")


def a_new_name_where_none_is_registered_by_itself(product: Path) -> None:
    edit(product, "name: crm", "name: erp")
    edit(product, "auto_register: true", "auto_register: false", "../manifest.yaml")


def a_twin(product: Path) -> None:
    shutil.copytree(product, product.parent / "twin")
    git(product, "add", "--all", "..")


def retire(product: Path) -> None:
    assert run(["product", "retire", "sales.crm", "--reason", "done", "--in", str(product)]) == 0


IDENTITY: dict[str, tuple[Callable[[Path], None], str]] = {
    "FLOE-E601": (another_repository, "floe.yaml:4:9"),
    "FLOE-E602": (a_new_name_where_none_is_registered_by_itself, "floe.yaml:4:9"),
    "FLOE-E603": (a_twin, "floe.yaml:4:9"),
    "FLOE-E604": (lambda product: edit(product, "  owner: crm@acme.com\n", ""), "floe.yaml:3:1"),
    "FLOE-E605": (
        lambda product: git(product, "remote", "set-url", "origin", "https://github.com/acme/other"),
        "floe.yaml:8:15",
    ),
    "FLOE-E606": (manifest("github.com/acme/*", "github.com/acme/sales-*"), "floe.yaml:8:15"),
    "FLOE-E607": (manifest("mode: open", "mode: approval_required"), "floe.yaml:4:9"),
    "FLOE-E608": (retire, "floe.yaml:4:9"),
    "FLOE-E612": (
        manifest("enforce, auto_register: true", "register, auto_register: false"),
        "../manifest.yaml:5:50",
    ),
    "FLOE-E614": (lambda product: shutil.rmtree(product.parent / ".git"), "floe.yaml:8:15"),
}


@pytest.mark.parametrize("code", IDENTITY)
def test_one_change_of_a_registered_product_is_one_finding_at_its_place(
    found: Compile, product: Path, capsys: pytest.CaptureFixture[str], code: str
) -> None:
    assert found(product, "--check") == []
    change, place = IDENTITY[code]
    change(product)
    capsys.readouterr()
    assert found(product, "--check") == [f"{place} {code}"]


def test_without_any_proof_nothing_is_written_and_nothing_is_called_a_finding(
    found: Compile, product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(product.parent / ".git")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(product.parents[1]))
    assert found(product) == ["floe.yaml:8:15 FLOE-E620"]
    assert not (product / "target" / "floe" / "compiled_artifacts.json").exists()


def test_a_manifest_of_the_user_is_good_until_a_file_changes(found: Compile, tmp_path: Path) -> None:
    folder = tmp_path / "product"
    shutil.copytree(CASES / "FLOE-E300" / "good", folder)
    assert found(folder) == []
    shutil.copy(folder / "target" / "floe" / "dbt" / "project" / "manifest.json", folder)
    assert found(folder, "--check", "--dbt-manifest", "manifest.json") == []
    edit(folder, "select 1 as id", "select 2 as id", "models/bronze_a.sql")
    assert found(folder, "--check", "--dbt-manifest", "manifest.json") == ["manifest.json:1:1 FLOE-E145"]


# Every code


def elsewhere() -> dict[str, str]:
    """The codes that floe-core leaves to other tests, and which file has them."""
    text = (ROOT / "packages" / "floe-core" / "tests" / "test_cases.py").read_text("utf-8")
    [written] = [
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["ELSEWHERE"]
    ]
    named: dict[str, str] = ast.literal_eval(written)
    return named


@pytest.mark.parametrize(("code", "file"), elsewhere().items())
def test_a_code_without_a_case_in_the_core_has_the_test_that_is_named(code: str, file: str) -> None:
    assert code in CODES
    if ROOT / file == Path(__file__):
        assert code in (*IDENTITY, *(folder.name for folder in FOLDERS), "FLOE-E145", "FLOE-E302", "FLOE-E620")
    else:
        assert code.removeprefix("FLOE-") in (ROOT / file).read_text("utf-8")
