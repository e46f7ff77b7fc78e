"""What the environment says: where traces, metrics and lineage go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

Environ = Mapping[str, str]

GRPC = "grpc"
HTTP = "http/protobuf"
ENDPOINT = "api/v1/lineage"


@dataclass(frozen=True, slots=True)
class Collector:
    """Where one signal goes over OTLP. Headers, certificates and compression are left to the SDK."""

    signal: str
    endpoint: str
    protocol: str
    timeout: float | None  # None: the environment has one, and the SDK reads it


@dataclass(frozen=True, slots=True)
class Backend:
    """Where lineage goes. Nothing that is secret is ever shown."""

    url: str
    key: str = field(default="", repr=False)

    @property
    def address(self) -> str:
        """The URL without credentials and query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    @property
    def problem(self) -> str:
        """Why nothing can be sent there, whatever the network does."""
        try:
            parts = urlsplit(self.url)
            fine = parts.scheme in ("http", "https") and bool((parts.hostname or "").encode("idna"))
            fine = fine and (parts.port is None or parts.port > 0)
        except ValueError:
            fine = False
        if not fine or not self.url.isprintable() or " " in self.url:
            return "OPENLINEAGE_URL is not of the form http://HOST or https://HOST"
        if not self.key.isascii() or not self.key.isprintable():
            return "OPENLINEAGE_API_KEY has characters that no header can hold"
        return ""


TIMEOUT = 2.0


def collector(signal: str, environ: Environ) -> Collector | None:
    """Where `traces` or `metrics` go; None when nothing says so."""
    upper = signal.upper()
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    if environ.get(f"OTEL_{upper}_EXPORTER", "").lower() == "none":
        return None
    own, common = (
        environ.get(f"OTEL_EXPORTER_OTLP_{part}", "").strip() for part in (f"{upper}_ENDPOINT", "ENDPOINT")
    )
    if not (own or common):
        return None
    said = environ.get(f"OTEL_EXPORTER_OTLP_{upper}_PROTOCOL") or environ.get("OTEL_EXPORTER_OTLP_PROTOCOL") or GRPC
    protocol = said.strip().lower()
    endpoint = own or (f"{common.rstrip('/')}/v1/{signal}" if protocol != GRPC else common)
    timed = any(environ.get(f"OTEL_EXPORTER_OTLP_{part}") for part in (f"{upper}_TIMEOUT", "TIMEOUT"))
    return Collector(signal, endpoint, protocol, None if timed else TIMEOUT)


def service(environ: Environ) -> str:
    """The service's name: OTEL_SERVICE_NAME, else that of OTEL_RESOURCE_ATTRIBUTES, else floe."""
    pairs = (pair.partition("=") for pair in environ.get("OTEL_RESOURCE_ATTRIBUTES", "").split(","))
    said = {name.strip(): unquote(value.strip()) for name, _, value in pairs}
    return environ.get("OTEL_SERVICE_NAME") or said.get("service.name") or "floe"


def backend(environ: Environ, platform: str = "") -> Backend | None:
    """Where lineage goes: OPENLINEAGE_URL, else what the platform names; None when neither says."""
    url = environ.get("OPENLINEAGE_URL", "").strip() or platform
    if not url or environ.get("OPENLINEAGE_DISABLED", "").lower() == "true":
        return None
    endpoint = environ.get("OPENLINEAGE_ENDPOINT", "").strip() or ENDPOINT
    return Backend(f"{url.rstrip('/')}/{endpoint.lstrip('/')}", environ.get("OPENLINEAGE_API_KEY", "").strip())
