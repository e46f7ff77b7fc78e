"""`floe contract` on what a catalog keeps: versions, their history, and whom a change breaks."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from floe_catalog_sql import SqlCatalogPlugin
from floe_cli.main import run
from floe_core.identity import Actor, Consumer

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    identity: {enforcement: register}
    data_contracts: {enforcement: block}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {name: crm, version: VERSION, owner: a@acme.com, domain: sales, repository: github.com/acme/crm}
    platform: ../manifest.yaml
    output_ports:
      - {name: customers, schema: [{name: id, type: string, required: true}, {name: email, type: TYPE}]}
"""
Floe = Callable[..., tuple[int, str]]


@pytest.fixture
def floe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Floe:
    """The command line in the folder of a product that has registered customers 1.0.0 and 1.1.0."""
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "platform" / "crm"
    folder.mkdir(parents=True)
    (folder.parent / "manifest.yaml").write_text(dedent(MANIFEST))
    monkeypatch.chdir(folder)

    def call(*arguments: str) -> tuple[int, str]:
        code = run(list(arguments))
        return code, capsys.readouterr().out

    write(folder, "1.0.0", "string")
    for command in ("init -q", "remote add origin git@github.com:acme/crm.git"):
        subprocess.run(["git", *command.split()], check=True)
    for version in ("1.0.0", "1.0.1"):
        write(folder, version, "string")
        subprocess.run(["git", "add", "floe.yaml"], check=True)
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", version], check=True)
        assert call("compile", "--format", "json")[0] == 0
    return call


def write(folder: Path, version: str, kind: str) -> None:
    text = dedent(PRODUCT).replace("VERSION", f'"{version}"').replace("TYPE", kind)
    (folder / "floe.yaml").write_text(text)


def catalog(here: Path) -> SqlCatalogPlugin:
    return SqlCatalogPlugin({}, here.parent / ".floe")


def summary(floe: Floe, *arguments: str) -> Any:
    code, printed = floe("contract", *arguments, "--format", "json")
    assert code == 0, printed
    return json.loads(printed)["summary"]


def consume(here: Path, **ranges: str) -> None:
    for name, version in ranges.items():
        consumer = Consumer(f"finance.{name}", "customers", version, "crm", "github.com/acme/f", "f@acme.com")
        catalog(here).register_consumer("sales.crm", consumer)


def test_every_version_is_listed_with_those_who_read_it(floe: Floe) -> None:
    here = Path.cwd()
    consume(here, report="^1", exact="1.0.0")
    catalog(here).retire_contract("sales.crm", "customers", "1.0.0", by=Actor("github.com/acme/crm"))
    kept = summary(floe, "list")["contracts"]
    assert [(item["version"], item["retired"], len(item["consumers"])) for item in kept] == [
        ("1.0.0", True, 2),
        ("1.0.1", False, 1),
    ]
    assert summary(floe, "list", "--in", "..") == summary(floe, "list", "sales.crm")
    printed = floe("contract", "list")[1]
    assert "1.0.0 retired" in printed
    assert "finance.exact, finance.report" in printed
    assert floe("contract", "list", "sales.other") == (0, "No contracts are registered.\n")


def test_history_tells_of_contracts_and_consumers_only(floe: Floe) -> None:
    consume(Path.cwd(), report="^1")
    told = [(line["action"], line["subject"]) for line in summary(floe, "history", "customers")["history"]]
    assert told == [
        ("register_contract", "sales.crm/customers:1.0.0"),
        ("register_contract", "sales.crm/customers:1.0.1"),
        ("register_consumer", "finance.report → sales.crm/customers"),
    ]
    code, printed = floe("contract", "history", "orders")
    assert (code, "FLOE-E632" in printed) == (2, True)


def test_a_registered_version_is_shown_and_compared(floe: Floe) -> None:
    code, printed = floe("contract", "show", "catalog:customers:1.0.0")
    assert code == 0
    assert "version: 1.0.0\n" in printed
    found = summary(floe, "diff", "catalog:sales.crm/customers:1.0.0", "catalog:customers")
    assert (found["old"], found["new"], found["required_bump"]) == ("1.0.0", "1.0.1", "NONE")


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        ("catalog:customers:9.0.0", "FLOE-E632"),
        ("catalog:orders", "FLOE-E632"),
        ("catalog:sales.other/customers", "FLOE-E632"),
        ("catalog:/customers", "FLOE-E100"),
        ("catalog:customers:", "FLOE-E100"),
    ],
)
def test_what_the_catalog_does_not_keep_is_said(floe: Floe, reference: str, code: str) -> None:
    assert code in floe("contract", "show", reference)[1]


def test_a_breaking_change_names_the_consumers_of_every_living_version(floe: Floe) -> None:
    here = Path.cwd()
    consume(here, report="^1", exact="1.0.0", next="^2", strange=">= latest")
    write(here, "2.0.0", "integer")
    [found] = summary(floe, "diff", "--against", "registered")["contracts"]
    assert (found["old"], found["new"], found["required_bump"]) == ("1.0.1", "2.0.0", "MAJOR")
    names = [each["product"] for each in found["broken_consumers"]]
    assert names == ["finance.exact", "finance.report", "finance.strange"]
    catalog(here).retire_contract("sales.crm", "customers", "1.0.0", by=Actor("github.com/acme/crm"))
    printed = floe("contract", "diff", "--against", "registered", ".")[1]
    assert "breaks 2 registered consumers" in printed
    assert "finance.exact" not in printed


def test_a_change_that_only_adds_breaks_nobody(floe: Floe) -> None:
    here = Path.cwd()
    consume(here, report="^1")
    text = (here / "floe.yaml").read_text()
    (here / "floe.yaml").write_text(text.replace("type: string}]", "type: string}, {name: new, type: string}]"))
    [found] = summary(floe, "diff", "--against", "registered", "--contract", "customers")["contracts"]
    assert (found["required_bump"], found["broken_consumers"]) == ("MINOR", [])


def test_diff_wants_two_or_the_catalog(floe: Floe) -> None:
    for arguments in ([], ["floe.yaml"], ["a", "b", "--against", "registered"]):
        assert floe("contract", "diff", *arguments)[0] == 2
