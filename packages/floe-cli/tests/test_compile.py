"""`floe compile`: findings, exit codes and the report, the same in every format."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from formats_read import count

from floe_cli.formats import FORMATS
from floe_core.artifacts import read_artifacts

Run = Callable[..., subprocess.CompletedProcess[str]]
Edit = Callable[[str, str, str], None]

REPORT = ["schema", "command", "exit_code", "findings", "errors", "summary"]
FINDING = ["code", "severity", "path", "line", "column", "message", "why", "fix", "expected", "actual"]
FINDING += ["docs", "fingerprint", "related"]

BREAKS = {
    "weaker": ("domain.yaml", "coverage: 90", "coverage: 70", 1, "FLOE-E160", "domain.yaml", 8),
    "compute": (
        "customer-360/floe.yaml",
        "domain: ",
        "compute: x\ndomain: ",
        1,
        "FLOE-E170",
        "customer-360/floe.yaml",
        4,
    ),
    "syntax": ("domain.yaml", "scope: domain", "scope: [domain", 2, "FLOE-E101", "domain.yaml", 5),
    "typo": ("domain.yaml", "quality_gates:", "quality_gate:", 2, "FLOE-E121", "domain.yaml", 7),
    "no parent": ("domain.yaml", "parent: enterprise.yaml", "parent: gone.yaml", 2, "FLOE-E150", "domain.yaml", 5),
    "registry": (
        "domain.yaml",
        "parent: enterprise.yaml",
        "parent: oci://h/r:v1",
        3,
        "FLOE-E159",
        "domain.yaml",
        5,
    ),
}

COMPILED = "✓ {} compiled\n"


def report_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(done.stdout)
    assert list(report) == REPORT
    assert report["schema"] == "floe-report/1"
    assert report["exit_code"] == done.returncode
    for item in report["findings"] + report["errors"]:
        assert list(item) == FINDING
        assert item["severity"] in ("info", "warning", "error", "critical")
        assert item["line"] >= 1
        assert item["docs"].endswith(item["code"].lower())
        assert all(list(other) == ["path", "line", "column", "message"] for other in item["related"])
    return report


def test_a_clean_product_passes_and_its_facts_are_shown(floe_here: Run) -> None:
    done = floe_here("compile", "customer-360")
    assert done.returncode == 0
    assert done.stdout == COMPILED.format("sales.customer_360")
    assert done.stderr.splitlines() == [
        "[1/6] Loading platform artifacts",
        "      Platform version: 1.2.3 (acme)",
        "      Domain version: 2.0 (sales)",
        "      Compute: duckdb (enforced)",
        "      Architecture: medallion (warn enforcement)",
        "[2/6] Validating product identity",
        "      Product ID: sales.customer_360",
        "      identity is off",
        "[3/6] Validating naming conventions",
        "      no transforms: there is no dbt project to check",
        "[4/6] Checking quality gates",
        "      no transforms: there is no dbt project to check",
        "[5/6] Validating data contracts",
        "      data contracts are off",
        "[6/6] Registering and writing artifacts",
        "      Artifacts: target/floe/compiled_artifacts.json",
    ]


def test_the_report_of_a_clean_product_is_alone_on_stdout(floe_here: Run) -> None:
    done = floe_here("compile", "customer-360", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert report_of(done) == {
        "schema": "floe-report/1",
        "command": "floe compile",
        "exit_code": 0,
        "findings": [],
        "errors": [],
        "summary": {
            "products": [
                {
                    "product": "customer-360",
                    "version": "1.0",
                    "product_id": "sales.customer_360",
                    "mode": "mesh",
                    "artifacts": "customer-360/target/floe/compiled_artifacts.json",
                    "not_checked": {},
                    "models": 0,
                    "columns": 0,
                    "tested_columns": 0,
                    "coverage": None,
                }
            ],
            "counts": {"info": 0, "warning": 0, "error": 0, "critical": 0},
            "not_listed": 0,
        },
    }


def test_without_an_argument_the_current_folder_is_checked(
    floe_here: Run, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert floe_here("compile").returncode == 2
    monkeypatch.chdir(mesh / "customer-360")
    assert floe_here("compile").stdout.startswith("✓ sales.customer_360")


def test_the_file_itself_may_be_named(floe_here: Run) -> None:
    assert floe_here("compile", "customer-360/floe.yaml").returncode == 0


@pytest.mark.parametrize(("file", "old", "new", "exit_code", "code", "path", "line"), BREAKS.values(), ids=BREAKS)
def test_a_problem_ends_alike_in_every_format(
    floe_here: Run, edit: Edit, file: str, old: str, new: str, exit_code: int, code: str, path: str, line: int
) -> None:
    edit(file, old, new)
    as_text = floe_here("compile", "customer-360")
    as_json = floe_here("compile", "customer-360", "--format=json")
    report = report_of(as_json)
    [item] = report["findings" if exit_code == 1 else "errors"]
    assert report["errors" if exit_code == 1 else "findings"] == []
    assert (as_text.returncode, as_json.returncode) == (exit_code, exit_code)
    assert (item["code"], item["path"], item["line"]) == (code, path, line)
    place = f"{path}:{line}:{item['column']}"
    assert as_text.stdout.splitlines()[0] == f"✗ {code} {place}  {item['message']}"
    assert f"    Fix: {item['fix']}\n    floe explain {code}\n" in as_text.stdout
    assert as_text.stdout.endswith("✗ Compilation FAILED: 1 problem\n")


def test_a_weakening_shows_both_values_and_both_places(floe_here: Run, edit: Edit) -> None:
    edit("domain.yaml", "coverage: 90", "coverage: 70")
    assert floe_here("compile", "customer-360").stdout.splitlines()[:2] == [
        "✗ FLOE-E160 domain.yaml:8:28  minimum_test_coverage 70 is weaker than 80",
        "    enterprise.yaml:11:28  enterprise acme requires at least 80",
    ]
    [item] = report_of(floe_here("compile", "customer-360", "--format=json"))["findings"]
    assert (item["expected"], item["actual"]) == ("at least 80", "70")
    assert [(other["path"], other["line"]) for other in item["related"]] == [("enterprise.yaml", 11)]


def test_paths_are_relative_to_where_the_command_runs(
    floe_here: Run, edit: Edit, mesh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit("domain.yaml", "coverage: 90", "coverage: 70")
    monkeypatch.chdir(mesh / "customer-360")
    [item] = report_of(floe_here("compile", "--format=json"))["findings"]
    assert (item["path"], item["related"][0]["path"]) == ("../domain.yaml", "../enterprise.yaml")


@pytest.fixture
def products(mesh: Path) -> dict[int, str]:
    """A product for each exit code."""
    references = {0: "../domain.yaml", 1: "../domain.yaml", 2: "../gone.yaml", 3: "oci://registry.acme.com/x:v1"}
    for code, reference in references.items():
        product = mesh / f"p{code}"
        shutil.copytree(mesh / "customer-360", product)
        text = (product / "floe.yaml").read_text(encoding="utf-8")
        text = text.replace("customer-360", f"p{code}").replace("../domain.yaml", reference)
        (product / "floe.yaml").write_text(text + ("quality: {minimum_coverage: 1}\n" if code == 1 else ""))
    return {code: f"p{code}" for code in references}


@pytest.mark.parametrize("several", [(0, 1), (1, 0), (1, 2), (2, 1, 0), (2, 3, 1), (0, 3), (0, 1, 2, 3)])
def test_of_several_products_the_worst_ending_wins(
    floe_here: Run, products: dict[int, str], several: tuple[int, ...]
) -> None:
    names = [products[code] for code in several]
    assert floe_here("compile", *names).returncode == max(several)
    report = report_of(floe_here("compile", *names, "--format", "json"))
    assert report["exit_code"] == max(several)
    assert len(report["findings"]) == several.count(1)
    assert len(report["errors"]) == several.count(2) + several.count(3)
    assert [item["product"] for item in report["summary"]["products"]] == ["p0"] * several.count(0)


def test_several_clean_products_are_all_named(floe_here: Run, products: dict[int, str]) -> None:
    done = floe_here("compile", "customer-360", products[0])
    assert done.stdout == COMPILED.format("sales.customer_360") + COMPILED.format("sales.p0")


def test_what_two_products_share_is_reported_once(floe_here: Run, edit: Edit, products: dict[int, str]) -> None:
    edit("domain.yaml", "coverage: 90", "coverage: 70")
    done = floe_here("compile", "customer-360", products[0])
    assert done.stdout.count("FLOE-E160 domain.yaml") == 1
    assert done.stdout.endswith("✗ Compilation FAILED: 1 problem\n")


WARNS = """
    from dataclasses import replace
    import floe_core.compile as core
    from floe_core.findings import Finding, Place, Severity

    def compile_project(root, env, run, checked=core.compile_project):
        outcome = checked(root, env, run)
        warning = Finding("FLOE-E163", "this could be better", Place("floe.yaml"), Severity.WARNING)
        return replace(outcome, findings=(*outcome.findings, warning))

    core.compile_project = compile_project
"""


@pytest.mark.parametrize("output", ["text", "json"])
def test_warnings_pass_unless_strict(floe: Run, startup_code: Callable[[str], str], output: str) -> None:
    """No stage of this version warns, so one is made to."""
    path = startup_code(WARNS)
    lenient = floe("compile", "customer-360", "--format", output, PYTHONPATH=path)
    strict = floe("compile", "customer-360", "--format", output, "--strict", PYTHONPATH=path)
    assert (lenient.returncode, strict.returncode) == (0, 1)
    if output == "json":
        assert [item["severity"] for item in report_of(lenient)["findings"]] == ["warning"]
        assert report_of(strict)["exit_code"] == 1
    else:
        assert lenient.stdout.startswith("! FLOE-E163 floe.yaml:1:1  this could be better\n")
        assert strict.stdout.endswith("✗ Compilation FAILED: 1 problem\n")


def test_information_passes_even_when_strict(floe_here: Run, edit: Edit) -> None:
    edit("domain.yaml", "governance:", "naming_conventions: [{regex: 'x+'}]\ngovernance:")
    done = floe_here("compile", "customer-360", "--strict", "--format=json")
    assert done.returncode == 0
    assert [(item["code"], item["severity"]) for item in report_of(done)["findings"]] == [("FLOE-E163", "info")]


def test_names_with_spaces_and_other_scripts_are_shown_as_they_are(floe: Run, mesh: Path) -> None:
    product = mesh / "Données für 360"
    (mesh / "customer-360").rename(product)
    assert floe("compile", product.name).returncode == 0
    (product / "floe.yaml").write_text("kind: [", encoding="utf-8")
    assert floe("compile", product.name).stdout.startswith(f"✗ FLOE-E101 {product.name}/floe.yaml:1:")
    [item] = report_of(floe("compile", product.name, "--format=json"))["errors"]
    assert item["path"] == "Données für 360/floe.yaml"


# Every format


@pytest.mark.parametrize("breakage", BREAKS.values(), ids=BREAKS)
def test_exit_code_and_number_of_findings_agree_in_every_format(
    floe_here: Run, edit: Edit, breakage: tuple[str, str, str, int, str, str, int]
) -> None:
    file, old, new, exit_code, *_ = breakage
    edit(file, old, new)
    done = {output: floe_here("compile", "customer-360", "--format", output) for output in FORMATS}
    assert {item.returncode for item in done.values()} == {exit_code}
    assert {output: count(item.stdout, output) for output, item in done.items()} == dict.fromkeys(FORMATS, 1)
    assert all(not item.stderr for output, item in done.items() if output != "text")


def test_wrong_usage_keeps_to_the_format_asked_for(floe_here: Run) -> None:
    done = floe_here("compile", "--nope", "--format", "sarif")
    assert done.returncode == 2
    assert json.loads(done.stdout)["runs"][0]["results"][0]["ruleId"] == "FLOE-E001"


WEAK = """\
sla_minimums: {availability: 1, quality: 1}
governance:
  quality_gates: {minimum_test_coverage: 1, threshold: 1, require_descriptions: false}
"""


@pytest.fixture
def weak(mesh: Path) -> None:
    """A domain that is weaker than its enterprise in five ways."""
    enterprise, domain = mesh / "enterprise.yaml", mesh / "domain.yaml"
    gates = "    require_descriptions: true\n"
    stricter = enterprise.read_text().replace(gates, f"{gates}    threshold: 80\n")
    enterprise.write_text(f"{stricter}sla_minimums: {{availability: 99, quality: 95}}\n")
    domain.write_text(domain.read_text().partition("governance")[0] + WEAK)


@pytest.mark.usefixtures("weak")
def test_a_limit_lists_fewer_and_counts_all(floe_here: Run) -> None:
    done = floe_here("compile", "customer-360", "--limit", "2")
    assert done.returncode == 1
    assert done.stdout.count("✗ FLOE-E160") == 2
    assert done.stdout.endswith("\n\n… and 3 more\n\n✗ Compilation FAILED: 5 problems\n")
    report = report_of(floe_here("compile", "customer-360", "--limit", "2", "--format=json"))
    assert len(report["findings"]) == 2
    assert report["summary"]["counts"]["error"] == 5
    assert report["summary"]["not_listed"] == 3
    assert floe_here("compile", "customer-360", "--limit", "-1").returncode == 2


@pytest.mark.usefixtures("weak")
def test_findings_come_by_file_and_line_and_their_step_names_them_first(floe_here: Run) -> None:
    done = floe_here("compile", "customer-360")
    lines = [int(line.split(":")[1]) for line in done.stdout.splitlines() if line.startswith("✗ FLOE")]
    assert lines == sorted(lines)
    shown = done.stderr.splitlines()
    assert shown[0] == "[1/6] Loading platform artifacts"
    assert shown[1].startswith("      ✗ FLOE-E160 domain.yaml:6:")
    assert shown[-1] == "[6/6] Compilation FAILED"


# What is written


def test_artifacts_are_written_beside_the_product_and_not_with_check(floe_here: Run, mesh: Path) -> None:
    artifacts = mesh / "customer-360" / "target" / "floe" / "compiled_artifacts.json"
    done = floe_here("compile", "customer-360", "--check")
    assert done.stdout == "✓ sales.customer_360 checked, nothing written\n"
    assert not (mesh / "customer-360" / "target").exists()
    assert floe_here("compile", "customer-360").returncode == 0
    assert read_artifacts(artifacts).identity.product_id == "sales.customer_360"


def test_artifacts_are_not_written_when_strict_warnings_fail(floe_here: Run, edit: Edit, mesh: Path) -> None:
    expired = '{pattern: "x_*", code: FLOE-E201, action: downgrade, reason: old, expires: "2020-01-01"}'
    edit("domain.yaml", "governance:", f"governance:\n  policy_overrides: [{expired}]")
    done = floe_here("compile", "customer-360", "--strict")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "[6/6] Compilation FAILED"
    assert not (mesh / "customer-360" / "target").exists()
    assert floe_here("compile", "customer-360").returncode == 0
    assert (mesh / "customer-360" / "target").exists()


@pytest.mark.parametrize(
    "args", [("--check", "--register"), ("customer-360", "--dbt-manifest", "m.json", "customer-360")]
)
def test_options_that_contradict_each_other_are_wrong_usage(floe_here: Run, args: tuple[str, ...]) -> None:
    done = floe_here("compile", *args)
    assert done.returncode == 2
    assert done.stdout.startswith("✗ FLOE-E001 ")


def test_several_products_each_have_their_steps(floe_here: Run, products: dict[int, str]) -> None:
    shown = floe_here("compile", "customer-360", products[0]).stderr.splitlines()
    assert [line for line in shown if line.endswith(":")] == ["customer-360:", "p0:"]
    assert sum(line.startswith("[6/6]") for line in shown) == 2


def test_a_product_with_transforms_needs_floe_dbt(
    floe: Run, mesh: Path, startup_code: Callable[[str], str]
) -> None:
    floe_yaml = mesh / "customer-360" / "floe.yaml"
    floe_yaml.write_text(floe_yaml.read_text() + "transforms: [{type: dbt, path: models}]\n")
    (mesh / "customer-360" / "models").mkdir()
    hidden = startup_code("import floe_core.plugins\nfloe_core.plugins._announced = lambda: iter(())")
    done = floe("compile", "customer-360", PYTHONPATH=hidden)
    assert done.returncode == 3
    assert "✗ FLOE-E801 customer-360/floe.yaml:5:21  floe-dbt is not installed" in done.stdout
    assert "uv pip install --find-links WHEELS floe-dbt" in done.stdout


# Colour


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals(
    floe_script: str, mesh: Path, environment: dict[str, str], variables: dict[str, str], coloured: bool
) -> None:
    master, slave = os.openpty()
    subprocess.run(
        [floe_script, "compile", "customer-360"],
        cwd=mesh,
        env=environment | {"TERM": "xterm"} | variables,
        stdout=slave,
        stderr=slave,
        check=True,
    )
    shown = os.read(master, 100_000).decode()
    os.close(slave)
    os.close(master)
    assert ("\x1b[" in shown) is coloured
    assert "[1/6] Loading platform artifacts" in shown
