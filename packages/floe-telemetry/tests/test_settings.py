"""Where telemetry goes, as the environment says it."""

from __future__ import annotations

import pytest

from floe_telemetry.settings import Backend, Collector, backend, collector, service

ALL = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, None),
        ({ALL: " "}, None),
        ({ALL: "http://c:4317"}, Collector("traces", "http://c:4317", "grpc", 2.0)),
        (
            {ALL: "http://c:4318/", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
            Collector("traces", "http://c:4318/v1/traces", "http/protobuf", 2.0),
        ),
        (
            {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://t/in",
                "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
            },
            Collector("traces", "http://t/in", "http/protobuf", 2.0),
        ),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://m"}, None),
        ({ALL: "http://c", "OTEL_TRACES_EXPORTER": "none"}, None),
        ({ALL: "http://c", "OTEL_SDK_DISABLED": "true"}, None),
        ({ALL: "http://c", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}, Collector("traces", "http://c", "grpc", None)),
    ],
)
def test_where_traces_go(environ: dict[str, str], expected: Collector | None) -> None:
    assert collector("traces", environ) == expected


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({}, "floe"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "team=a,service.name=nightly%20run"}, "nightly run"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.name=b", "OTEL_SERVICE_NAME": "acme"}, "acme"),
    ],
)
def test_the_name_of_the_service(environ: dict[str, str], name: str) -> None:
    assert service(environ) == name


def test_the_environment_names_the_lineage_backend_over_the_platform() -> None:
    assert backend({"OPENLINEAGE_URL": "http://a/"}, "http://b") == Backend("http://a/api/v1/lineage")
    assert backend({}, "http://b") == Backend("http://b/api/v1/lineage")
    assert backend({"OPENLINEAGE_URL": "http://a", "OPENLINEAGE_ENDPOINT": "/in"}) == Backend("http://a/in")
    assert backend({}) is None


@pytest.mark.parametrize(
    "url", ["marquez:5000", "ftp://a", "http://", "http://a:x", "http://[a", "http://a b", "http://\n"]
)
def test_an_address_that_is_none_is_said(url: str) -> None:
    assert Backend(url).problem == "OPENLINEAGE_URL is not of the form http://HOST or https://HOST"


def test_nothing_secret_is_shown() -> None:
    secret = Backend("https://ann:pass@lineage.acme.com/in?key=word", "token")
    assert secret.address == "https://lineage.acme.com/in"
    assert "token" not in repr(secret)
    assert Backend("http://a", "to\nken").problem == "OPENLINEAGE_API_KEY has characters that no header can hold"
