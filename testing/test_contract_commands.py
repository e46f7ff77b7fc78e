"""`floe contract` as its users see it, with everything that takes part: the terminal, dbt, a catalog."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from floe_cli.commands.compile import command as compile_command
from floe_cli.main import run
from floe_contracts.commands.lint import command as lint_command

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    identity: {enforcement: register}
    data_contracts: {enforcement: block, versioning: {widening: minor}}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {name: crm, version: 1.0.0, owner: a@acme.com, domain: sales, repository: github.com/acme/crm}
    platform: ../manifest.yaml
    transforms: [{type: dbt, path: models/}]
    output_ports:
      - {name: customers, schema: [{name: id, type: int, required: true}]}
      - {name: orders, schema: [{name: id, type: int, required: true}]}
"""
MODELS = """\
    version: 2
    models:
      - name: customers
        description: Who buys.
        columns:
          - name: id
            description: The key.
            data_tests: [unique]
          - name: email
            data_tests:
              - not_null: {config: {where: id > 1}}
              - unique: {config: {error_if: ">10"}}
              - accepted_values: {arguments: {values: [a]}, config: {severity: warn}}
      - name: orders
"""
Floe = Callable[..., tuple[int, str]]


@pytest.fixture
def floe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Floe:
    """The command line in the folder of a committed product with two generated contracts."""
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "platform" / "crm"
    (folder / "models").mkdir(parents=True)
    (folder.parent / "manifest.yaml").write_text(dedent(MANIFEST))
    (folder / "floe.yaml").write_text(dedent(PRODUCT))
    (folder / "models" / "models.yml").write_text(dedent(MODELS))
    (folder / "models" / "customers.sql").write_text("select 1 as id, 'a' as email")
    (folder / "models" / "orders.sql").write_text("select 1 as id")
    monkeypatch.chdir(folder)
    git("init", "-q")
    git("remote", "add", "origin", "git@github.com:acme/crm.git")

    def call(*arguments: str) -> tuple[int, str]:
        code = run(list(arguments))
        return code, capsys.readouterr().out

    return call


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)


def registered(floe: Floe) -> None:
    git("add", ".")
    git("commit", "-qm", "x")
    code, printed = floe("compile", "--format", "json")
    assert code == 0, printed


def replaced(old: str, new: str, file: str = "floe.yaml") -> None:
    path = Path(file)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def formats(command: Any) -> tuple[str, ...]:
    [option] = [item for item in command.params if item.name == "output"]
    return tuple(option.type.choices)


def test_lint_has_the_formats_of_compile(floe: Floe) -> None:
    assert formats(lint_command) == formats(compile_command)
    Path("datacontract.yaml").write_text("apiVersion: v9\nkind: DataContract\n")
    [found] = json.loads(floe("contract", "lint", ".", "--format", "json")[1])["findings"]
    assert (found["code"], found["line"]) == ("FLOE-E502", 1)
    [result] = json.loads(floe("contract", "lint", ".", "--format", "sarif")[1])["runs"][0]["results"]
    assert result["ruleId"] == "FLOE-E502"
    [issue] = json.loads(floe("contract", "lint", ".", "--format", "gitlab")[1])
    assert issue["location"] == {"path": "datacontract.yaml", "lines": {"begin": 1}}
    printed = floe("contract", "lint", ".", "--format", "github")[1]
    assert printed.startswith("::error file=datacontract.yaml,line=1")
    assert "FLOE-E502" in floe("contract", "lint", ".", "--format", "junit")[1]


def test_dbt_completes_what_is_shown_and_says_where(floe: Floe) -> None:
    code, printed = floe("contract", "show", ".", "--contract", "customers", "--origins")
    assert code == 0
    rows = {line.split()[0]: line.split()[-2:] for line in printed.splitlines()}
    assert rows["schema[customers].description"] == ["dbt", "models/models.yml:4:18"]
    assert rows["schema[customers].properties[id].unique"] == ["dbt", "models/models.yml:6:9"]
    assert rows["schema[customers].properties[id].required"] == ["port", "floe.yaml:8:64"]
    promised = [row for row in rows if row.startswith("schema[customers].properties[email].")]
    assert promised == ["schema[customers].properties[email].name"]  # tests with conditions promise nothing


def test_what_was_registered_has_not_changed(floe: Floe) -> None:
    registered(floe)
    code, printed = floe("contract", "diff", "--against", "registered")
    assert (code, printed.count("nothing changed since 1.0.0")) == (0, 2)


def test_bump_takes_its_baseline_from_the_catalog_and_its_rules_from_the_platform(floe: Floe) -> None:
    registered(floe)
    replaced("name: customers, schema: [{name: id, type: int", "name: customers, schema: [{name: id, type: long")
    assert "FLOE-E523" in floe("compile")[1]
    code, printed = floe("contract", "bump")
    assert code == 1
    assert "customers: 1 change since 1.0.0 needs a MINOR version: 1.1.0" in printed
    code, printed = floe("contract", "bump", "--write")
    assert code == 0
    assert "MINOR version: 1.1.0 (written to floe.yaml)" in printed
    assert "orders: nothing changed since 1.0.0 (version 1.1.0 written to floe.yaml)" in printed
    registered(floe)
    replaced("1.1.0", "1.0.0")
    replaced("name: orders, schema: [{name: id, type: int", "name: orders, schema: [{name: id, type: long")
    assert floe("contract", "bump", "--write")[0] == 0
    registered(floe)  # past 1.1.0 of orders, which says something else


def test_a_contract_that_cannot_be_read_is_never_left_out_in_silence(floe: Floe) -> None:
    Path("datacontract.yaml").write_text("a: [")
    for command in (("plan",), ("show", "--contract", "customers"), ("diff", "--against", "registered")):
        code, printed = floe("contract", *command, ".")
        assert (code, "FLOE-E501 datacontract.yaml:1:5" in printed) == (1, True), command
