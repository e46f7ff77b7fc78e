"""Proxies and certificates of this machine, as Java's properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from floe_core.findings import FloeError
from floe_spark.network import proxy_options, trust_options

pytestmark = pytest.mark.usefixtures("clean_variables")
DIRECT = "localhost|127.*|[::1]"


@pytest.fixture(autouse=True)
def no_exceptions(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "options"),
    [
        ({}, []),
        ({"no_proxy": "corp.example"}, []),
        (
            {"https_proxy": "http://proxy.example:3128"},
            ["-Dhttps.proxyHost=proxy.example", "-Dhttps.proxyPort=3128", f"-Dhttp.nonProxyHosts={DIRECT}"],
        ),
        (
            {"HTTP_PROXY": "proxy.example:8080", "NO_PROXY": ".corp.example, git.example,localhost"},
            [
                "-Dhttp.proxyHost=proxy.example",
                "-Dhttp.proxyPort=8080",
                f"-Dhttp.nonProxyHosts={DIRECT}|corp.example|*.corp.example|git.example|*.git.example|*.localhost",
            ],
        ),
        (
            {"https_proxy": "http://me:p%40ss@proxy.example", "no_proxy": "*"},
            [
                "-Dhttps.proxyHost=proxy.example",
                "-Dhttps.proxyPort=80",
                "-Dhttps.proxyUser=me",
                "-Dhttps.proxyPassword=p@ss",
                "-Djdk.http.auth.tunneling.disabledSchemes=",
                f"-Dhttp.nonProxyHosts={DIRECT}|*",
            ],
        ),
    ],
)
def test_proxies(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], options: list[str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert proxy_options() == options


def test_a_proxy_without_a_host_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://")
    with pytest.raises(FloeError, match=r"FLOE-E701 .*https_proxy does not name a host"):
        proxy_options()


def test_without_ssl_cert_file_java_trusts_what_it_always_trusts() -> None:
    assert trust_options() == []


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), ("-----BEGIN", "holds no certificate")])
def test_certificates_that_are_not_there_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None, said: str
) -> None:
    bundle = tmp_path / "bundle.pem"
    if content:
        bundle.write_text(content, encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(bundle))
    with pytest.raises(FloeError, match=f"FLOE-E701 .*SSL_CERT_FILE: {bundle}.*{said}"):
        trust_options()
