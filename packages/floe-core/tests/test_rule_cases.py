"""Every rule has its case, a real dbt project: `bad` finds what its `expected` says, `good` is it, repaired."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rule_context import TODAY, read_context

from floe_core.compile import compile_project
from floe_core.env import Env
from floe_core.findings import Finding, FloeError
from floe_core.rules import RULES, enforce
from floe_core.rules.judge import judge, read_project

CASES = Path(__file__).parent / "rule_cases"
PROJECTS = sorted(path.parent for path in CASES.glob("*/*/dbt_project.yml"))
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())


def findings(folder: Path) -> list[Finding]:
    try:
        return enforce(read_context(folder)).findings
    except FloeError as exc:
        return list(exc.findings)


def found(folder: Path) -> list[str]:
    """What the rules find in the folder, as `expected` writes it."""
    return sorted(
        f"{Path(item.path).relative_to(folder).as_posix()}:{item.line}:{item.column} {item.code}"
        for item in findings(folder)
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_bad_project_finds_exactly_what_is_expected(folder: Path) -> None:
    expected = (folder / "bad" / "expected").read_text().splitlines()
    assert found(folder / "bad") == expected
    assert {line.split(" ")[1] for line in expected} == {folder.name}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_good_project_finds_nothing(folder: Path) -> None:
    assert found(folder / "good") == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_finding_teaches(folder: Path) -> None:
    for item in findings(folder / "bad"):
        assert item.why.endswith((".", "!"))
        assert item.fix.endswith((".", "`"))
        for text in (item.message, item.fix, item.expected or "", item.actual or ""):
            assert "<class" not in text
            assert "None" not in text


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_compile_finds_the_same(project: Path) -> None:
    """Through the whole line, with the case's manifest as that of the user's own dbt."""
    env = Env(
        read_project=read_project,
        rules=judge,
        dbt_manifest=project / "manifest.json",
        check=True,
        now=lambda: datetime(TODAY.year, TODAY.month, TODAY.day, tzinfo=UTC),
    )
    assert sorted(compile_project(project, env).findings, key=str) == sorted(findings(project), key=str)


def test_every_code_of_a_rule_has_a_case() -> None:
    codes = {code for rule in RULES for code in rule.codes}
    assert codes - {folder.name for folder in FOLDERS} == set()
