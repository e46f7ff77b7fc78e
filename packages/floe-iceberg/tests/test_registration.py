"""Steps 2 and 6 of a compile on a real catalog: looked at first, claimed last, told in a person's words."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from sqlite_catalog import SqliteCatalog, raising

from floe_core.compile import Outcome, compile_project
from floe_core.contract import Contract, Status
from floe_core.env import Env, Verdict
from floe_core.findings import Finding, FloeError
from floe_core.line import Line
from floe_core.registration import CatalogIdentities

PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {name: customer-360, version: "1.2.3", owner: a@acme.com, domain: sales, repository: github.com/acme/mono}
    platform: ../manifest.yaml
    input_ports:
      - {name: orders, source: {product: sales.orders, contract: orders, version: "^1"}}
"""
MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    identity: {enforcement: LEVEL, registration: {max_attempts: 1}}
"""


def promised(version: str = "1.0.0", status: Status = Status.ACTIVE, title: str = "x") -> Contract:
    document = {"id": "x", "title": title}
    return Contract("customers", "x", version, status, "v3.1.0", "a@acme.com", (), document=document)


@dataclass(frozen=True)
class Promises:
    """The contract plugin of a compile."""

    contracts: tuple[Contract, ...]

    def read(self, spec: object, projects: object) -> tuple[tuple[Contract, ...], list[Finding]]:
        del spec, projects
        return self.contracts, []

    def check(self, spec: object, contracts: object, models: object, unanswered: object = ()) -> Verdict:
        del spec, contracts, models, unanswered
        return Verdict()


@pytest.fixture
def product(tmp_path: Path) -> Path:
    folder = tmp_path / "mono" / "c360"
    folder.mkdir(parents=True)
    (folder / "floe.yaml").write_text(dedent(PRODUCT))
    write_level(folder, "register")
    for command in ("init -q", "remote add origin git@github.com:acme/mono.git", "add -A", "commit -qm x"):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *command.split(" ")], cwd=folder.parent, check=True
        )
    return folder


def write_level(folder: Path, level: str) -> None:
    (folder.parent / "manifest.yaml").write_text(dedent(MANIFEST).replace("LEVEL", level))


def compiled(product: Path, catalog: SqliteCatalog, *contracts: Contract, check: bool = False) -> Outcome:
    identities = CatalogIdentities(check, {}, open=lambda chain, merged: catalog)  # noqa: ARG005 - the test's own
    env = Env(identities=identities, contracts=Promises(contracts), check=check)
    return compile_project(product, env, Line())


def codes(outcome: Outcome) -> list[str]:
    return [item.code for item in outcome.findings]


def test_a_compile_registers_the_product_its_contracts_and_its_inputs(
    product: Path, catalog: SqliteCatalog
) -> None:
    outcome = compiled(product, catalog, promised(), promised("2.0.0", Status.DRAFT))
    assert codes(outcome) == []
    assert outcome.written.artifacts
    assert outcome.written.artifacts.identity.namespace_registered
    registered = catalog.get_product("sales.customer_360")
    assert registered
    assert (registered.repository, registered.path, registered.version) == ("github.com/acme/mono", "c360", "1.2.3")
    assert [item.version for item in catalog.list_registered_contracts("sales.customer_360")] == ["1.0.0"]
    [consumer] = catalog.list_consumers("sales.orders")
    assert (consumer.product, consumer.contract, consumer.version) == ("sales.customer_360", "orders", "^1")
    [claim, *_] = catalog.product_history("sales.customer_360")
    assert (claim.by.repository, len(claim.by.commit)) == ("github.com/acme/mono", 40)


def test_a_check_writes_nothing(product: Path, catalog: SqliteCatalog) -> None:
    assert codes(compiled(product, catalog, promised(), check=True)) == []
    with catalog.raw() as raw:
        assert raw.list_namespaces() == []


def test_the_level_warn_writes_nothing_either(product: Path, catalog: SqliteCatalog) -> None:
    write_level(product, "warn")
    assert codes(compiled(product, catalog)) == ["FLOE-E602"]
    assert catalog.list_products() == []


def test_somebody_elses_product_is_found_in_step_2_and_nothing_is_registered(
    product: Path, catalog: SqliteCatalog
) -> None:
    catalog.register_product_identity("sales.customer_360", "github.com/acme/other-repo", "other-team@acme.com")
    outcome = compiled(product, catalog, promised())
    assert codes(outcome) == ["FLOE-E601"]
    assert outcome.written.artifacts is None
    assert catalog.list_registered_contracts("sales.customer_360") == []


def test_what_the_manifests_refuse_is_refused_before_the_catalog_is_asked(
    product: Path, catalog: SqliteCatalog
) -> None:
    refusing = 'governance: {product_registration: {allowed_repositories: ["github.com/other/*"]}}\n'
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text() + refusing)
    assert codes(compiled(product, catalog)) == ["FLOE-E606"]
    assert catalog.calls.names == []


def test_a_contract_that_was_changed_under_its_version_is_not_registered(
    product: Path, catalog: SqliteCatalog
) -> None:
    compiled(product, catalog, promised())
    outcome = compiled(product, catalog, promised(title="another"))
    assert codes(outcome) == ["FLOE-E611"]
    assert "customers:1.0.0 was registered on" in outcome.findings[0].message


def test_a_second_compile_changes_nothing_and_a_new_version_is_recorded(
    product: Path, catalog: SqliteCatalog
) -> None:
    compiled(product, catalog)
    compiled(product, catalog)
    assert len(catalog.product_history("sales.customer_360")) == 1
    floe_yaml = product / "floe.yaml"
    floe_yaml.write_text(floe_yaml.read_text().replace("1.2.3", "1.3.0"))
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "y"], cwd=product, check=True
    )
    compiled(product, catalog)
    assert [line.action for line in catalog.product_history("sales.customer_360")] == ["claim", "update"]


def test_a_catalog_that_does_not_answer_could_not_be_checked(product: Path, catalog: SqliteCatalog) -> None:
    catalog.calls.before = raising("load_table", ConnectionRefusedError("nobody listens"))
    outcome = compiled(product, catalog)
    assert codes(outcome) == ["FLOE-E807"]
    assert outcome.findings[0].row.exit == 3


def test_a_catalog_that_nobody_configured_is_a_warning_where_nobody_asked(product: Path) -> None:
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text().partition("identity:")[0])

    def refuse(chain: object, merged: object) -> SqliteCatalog:
        del merged
        place = chain.product.place()  # type: ignore[attr-defined]  # a chain
        raise FloeError(Finding("FLOE-E801", "no installed package provides 'polaris'", place))

    env = Env(identities=CatalogIdentities(False, {}, open=refuse))
    assert codes(compile_project(product, env, Line())) == ["FLOE-E600"]
    write_level(product, "warn")
    assert codes(compile_project(product, env, Line())) == ["FLOE-E801"]


def test_who_was_faster_after_step_2_is_told_in_step_6(
    product: Path, catalog: SqliteCatalog, tmp_path: Path
) -> None:
    rival = SqliteCatalog(tmp_path)

    def be_faster(name: str) -> None:
        if name == "create_table" and rival.get_product("sales.customer_360") is None:
            rival.register_product_identity("sales.customer_360", "github.com/acme/fast", "f@acme.com")

    catalog.calls.before = be_faster
    outcome = compiled(product, catalog)
    assert codes(outcome) == ["FLOE-E601"]
    assert ("Owner", "github.com/acme/fast") in outcome.findings[0].details
