"""What a compile asks of a catalog, counted on the wire."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from floe_cli.main import run
from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.proxy import Proxy, fault_proxy

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {{name: acme, version: "1.0"}}
    scope: enterprise
    identity: {{enforcement: register}}
    plugins:
      catalog: {{type: rest, config: {{uri: '{uri}', timeout: 7s}}}}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {{name: {name}, version: "1.0.0", owner: a@acme.com, domain: sales, repository: github.com/acme/mono}}
    platform: ../manifest.yaml
"""
Compile = Callable[..., list[str]]


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    with required(), iceberg_rest(tmp_path / "server") as uri, fault_proxy(uri) as running:
        yield running


@pytest.fixture
def compile_it(tmp_path: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Compile:
    """Compiles a product of a monorepo; gives the requests, without the client's own /config."""
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    mono = tmp_path / "mono"
    mono.mkdir()
    (mono / "manifest.yaml").write_text(dedent(MANIFEST).format(uri=proxy.uri))
    git(mono, "init", "-q")
    git(mono, "remote", "add", "origin", "git@github.com:acme/mono.git")

    def call(name: str, *options: str) -> list[str]:
        folder = mono / name
        folder.mkdir(exist_ok=True)
        (folder / "floe.yaml").write_text(dedent(PRODUCT).format(name=name))
        git(mono, "add", ".")
        git(mono, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty")
        proxy.reset()
        assert run(["compile", str(folder), *options]) == 0
        return [f"{item.method} {item.path}" for item in proxy.requests if "/config" not in item.path]

    return call


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True)


@pytest.mark.service
def test_a_new_product_of_a_known_domain_costs_three_requests_beyond_looking(compile_it: Compile) -> None:
    """The marker, the namespace, and reading it back; what step 2 has seen is not asked again."""
    compile_it("first")
    looked = compile_it("second", "--check")
    asked = compile_it("second")
    assert asked[: len(looked)] == looked
    assert len(asked) - len(looked) <= 3, asked
    again = compile_it("second")
    assert [line for line in again if line.startswith("POST")] == []  # a losing create leaves files behind
