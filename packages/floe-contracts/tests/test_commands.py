"""`floe contract …` as its users see it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from builders import document, put
from click.testing import CliRunner

from floe_contracts.commands import command
from floe_contracts.lint import lint
from floe_core.findings import Report, relative_to_cwd

HELP = ["-h", "--help"]  # as below the root: click keeps the option that it made first
SPEC = (Path(__file__).parent / "contracts" / "spec-shorthand.yaml").read_text()
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      name: crm
      version: "1.0" # of the product
      owner: a@acme.com
      domain: sales
    output_ports:
      - {name: customers, schema: [{name: id, type: string, required: true}]}
      - {name: orders, schema: [{name: id, type: string}]}
"""


class Terminal:
    """Prints as floe's own terminal does, in short."""

    def emit(self, report: Report, output: str) -> int:
        if output == "json":
            click.echo(json.dumps(report.to_json()))
        else:
            for item in relative_to_cwd(report.found):
                click.echo(f"{item.severity.value} {item.code} {item.place} {item.message}")
        return report.exit_code

    def say(self, line: str) -> None:
        click.echo(line, err=True)


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> tuple[int, str]:
        words = list(args)
        result = CliRunner().invoke(command, words, obj=Terminal(), standalone_mode=False, help_option_names=HELP)
        if result.exception:
            raise result.exception
        return int(result.return_value), result.output

    return call


def test_lint_tells_findings_and_what_is_valid(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC, "contracts/bad.yaml": "a: ["})
    code, output = run("lint", "datacontract.yaml")
    assert code == 0
    assert "warning FLOE-E503 datacontract.yaml:36:14" in output
    assert "✓ sales-customer-360-customers 2.1.0 is valid" in output
    assert run("lint", "--strict", "datacontract.yaml")[0] == 1
    code, output = run("lint", ".")
    assert code == 1
    assert "error FLOE-E501 contracts/bad.yaml:1:5" in output


def test_lint_of_record_asks_datacontract_cli(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    code, output = run("lint", "--record", "datacontract.yaml", "--format", "json")
    assert code == 0
    assert [item["code"] for item in json.loads(output)["findings"]] == ["FLOE-E503"]


def test_lint_of_a_folder_without_contracts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert run("lint", "empty") == (1, "error FLOE-E500 empty:1:1 empty holds no contract file\n")
    assert run("lint", "absent.yaml")[0] == 2
    assert run("lint", "x" * 5000)[0] == 2
    assert run("plan", "x" * 5000)[0] == 2


def test_diff_shows_changes_with_their_bump_and_direction(run: Run, tmp_path: Path) -> None:
    new = SPEC.replace("PT6H", "PT12H").replace("description: Customer master data", "description: Customers")
    put(tmp_path, {"old.yaml": SPEC, "new.yaml": new})
    code, output = run("diff", "old.yaml", "new.yaml")
    assert code == 0
    assert output.splitlines()[1].split() == [
        *("MAJOR", "sla-relaxed", "sla.freshness.updated_at", "PT6H", "PT12H", "breaks", "eases")
    ]
    assert output.splitlines()[-1].endswith("2 changes since 2.1.0 need a MAJOR version: 3.0.0")
    summary = json.loads(run("diff", "old.yaml", "new.yaml", "--format", "json")[1])["summary"]
    assert (summary["required_bump"], summary["version"]) == ("MAJOR", "3.0.0")
    assert run("diff", "old.yaml", "old.yaml")[1].endswith("nothing changed since 2.1.0\n")


def git(*args: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@acme.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *args], check=True, capture_output=True)


def test_bump_compares_with_git_and_changes_only_the_version(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    git("init", "-q", ".")
    git("add", ".")
    git("commit", "-qm", "x")
    changed = SPEC.replace("required: false", "required: false # maybe").replace("unique: true", "unique: false")
    put(tmp_path, {"datacontract.yaml": changed})
    code, output = run("bump", "--baseline", "git:HEAD:datacontract.yaml")
    assert code == 1
    assert "error FLOE-E520 datacontract.yaml:4:10" in output
    assert (tmp_path / "datacontract.yaml").read_text() == changed
    code, output = run("bump", "--baseline", "git:HEAD:datacontract.yaml", "--write")
    assert code == 0
    assert output.endswith(": 1 change since 2.1.0 needs a MAJOR version: 3.0.0 (written to datacontract.yaml)\n")
    assert (tmp_path / "datacontract.yaml").read_text() == changed.replace("version: 2.1.0", "version: 3.0.0")
    assert run("bump", "--baseline", "git:HEAD:datacontract.yaml")[0] == 0


def test_bump_of_a_generated_contract_writes_floe_yaml(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"floe.yaml": PRODUCT})
    _, before = run("show", ".", "--contract", "customers")
    put(
        tmp_path, {"before.yaml": before, "floe.yaml": PRODUCT.replace("type: string, required: true", "type: int")}
    )
    code, _ = run("bump", ".", "--contract", "customers", "--baseline", "before.yaml", "--write")
    assert code == 0
    assert '      version: "2.0.0" # of the product' in (tmp_path / "floe.yaml").read_text().replace(
        "  v", "      v"
    )


@pytest.mark.parametrize("version", ["version: !!str 2.1.0", "version: &v 2.1.0", "version: >-\n  2.1.0"])
def test_a_version_written_unusually_is_left_alone(run: Run, tmp_path: Path, version: str) -> None:
    put(tmp_path, {"old.yaml": SPEC})
    text = SPEC.replace("version: 2.1.0", version).replace("unique: true", "unique: false")
    put(tmp_path, {"datacontract.yaml": text})
    code, output = run("bump", "--baseline", "old.yaml", "--write")
    assert (code, "FLOE-E521" in output) == (1, True)
    assert (tmp_path / "datacontract.yaml").read_text() == text


@pytest.mark.parametrize("quote", ['"', "'"])
def test_quotes_and_windows_line_ends_stay(run: Run, tmp_path: Path, quote: str) -> None:
    put(tmp_path, {"old.yaml": SPEC})
    text = SPEC.replace("version: 2.1.0", f"version: {quote}2.1.0{quote} # mine").replace("PT6H", "PT3H")
    (tmp_path / "datacontract.yaml").write_bytes(text.replace("\n", "\r\n").encode())
    assert run("bump", "--baseline", "old.yaml", "--write")[0] == 0
    wanted = text.replace("2.1.0", "2.2.0").replace("\n", "\r\n").encode()
    assert (tmp_path / "datacontract.yaml").read_bytes() == wanted


@pytest.mark.parametrize("baseline", ["absent.yaml", "git:HEAD:x", "git:--output=x:y", "git:x"])
def test_a_baseline_that_cannot_be_read_is_told(run: Run, tmp_path: Path, baseline: str) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    code, output = run("bump", "--baseline", baseline)
    assert code == 2
    assert "FLOE-E100" in output
    assert not (tmp_path / "x").exists()


def test_plan_prints_a_table(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    code, output = run("plan", "datacontract.yaml")
    assert code == 0
    lines = output.splitlines()
    assert lines[0].split() == ["source", "table", "column", "check", "legal", "asked", "by"]
    assert lines[1].startswith("not run")
    assert lines[-1] == "sales-customer-360-customers: 1 not run, 3 metadata, 3 pass"
    plans = json.loads(run("plan", "datacontract.yaml", "--format", "json")[1])["summary"]["plans"]
    assert len(plans[0]["checks"]) == 7


def test_show_of_a_product_asks_which_contract(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"floe.yaml": PRODUCT})
    with pytest.raises(click.UsageError, match="customers, orders"):
        run("show", ".")
    assert run("show", ".", "--contract", "orders")[1].startswith("apiVersion: v3.1.0\n")
    assert run("show", ".", "--contract", "nobody")[0] == 1


def test_show_tells_where_each_value_comes_from(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"floe.yaml": PRODUCT})
    output = run("show", ".", "--contract", "customers", "--origins")[1]
    rows: dict[str, Any] = {line.split()[0]: line.split()[-2:] for line in output.splitlines()}
    assert rows["version"] == ["product", "floe.yaml:5:12"]
    assert rows["schema[customers].properties[id].required"] == ["port", "floe.yaml:9:67"]


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), ("- 1", "is a list"), ("x", "is a single value")])
def test_a_file_that_is_no_mapping_is_told_how_a_contract_starts(tmp_path: Path, text: str, said: str) -> None:
    put(tmp_path, {"c.yaml": text})
    _, [finding] = lint(tmp_path / "c.yaml")
    assert said in finding.message
    assert (finding.code, finding.fix) == (
        "FLOE-E501",
        "Start with `apiVersion: v3.1.0` and `kind: DataContract`.",
    )


def test_a_contract_that_the_file_does_not_hold_is_told(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    assert run("plan", "datacontract.yaml", "--contract", "other")[0] == 1
    assert "FLOE-E500" in run("show", "datacontract.yaml", "--contract", "other")[1]


def test_a_contract_without_checks_is_said_to_have_none(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"c.yaml": json.dumps(document())})
    assert run("plan", "c.yaml") == (0, "orders: no checks\n")


def test_bump_of_a_file_asks_for_its_baseline(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"datacontract.yaml": SPEC})
    with pytest.raises(click.UsageError, match="name its --baseline"):
        run("bump", "datacontract.yaml")
