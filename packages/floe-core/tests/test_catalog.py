"""The catalog in force: the one a tier names, made with its settings, or the embedded one."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from floe_core.catalog import CatalogPlugin, Jar, catalog_of, home_of
from floe_core.compile import compile_project
from floe_core.findings import FloeError

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme}
    scope: enterprise
    plugins:
      catalog:
        type: toy
        config:
          uri: toy://here
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: orders, version: "1.0"}
    platform: ../manifest.yaml
"""
PLUGIN = """
from pydantic import BaseModel
from floe_core.catalog import CatalogPlugin

class Config(BaseModel):
    uri: str
    token: str = ""

Identity = type("Identity", (), {method: None for method in CatalogPlugin.__abstractmethods__})

class Toy(Identity, CatalogPlugin):
    api_version = 1

    def __init__(self, config, home):
        self.config = Config.model_validate(config)
        self.home = home

    name = "toy"

    def client_properties(self):
        return {"uri": self.config.uri, "token": self.config.token}

    def spark_conf(self):
        return {}

    def describe(self):
        return self.config.uri
"""


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    for name, kind in (("toy", "Toy"), ("sql", "Toy")):
        info = site / f"floe_catalog_{name}_test-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: floe-catalog-{name}-test\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[floe.catalogs]\n{name} = toy_catalog:{kind}\n")
    (site / "toy_catalog.py").write_text(PLUGIN)
    monkeypatch.setattr(sys, "path", [str(site), *(path for path in sys.path if "site-packages" not in path)])
    monkeypatch.delitem(sys.modules, "toy_catalog", raising=False)
    folder = tmp_path / "platform" / "orders"
    folder.mkdir(parents=True)
    (folder.parent / "manifest.yaml").write_text(dedent(MANIFEST))
    (folder / "floe.yaml").write_text(dedent(PRODUCT))
    return folder


def opened(product: Path) -> CatalogPlugin:
    outcome = compile_project(product)
    assert outcome.chain
    assert outcome.merged
    return catalog_of(outcome.chain, outcome.merged)


def test_the_named_catalog_is_made_with_its_settings(product: Path) -> None:
    assert opened(product).client_properties() == {"uri": "toy://here", "token": ""}


def test_secrets_are_looked_up_for_the_plugin(product: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_TOKEN", "t0k3n")
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text() + "      token: {env: TOY_TOKEN}\n")
    assert opened(product).client_properties() == {"uri": "toy://here", "token": "t0k3n"}


def test_wrong_settings_are_named_with_their_line(product: Path) -> None:
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text().replace("uri: toy://here", "uri: [toy]"))
    with pytest.raises(FloeError) as caught:
        opened(product)
    [finding] = caught.value.findings
    assert (finding.code, finding.line, finding.column) == ("FLOE-E806", 9, 7)
    assert finding.path == str(manifest)
    assert finding.message == "catalog toy: uri: Input should be a valid string"


def test_missing_settings_are_named_at_the_plugin(product: Path) -> None:
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text().partition("    config:")[0])
    with pytest.raises(FloeError) as caught:
        opened(product)
    [finding] = caught.value.findings
    assert (finding.code, finding.line) == ("FLOE-E806", 6)
    assert finding.message == "catalog toy: uri: Field required"


def test_without_a_name_it_is_the_embedded_one_beside_the_topmost_manifest(product: Path) -> None:
    manifest = product.parent / "manifest.yaml"
    manifest.write_text(manifest.read_text().partition("plugins:")[0])
    outcome = compile_project(product)
    assert outcome.chain
    assert outcome.merged
    assert home_of(outcome.chain) == product.parent / ".floe"
    with pytest.raises(FloeError, match="catalog sql: uri: Field required"):
        catalog_of(outcome.chain, outcome.merged)


def test_in_simple_mode_it_lives_beside_the_product(product: Path) -> None:
    floe_yaml = product / "floe.yaml"
    floe_yaml.write_text(floe_yaml.read_text().partition("platform:")[0])
    outcome = compile_project(product)
    assert outcome.chain
    assert home_of(outcome.chain) == product / ".floe"


def test_a_jar_is_named_by_its_coordinates() -> None:
    jar = Jar("org.xerial:sqlite-jdbc:3.54.1.0", sha256="f8", size=1)
    assert (jar.group, jar.file_name) == ("org.xerial", "sqlite-jdbc-3.54.1.0.jar")
