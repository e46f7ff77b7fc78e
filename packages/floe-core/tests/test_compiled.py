"""The artifacts of a product: complete, the same bytes everywhere, and known to be stale when something changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
import standins

from floe_core.artifacts import FILE, CompiledArtifacts, read_artifacts
from floe_core.compile import compile_project
from floe_core.compiled import changed_since, is_stale, refuse_changed
from floe_core.findings import FloeError
from floe_core.json_schema import artifacts_schema

ENTERPRISE = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: acme, version: "1.2.3"}
scope: enterprise
plugins:
  catalog: {type: rest, config: {uri: http://localhost, auth: {type: bearer, token: {env: CATALOG_TOKEN}}}}
data_architecture: {pattern: medallion}
naming_conventions: ["raw_*", {regex: "ä.*"}]
governance: {quality_gates: {minimum_test_coverage: 80}}
sla_minimums: {freshness: 24h, availability: "99.9%"}
required_floe_version: ">=0.1"
observability: {traces: true}
"""
DOMAIN = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: sales, version: "2.0"}
scope: domain
parent: enterprise.yaml
catalog_namespace: sales-eu
governance: {quality_gates: {minimum_test_coverage: 90}}
"""
PRODUCT = """\
apiVersion: floe.dev/v1
kind: DataProduct
metadata: {name: customer-360, version: "1.0", repository: github.com/acme/x}
domain: ../domain.yaml
transforms: [{type: dbt, path: models/, vars: {since: "2020-01-01", rate: 0.1}}]
schedule: {cron: "0 6 * * *"}
input_ports: [{name: crm, source: {product: crm.accounts, contract: accounts, version: ^1}, freshness: 6h}]
output_ports:
  - name: customers
    table: bronze_customers
    schema: [{name: id, type: string, classification: [pii, internal]}]
    sla: {freshness: PT6H, availability: "99.9%"}
"""
FILES = {
    "enterprise.yaml": ENTERPRISE,
    "domain.yaml": DOMAIN,
    "customer-360/floe.yaml": PRODUCT,
    "customer-360/dbt_project.yml": "name: p\n",
    "customer-360/models/bronze_customers.sql": "select 1 as id\n",
    "customer-360/contracts/customers.yaml": "kind: DataContract\n",
}


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767434400")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name, text in FILES.items():
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "here" / "customer-360"


def compiled(product: Path) -> CompiledArtifacts:
    assert compile_project(product, standins.env()).findings == ()
    return read_artifacts(product / FILE)


def test_the_artifacts_hold_everything_a_run_needs(product: Path) -> None:
    found = compiled(product)
    body = json.loads((product / FILE).read_bytes())
    jsonschema_rs.Draft202012Validator(artifacts_schema()).validate(body)
    assert body["version"] == "0.1.0"
    assert body["metadata"]["compiled_at"] == "2026-01-03T10:00:00Z"
    assert (body["metadata"]["product_name"], body["metadata"]["product_version"]) == ("customer-360", "1.0")
    assert body["identity"] == {
        "product_id": "sales.customer_360",
        "namespace": "sales_eu.customer_360",
        "repository": "github.com/acme/x",
        "namespace_registered": False,
        "registration_timestamp": None,
    }
    assert body["mode"] == "mesh"
    assert [(item["scope"], item["path"]) for item in body["inheritance"]] == [
        ("enterprise", "../enterprise.yaml"),
        ("domain", "../domain.yaml"),
        ("product", "floe.yaml"),
    ]
    assert body["observability"] == {
        "traces": True,
        "metrics": False,
        "lineage": False,
        "namespace": "sales.customer-360",
    }
    assert body["transforms"] == [{"type": "dbt", "path": "models/", "vars": {"since": "2020-01-01", "rate": 0.1}}]
    assert found.output_ports[0].columns
    assert body["output_ports"][0]["schema"][0]["classification"] == ["pii", "internal"]
    assert body["output_ports"][0]["sla"]["freshness"] == "PT6H"


def test_the_policy_is_the_merged_manifest_and_says_who_set_what(product: Path) -> None:
    found = compiled(product)
    assert found.policy["governance"]["quality_gates"] == {"minimum_test_coverage": 90.0, "block_on_failure": True}
    assert found.policy["sla_minimums"] == {"freshness": "P1D", "availability": 99.9}
    assert found.policy["required_floe_version"] == ">=0.1"
    assert {"glob": "raw_*"} in found.policy["naming_conventions"][0]
    assert found.policy["identity"]["registration"]["initial_backoff"] == "PT1S"
    [setter] = found.set_by["governance.quality_gates.minimum_test_coverage"]
    assert (setter.tier, setter.path, setter.line, setter.default) == ("domain sales", "../domain.yaml", 7, False)
    [default] = found.set_by["identity.enforcement"]
    assert (default.tier, default.default) == ("enterprise acme", True)
    assert not {"metadata", "kind", "apiVersion", "parent", "plugins"} & set(found.policy)


def test_secrets_stay_references(product: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATALOG_TOKEN", "t0p-s3cret")
    found = compiled(product)
    assert found.plugins["catalog"].config["auth"] == {"type": "bearer", "token": {"env": "CATALOG_TOKEN"}}
    assert b"t0p-s3cret" not in (product / FILE).read_bytes()


COMPILE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import standins
from floe_core.compile import compile_project
outcome = compile_project(Path(sys.argv[2]), standins.env())
assert not outcome.findings, outcome.findings
"""


def test_the_bytes_are_the_same_in_another_folder_time_zone_locale_and_hash_seed(
    product: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "a longer name" / "deep" / "there"
    shutil.copytree(product.parent, elsewhere)
    worlds = [
        (product, {"TZ": "UTC", "LC_ALL": "C", "PYTHONHASHSEED": "0"}, tmp_path),
        (
            elsewhere / "customer-360",
            {"TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4711"},
            elsewhere,
        ),
    ]
    written = []
    for folder, variables, cwd in worlds:
        command = [sys.executable, "-c", COMPILE, str(Path(__file__).parent), os.path.relpath(folder, cwd)]
        subprocess.run(command, check=True, cwd=cwd, env={**os.environ, **variables})
        written.append((folder / FILE).read_bytes())
    assert written[0] == written[1]
    assert str(tmp_path).encode() not in written[0]


def test_the_bytes_are_the_same_on_every_python(product: Path) -> None:
    """CI runs this on each version that floe supports. `FLOE_UPDATE=1` writes the file anew."""
    golden = Path(__file__).parent / "golden" / FILE.name
    compiled(product)
    made = (product / FILE).read_bytes()
    if os.environ.get("FLOE_UPDATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(made)
    assert made == golden.read_bytes()


@pytest.mark.parametrize("name", [*FILES, "customer-360/models/new.yml", "customer-360/package-lock.yml"])
def test_any_change_of_the_source_makes_artifacts_stale(product: Path, name: str) -> None:
    artifacts = compiled(product)
    assert changed_since(artifacts, product) == ""
    path = product.parent / name
    path.write_text(path.read_text() + "# more\n" if path.exists() else "x: 1\n")
    assert is_stale(artifacts, product)
    with pytest.raises(FloeError, match=r"FLOE-E904 .* since the artifacts were compiled"):
        refuse_changed(artifacts, product, product / FILE)
    (product.parent / name).unlink()
    assert is_stale(artifacts, product) is (name in FILES)


def test_compiling_again_and_moving_do_not_make_artifacts_stale(product: Path, tmp_path: Path) -> None:
    artifacts = compiled(product)
    assert compiled(product) == artifacts
    product.parent.rename(tmp_path / "moved")
    assert not is_stale(artifacts, tmp_path / "moved" / "customer-360")
    refuse_changed(artifacts, tmp_path / "moved" / "customer-360", product / FILE)
