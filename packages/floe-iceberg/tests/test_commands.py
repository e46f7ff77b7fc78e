"""`floe product` as a person uses it, on a real catalog and a real checkout."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import click
import pytest
from click.testing import CliRunner
from sqlite_catalog import HERE, SqliteCatalog

import floe_core.workplace
from floe_core.findings import FloeError, Report
from floe_core.identity import Actor, Consumer, ContractMetadata
from floe_iceberg.commands import command

HELP = ["-h", "--help"]  # as below the root: click keeps the option that it made first
PRODUCT = f"""\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {{name: customer-360, version: "1.2.3", owner: a@acme.com, domain: sales, repository: {HERE}}}
    platform: ../manifest.yaml
"""
MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme}
    scope: enterprise
"""


class Terminal:
    """The least that a command needs of `floe`."""

    def emit(self, report: Report, output: str) -> int:
        if output == "json":
            click.echo(json.dumps(report.to_json()))
        for item in report.found:
            click.echo(f"{item.code} {item.message}", err=output == "json")
        return report.exit_code

    def say(self, line: str) -> None:
        click.echo(line, err=True)

    def verdict(self, text: str, ok: bool) -> str:
        return f"{'✓' if ok else '✗'} {text}"

    def table(self, rows: list[tuple[str, ...]]) -> str:
        return "\n".join("|".join(row) for row in rows)


Floe = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path, catalog: SqliteCatalog, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GITHUB_REPOSITORY", "CI_PROJECT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(floe_core.workplace, "catalog_of", lambda *_: catalog)
    monkeypatch.setattr(floe_core.workplace, "catalog_for", lambda *_: catalog)
    folder = tmp_path / "mono" / "c360"
    folder.mkdir(parents=True)
    (folder / "floe.yaml").write_text(dedent(PRODUCT))
    (folder.parent / "manifest.yaml").write_text(dedent(MANIFEST))
    for line in (["init", "-q"], ["remote", "add", "origin", f"https://{HERE}.git"]):
        subprocess.run(["git", *line], cwd=folder.parent, check=True)
    return folder


@pytest.fixture
def floe(project: Path) -> Floe:
    """Runs a command in the product's folder: its exit code, and what it printed."""

    def run(*args: str, folder: Path = project) -> tuple[int, str]:
        words = [*args, "--in", str(folder)]
        done = CliRunner().invoke(command, words, obj=Terminal(), standalone_mode=False, help_option_names=HELP)
        if done.exception:
            raise done.exception
        return int(done.return_value or 0), done.stdout

    return run


def test_a_product_is_registered_shown_and_listed(floe: Floe, project: Path) -> None:
    assert floe("list") == (0, "No products are registered.\n")
    assert floe("register") == (0, "✓ sales.customer_360 is registered (created)\n")
    assert floe("register") == (0, "✓ sales.customer_360 is registered already (already_owned)\n")
    code, listed = floe("list", folder=project.parent)
    assert (code, listed.splitlines()[1].split("|")[:4]) == (0, ["sales.customer_360", "1.2.3", "a@acme.com", HERE])
    assert "Repository|github.com/acme/sales-customer-360\nPath|c360\n" in floe("show")[1]


def test_json_is_alone_on_stdout_and_complete(floe: Floe, catalog: SqliteCatalog) -> None:
    floe("register")
    catalog.register_contract("sales.customer_360", "customers", "1.0.0", "s", ContractMetadata("o"))
    catalog.register_consumer("sales.customer_360", Consumer("hr.people", "customers", "^1", "in"))
    shown: dict[str, Any] = json.loads(floe("show", "--format", "json")[1])["summary"]
    assert shown["product"]["id"] == "sales.customer_360"
    assert [item["version"] for item in shown["contracts"]] == ["1.0.0"]
    assert [item["product"] for item in shown["consumers"]] == ["hr.people"]
    assert json.loads(floe("list", "--format", "json")[1])["summary"]["products"] == [shown["product"]]
    lines = json.loads(floe("history", "--format", "json")[1])["summary"]["history"]
    assert [line["action"] for line in lines] == ["claim", "register_contract", "register_consumer"]


def test_the_approval_list_is_printed_as_a_manifest_wants_it(floe: Floe, catalog: SqliteCatalog) -> None:
    assert floe("list", "--as-registry") == (0, "registered_products: []\n")
    floe("register")
    catalog.register_product_identity("sales.gone", HERE, "a")
    catalog.retire_product("sales.gone", by=Actor(HERE))
    lines = floe("list", "--as-registry")[1].splitlines()
    assert lines[:3] == ["registered_products:", "  - name: customer-360", f'    repository: "{HERE}"']
    assert len(lines) == 4


def test_another_repository_is_refused_with_the_owner(floe: Floe, catalog: SqliteCatalog) -> None:
    catalog.register_product_identity("sales.customer_360", "github.com/acme/other", "o@acme.com")
    code, printed = floe("register")
    assert (code, printed) == (1, "FLOE-E601 Namespace 'sales.customer_360' owned by different repository\n")


def test_without_proof_nothing_is_registered(floe: Floe, project: Path, catalog: SqliteCatalog) -> None:
    subprocess.run(["git", "remote", "remove", "origin"], cwd=project, check=True)
    code, printed = floe("register")
    assert (code, printed.split(" ")[0]) == (3, "FLOE-E620")
    assert catalog.calls.names == []


def test_the_owners_checkout_transfers_and_nobody_elses_does(floe: Floe) -> None:
    floe("register")
    code, printed = floe("transfer", "--to", "github.com/acme/new", "--owner", "n@acme.com", "--reason", "moved")
    assert (code, "→ 'github.com/acme/new'" in printed) == (0, True)
    code, printed = floe("retire", "--reason", "no more")
    assert (code, printed.split(" ")[0]) == (1, "FLOE-E613")
    assert floe("retire", "--admin")[0] == 1
    assert floe("retire", "--admin", "--reason", "no more")[0] == 0
    told = [line.split("|")[1::3] for line in floe("history")[1].splitlines()[1:]]
    assert [action for action, _ in told] == ["claim", "transfer", "retire"]
    assert "(no more)" in floe("history")[1]


def test_tampering_is_found_and_repaired(floe: Floe, catalog: SqliteCatalog) -> None:
    floe("register")
    assert floe("verify") == (0, "✓ 1 product as registered\n")
    with catalog.raw() as raw:
        raw.update_namespace_properties("sales.customer_360", None, {"floe.product.owner": "evil"})
    code, printed = floe("verify")
    assert (code, printed.split(" ")[0]) == (1, "FLOE-E609")
    assert floe("verify", "--repair") == (0, "✓ 1 property repaired\n")
    assert floe("verify")[0] == 0


def test_the_registry_can_be_made_by_hand(floe: Floe) -> None:
    assert floe("init-registry")[1].startswith("✓ floe__registry is made in sqlite")
    assert floe("init-registry")[1].startswith("✓ floe__registry was there already")


@pytest.mark.parametrize(
    "args", [("show", "sales.nothing"), ("history", "sales.nothing"), ("verify", "sales.nothing")]
)
def test_a_product_that_is_not_there_is_named(floe: Floe, args: tuple[str, ...]) -> None:
    with pytest.raises(FloeError, match=r"FLOE-E630 .*sales\.nothing is not registered"):
        floe(*args)


def test_a_platforms_folder_has_no_product_of_its_own(floe: Floe, project: Path) -> None:
    for args in (("show",), ("register",)):
        with pytest.raises(FloeError, match="no product's folder"):
            floe(*args, folder=project.parent)
