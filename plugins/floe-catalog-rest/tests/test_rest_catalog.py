"""The catalog `rest` on a real server: opened, authenticated, and given up on when it does not answer."""

from __future__ import annotations

import base64
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

from floe_catalog_rest import RestCatalogPlugin
from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError, Place
from floe_core.identity import Retry
from floe_core.plugins import load_plugin
from floe_testing.services.proxy import Fault, Proxy, every, nth, refused_address, writes

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))
SECRET = "s3cr3t-and-long"  # noqa: S105 - nobody's
CREDENTIALS: list[dict[str, Any]] = [
    {"auth": {"type": "basic", "username": "floe", "password": SECRET}},
    {"auth": {"type": "bearer", "token": SECRET}},
    {"auth": {"type": "oauth2", "client_id": "floe", "client_secret": SECRET}},
    {"headers": {"Authorization": SECRET}},
]
BASIC = "Basic " + base64.b64encode(f"floe:{SECRET}".encode()).decode()


def plugin(uri: str, **config: Any) -> RestCatalogPlugin:
    """With the longest timeout: on a busy machine any answer may take a second."""
    return RestCatalogPlugin({"uri": uri, "timeout": "7s", **config}, Path("unused"))


def impatient(uri: str, **config: Any) -> RestCatalogPlugin:
    """For services that do not answer."""
    return plugin(uri, timeout="2s", **config)


def refusal(subject: RestCatalogPlugin) -> str:
    with pytest.raises(FloeError) as caught, subject.open() as catalog:
        catalog.list_namespaces()
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E807", 3)
    return finding.message


def test_the_manifest_finds_it_by_name() -> None:
    found = load_plugin("floe.catalogs", "rest", CatalogPlugin, Place("manifest.yaml"))  # type: ignore[type-abstract]  # an interface
    assert found is RestCatalogPlugin


def test_namespaces_have_levels_and_tables_live_in_the_deepest(server: str) -> None:
    with plugin(server).open() as catalog:
        catalog.create_namespace(("levels", "orders", "gold"))
        catalog.create_table(("levels", "orders", "gold", "gold_orders"), SCHEMA)
        assert catalog.list_tables(("levels", "orders", "gold")) == [("levels", "orders", "gold", "gold_orders")]
        assert catalog.list_namespaces(("levels", "orders")) == [("levels", "orders", "gold")]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "uri"),
        ({"uri": "catalog.acme.com"}, "an address is http"),
        ({"uri": "https://host:port"}, "an address is http"),
        ({"uri": f"https://user:{SECRET}@catalog.acme.com"}, "credentials belong under auth"),
        ({"uri": f"https://catalog.acme.com?token={SECRET}"}, "credentials belong under auth"),
        ({"uri": "http://c", "auth": {"type": "kerberos"}}, "'none', 'basic', 'bearer', 'oauth2'"),
        ({"uri": "http://c", "auth": {"type": "basic", "username": "u"}}, "auth.basic.password"),
        ({"uri": "http://c", "auth": {"type": "bearer", "token": "t", "user": "u"}}, "Extra inputs"),
        ({"uri": "http://c", "timeout": "1m"}, "less than or equal to 7 seconds"),
        ({"uri": "http://c", "timeout": "0s"}, "0s is not a duration"),
        ({"uri": "http://c", "url": "http://c"}, "Extra inputs"),
    ],
)
def test_settings_it_does_not_know_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as caught:
        RestCatalogPlugin(config, Path("unused"))
    assert all(SECRET not in error["msg"] for error in caught.value.errors())


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, None),
        (CREDENTIALS[0], BASIC),
        (CREDENTIALS[1], f"Bearer {SECRET}"),
        (CREDENTIALS[2], "Bearer client-credentials-token:sub=floe"),
    ],
    ids=["none", "basic", "bearer", "oauth2"],
)
def test_every_request_says_who_asks(proxy: Proxy, config: dict[str, Any], expected: str | None) -> None:
    with plugin(proxy.uri, **config, headers={"X-Team": "sales"}).open() as catalog:
        catalog.list_namespaces()
    asked = [request for request in proxy.requests if not request.path.endswith("/oauth/tokens")]
    assert [request.headers.get("Authorization") for request in asked] == [expected] * 2
    assert {request.headers["X-Team"] for request in asked} == {"sales"}


def test_a_netrc_does_not_speak_for_us(proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login other password other\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with plugin(proxy.uri).open() as catalog:
        catalog.list_namespaces()
    assert all("Authorization" not in request.headers for request in proxy.requests)


@pytest.mark.parametrize("config", CREDENTIALS, ids=["basic", "bearer", "oauth2", "header"])
def test_refused_credentials_are_an_error_that_does_not_show_them(proxy: Proxy, config: dict[str, Any]) -> None:
    proxy.apply(every(Fault.DENY))
    subject = plugin(proxy.uri, **config)
    message = refusal(subject)
    assert "Unauthorized" in message or "RESTError 401" in message
    assert SECRET not in message
    assert base64.b64encode(f"floe:{SECRET}".encode()).decode() not in message
    assert SECRET not in subject.describe() + repr(subject.config)


def test_nothing_there_is_an_error_in_the_words_of_the_system() -> None:
    with refused_address() as uri:
        assert refusal(plugin(uri)) == f"catalog floe ({uri}): no connection: Connection refused"


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.SWALLOW, "no answer within 2 s"),
        (Fault.HOLD, "no answer within 2 s"),
        (Fault.DRIP, "no answer within 2 s"),
        (Fault.CUT, "no connection: "),
        (Fault.FAIL, "InternalServerError: injected"),
        (Fault.BABBLE, "not an Iceberg REST catalog"),
    ],
)
@pytest.mark.parametrize("number", [1, 2], ids=["from the start", "later"])
def test_a_service_that_is_unwell_is_an_error(proxy: Proxy, fault: Fault, reason: str, number: int) -> None:
    proxy.apply(nth(number, fault))
    assert reason in refusal(impatient(proxy.uri))


def test_an_oauth_server_that_does_not_answer_is_given_up_too(proxy: Proxy) -> None:
    proxy.apply(every(Fault.SWALLOW))
    assert "no answer within 2 s" in refusal(impatient(proxy.uri, **CREDENTIALS[2]))
    assert [request.path for request in proxy.requests] == ["/v1/oauth/tokens"]


def test_after_two_unanswered_requests_no_third_is_made(proxy: Proxy) -> None:
    with impatient(proxy.uri).open() as catalog:
        proxy.apply(every(Fault.SWALLOW))
        for reason in ("no answer", "no answer", "given up"):
            with pytest.raises(OSError, match=reason):
                catalog.list_namespaces()
    assert len(proxy.requests) == 2


def test_an_answer_restores_patience(proxy: Proxy) -> None:
    with impatient(proxy.uri).open() as catalog:
        proxy.apply(writes(Fault.SWALLOW))
        for name in ("one", "two", "three"):
            with pytest.raises(OSError, match="no answer within 2 s"):
                catalog.create_namespace(name)
            assert (name,) not in catalog.list_namespaces()


def test_python_and_spark_are_sent_to_the_same_service_with_the_same_credentials() -> None:
    subject = plugin("https://c/iceberg/", warehouse="lake", headers={"X-Team": "sales"}, **CREDENTIALS[2])
    conf, properties = subject.spark_conf(), subject.client_properties()
    assert conf["spark.sql.catalog.floe"] == "org.apache.iceberg.spark.SparkCatalog"
    assert conf["spark.sql.catalog.floe.type"] == "rest"
    for key in ("uri", "warehouse", "header.X-Team", "credential", "oauth2-server-uri", "scope"):
        assert conf[f"spark.sql.catalog.floe.{key}"] == properties[key]
    assert properties["uri"] == "https://c/iceberg"
    assert properties["oauth2-server-uri"] == "https://c/iceberg/v1/oauth/tokens"


def test_spark_takes_a_user_and_a_password() -> None:
    conf = plugin("http://c", **CREDENTIALS[0]).catalog_conf()
    assert (conf["rest.auth.type"], conf["rest.auth.basic.password"]) == ("basic", SECRET)


def test_an_uncontended_claim_takes_three_requests(proxy: Proxy) -> None:
    """After step 2 has looked, in a domain that is there: the marker, the namespace, and reading it back."""
    subject = plugin(proxy.uri)
    subject.register_product_identity("counted.first", "github.com/acme/a", "a@acme.com")
    assert subject.validate_product_identity("counted.second", "github.com/acme/a").status == "available"
    proxy.reset()
    result = subject.register_product_identity("counted.second", "github.com/acme/a", "a@acme.com")
    assert result.status == "created"
    asked = [f"{request.method} {request.path}" for request in proxy.requests if "/config" not in request.path]
    assert len(asked) <= 3, asked


@pytest.mark.parametrize(
    ("fault", "most"),
    [(Fault.SWALLOW, 2), (Fault.CUT, 8), (Fault.FAIL, 8)],
)
def test_a_claim_on_a_service_that_became_unwell_is_given_up(proxy: Proxy, fault: Fault, most: int) -> None:
    """However often the registry tries and reads back: silence lasts two timeouts, not one for each request."""
    subject = impatient(proxy.uri)
    subject.retry = Retry(initial_backoff=timedelta(milliseconds=1))
    with pytest.raises(FloeError) as caught, subject.connect():
        claim_from_now_on(proxy, fault, subject)
    assert caught.value.findings[0].code == "FLOE-E807"
    assert 1 <= len(proxy.requests) <= most


def claim_from_now_on(proxy: Proxy, fault: Fault, subject: RestCatalogPlugin) -> None:
    proxy.apply(every(fault))
    subject.register_product_identity("unwell.product", "github.com/acme/a", "a@acme.com")
