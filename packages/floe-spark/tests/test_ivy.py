"""The real Ivy fetches from where the company says: its mirror, through its proxy, trusting its own authority."""

from __future__ import annotations

import ipaddress
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from things import CONTENT, THING

from floe_core.findings import Finding, FloeError
from floe_spark.ivy import maven_mirror
from floe_spark.jars import ensure_jars

POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>thing</artifactId><version>1.0</version>
</project>
"""
FILES = {
    "/maven/org/example/thing/1.0/thing-1.0.pom": POM.encode(),
    "/maven/org/example/thing/1.0/thing-1.0.jar": CONTENT,
}
MIRROR = """\
<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors>
  <mirror><id>other</id><mirrorOf>snapshots</mirrorOf><url>http://127.0.0.1:1/wrong</url></mirror>
  <mirror><id>all</id><mirrorOf>{of}</mirrorOf><url>{url}</url></mirror>
</mirrors></settings>
"""


class Answers(BaseHTTPRequestHandler):
    """A Maven repository, and a proxy for one: the request then names the whole address."""

    def do_GET(self) -> None:
        content = FILES.get(self.path.removeprefix("http://repository.example"))
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")

    def do_HEAD(self) -> None:
        self.send_response(200 if self.path.removeprefix("http://repository.example") in FILES else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_certificates(clean_variables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not clean_variables.exists()
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)


def write_settings(home: Path, url: str, of: str = "*") -> None:
    (home / ".m2").mkdir(parents=True)
    (home / ".m2" / "settings.xml").write_text(MIRROR.format(url=url, of=of), encoding="utf-8")


def refusal() -> Finding:
    with pytest.raises(FloeError) as caught:
        ensure_jars([THING])
    [finding] = caught.value.findings
    return finding


def test_the_mirror_of_mavens_settings_is_asked(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    write_settings(tmp_path / "home", f"http://127.0.0.1:{server.server_port}/maven")
    [path] = ensure_jars([THING])
    assert path.read_bytes() == CONTENT


def test_an_ivysettings_file_beats_mavens_settings(
    server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(tmp_path / "home", "http://127.0.0.1:1/wrong")
    resolver = f'<ibiblio name="house" m2compatible="true" root="http://127.0.0.1:{server.server_port}/maven"/>'
    settings = f'<ivysettings><settings defaultResolver="house"/><resolvers>{resolver}</resolvers></ivysettings>'
    (tmp_path / "ivysettings.xml").write_text(settings, encoding="utf-8")
    monkeypatch.setenv("FLOE_IVY_SETTINGS", str(tmp_path / "ivysettings.xml"))
    [path] = ensure_jars([THING])
    assert path.read_bytes() == CONTENT


def test_the_proxy_of_the_variables_is_used(
    server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host does not exist; only the proxy knows it."""
    write_settings(tmp_path / "home", "http://repository.example/maven")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.server_port}")
    [path] = ensure_jars([THING])
    assert path.read_bytes() == CONTENT


def test_a_private_authority_is_trusted_when_ssl_cert_file_names_it(
    server: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    write_settings(tmp_path / "home", f"https://127.0.0.1:{server.server_port}/maven")
    untrusted = refusal()
    assert untrusted.code == "FLOE-E701"
    assert "SSLHandshakeException" in untrusted.message
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    [path] = ensure_jars([THING])
    assert path.read_bytes() == CONTENT


def write_certificate(folder: Path) -> Path:
    """A certificate for 127.0.0.1 that vouches for itself, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(address, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path = folder / "company.pem"
    path.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return path


def test_a_jar_that_the_repository_does_not_have_is_named(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    write_settings(tmp_path / "home", f"http://127.0.0.1:{server.server_port}/elsewhere")
    finding = refusal()
    assert (finding.code, finding.row.exit) == ("FLOE-E701", 3)
    assert "org.example#thing;1.0" in finding.message
    assert "not found" in finding.message


def test_a_mirror_that_does_not_answer_is_named(tmp_path: Path) -> None:
    write_settings(tmp_path / "home", "http://127.0.0.1:1/maven")
    finding = refusal()
    assert finding.code == "FLOE-E701"
    assert "http://127.0.0.1:1/maven/org/example/thing/1.0/thing-1.0.pom" in finding.message
    assert finding.fix.endswith("python -m floe_spark.fetch")


def test_settings_that_are_not_there_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOE_IVY_SETTINGS", f"{tmp_path}/gone.xml")
    finding = refusal()
    assert (finding.code, finding.message) == ("FLOE-E701", f"FLOE_IVY_SETTINGS: {tmp_path}/gone.xml is not a file")


@pytest.mark.parametrize(
    ("of", "asked"),
    [
        ("*", True),
        ("central", True),
        ("external:*", True),
        ("snapshots, central", True),
        ("*,!central", False),
        ("snapshots", False),
        ("", False),
    ],
)
def test_a_mirror_counts_when_it_stands_for_the_central_repository(tmp_path: Path, of: str, asked: bool) -> None:
    write_settings(tmp_path, "http://mirror.example/maven", of)
    assert maven_mirror(tmp_path / ".m2" / "settings.xml") == ("http://mirror.example/maven" if asked else "")


def test_a_mirror_may_name_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIRROR_HOST", "mirror.example")
    write_settings(tmp_path, "http://${env.MIRROR_HOST}/maven")
    assert maven_mirror(tmp_path / ".m2" / "settings.xml") == "http://mirror.example/maven"


def test_settings_of_maven_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "home" / ".m2").mkdir(parents=True)
    (tmp_path / "home" / ".m2" / "settings.xml").write_text("<settings>", encoding="utf-8")
    finding = refusal()
    assert finding.code == "FLOE-E701"
    assert finding.message.startswith(f"{tmp_path}/home/.m2/settings.xml cannot be read: no element found")
