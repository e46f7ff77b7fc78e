"""What git says about a product's folder, asked of real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from floe_core import git
from floe_core.git import Checkout, look


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the product `sales/customer-360` committed."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    product = tmp_path / "sales" / "customer-360"
    product.mkdir(parents=True)
    (product / "floe.yaml").write_text("kind: DataProduct\n")
    run(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def run(folder: Path, *args: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path) -> str:
    run(folder, "add", "--all")
    run(folder, "commit", "--quiet", "--allow-empty", "--message", "work")
    return run(folder, "rev-parse", "HEAD")


def test_a_committed_folder_is_clean_and_knows_its_commit_and_path(repository: Path) -> None:
    run(repository, "remote", "add", "origin", "git@github.com:acme/x.git")
    run(repository, "remote", "add", "mirror", "https://example.com/x")
    found = look(repository / "sales" / "customer-360")
    assert found == Checkout(
        commit=run(repository, "rev-parse", "HEAD"),
        path="sales/customer-360",
        remotes=("git@github.com:acme/x.git", "https://example.com/x"),
    )
    assert found.is_clean
    assert look(repository).path == ""


def test_changes_are_named_from_the_folder_and_others_do_not_count(repository: Path) -> None:
    product = repository / "sales" / "customer-360"
    (product / "old name.sql").write_text("select 1 as a, 2 as b, 3 as c\n")
    commit(repository)
    (repository / "elsewhere.txt").write_text("x")
    assert look(product).is_clean
    (product / "floe.yaml").write_text("kind: Other\n")
    (product / "new ä.sql").write_text("select 2\n")
    run(product, "mv", "old name.sql", "new name.sql")
    found = look(product)
    assert found.changed == ("floe.yaml", "new name.sql", "new ä.sql")
    assert not found.is_clean


def test_what_floe_and_dbt_write_never_counts(repository: Path) -> None:
    product = repository / "sales" / "customer-360"
    (product / "warehouse").mkdir()
    (product / "warehouse" / "dbt_project.yml").write_text("name: w\n")
    commit(repository)
    for name in (
        "target/floe/x.json",
        "logs/dbt.log",
        "dbt_packages/a/b",
        ".floe/catalog.db",
        "warehouse/target/m",
    ):
        (product / name).parent.mkdir(parents=True, exist_ok=True)
        (product / name).write_text("x")
    (product / "floe.lock").write_text("x")
    assert look(product).is_clean
    (product / "models" / "target").mkdir(parents=True)
    (product / "models" / "target" / "gold_x.sql").write_text("select 1\n")
    run(product, "add", "models")
    assert look(product).changed == ("models/target/gold_x.sql",)


def test_a_folder_that_git_has_never_seen_is_not_clean(repository: Path) -> None:
    (repository / "new").mkdir()
    (repository / "new" / "floe.yaml").write_text("x")
    assert not look(repository / "new").is_clean


def test_a_repository_without_a_commit_is_an_answer(tmp_path: Path) -> None:
    run(tmp_path, "init", "--quiet")
    found = look(tmp_path)
    assert (found.commit, found.problem, found.is_clean) == (None, "", False)


def test_no_repository_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    found = look(tmp_path)
    assert found.problem.startswith("not a git repository")
    assert not found.is_clean


def test_no_git_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert look(tmp_path) == Checkout(problem="git is not installed")


def test_a_git_that_does_not_answer_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "TIMEOUT", 0.2)
    assert look(tmp_path).problem == "git did not answer within 0.2 seconds"


def test_looking_writes_nothing_and_runs_nothing_of_the_repository(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    commit(repository)
    run(repository, "config", "core.fsmonitor", str(trap))
    index = repository / ".git" / "index"
    before = index.read_bytes()
    (repository / "sales" / "customer-360" / "floe.yaml").touch()
    look(repository)
    assert index.read_bytes() == before
    assert not (tmp_path / "sprung").exists()
