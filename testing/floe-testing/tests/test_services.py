"""Services for tests start, answer and end; the proxy does exactly what it is told."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Semaphore, Thread
from urllib.error import HTTPError, URLError

import pytest

from floe_core.catalog import Jar
from floe_testing.services import ServiceError, ServiceUnavailable, required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.java import java_command, read_jars
from floe_testing.services.postgres import find_programs
from floe_testing.services.process import running
from floe_testing.services.proxy import Fault, Proxy, every, fault_proxy, nth, nth_write, refused_address, writes

HANDS_OVER = """\
import sys
from pathlib import Path
from floe_testing.services.process import running
with running([sys.executable, "-c", sys.argv[1]], Path(sys.argv[2])) as ready:
    print(ready, flush=True)
    sys.stdin.read()
"""
MIRROR = """\
<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers><ibiblio name="mirror" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""
POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.acme</groupId><artifactId>lib</artifactId><version>1.0</version>
</project>
"""
TELLS_ITS_ID = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"


class Counter(BaseHTTPRequestHandler):
    """Answers with how many requests it has handled."""

    handled = 0
    seen = Semaphore(0)

    def do_GET(self) -> None:
        type(self).handled += 1
        self.seen.release()
        content = str(self.handled).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    Counter.handled, Counter.seen = 0, Semaphore(0)
    with HTTPServer(("127.0.0.1", 0), Counter) as upstream:
        Thread(target=upstream.serve_forever, daemon=True).start()
        with fault_proxy(f"http://127.0.0.1:{upstream.server_address[1]}/base") as front:
            yield front
        upstream.shutdown()


def get(proxy: Proxy, data: bytes | None = None, timeout: float = 30) -> str:
    with urllib.request.urlopen(f"{proxy.uri}/x", data, timeout) as answer:  # noqa: S310 - our own address
        text: str = answer.read().decode()
        return text


def test_without_a_rule_everything_passes(proxy: Proxy) -> None:
    assert [get(proxy), get(proxy)] == ["1", "2"]
    assert [(request.number, request.method, request.path) for request in proxy.requests] == [
        (1, "GET", "/base/x"),
        (2, "GET", "/base/x"),
    ]


@pytest.mark.parametrize(
    ("fault", "handled"),
    [(Fault.LOSE, 1), (Fault.FAIL_AFTER, 1), (Fault.CUT, 0), (Fault.FAIL, 0), (Fault.MISSING, 0), (Fault.DENY, 0)],
)
def test_a_fault_comes_before_or_after_the_service(proxy: Proxy, fault: Fault, handled: int) -> None:
    proxy.apply(nth(1, fault))
    with pytest.raises((URLError, OSError)) as caught:
        get(proxy)
    if isinstance(caught.value, HTTPError):
        assert caught.value.code == {Fault.DENY: 401, Fault.MISSING: 404}.get(fault, 500)
        caught.value.close()
    assert Counter.handled == handled
    assert get(proxy) == str(handled + 1)


@pytest.mark.parametrize(("fault", "handled"), [(Fault.HOLD, 1), (Fault.SWALLOW, 0), (Fault.DRIP, 1)])
def test_an_answer_that_does_not_come(proxy: Proxy, fault: Fault, handled: int) -> None:
    proxy.apply(every(fault))
    with pytest.raises(TimeoutError):
        get(proxy, timeout=0.2) if fault is not Fault.DRIP else get_slowly(proxy)
    assert proxy.wait_for(1)
    assert all(Counter.seen.acquire(timeout=30) for _ in range(handled))
    assert Counter.handled == handled


def get_slowly(proxy: Proxy) -> None:
    """A client that gives every byte its own patience never ends: three bytes are enough to see that."""
    with urllib.request.urlopen(f"{proxy.uri}/x", timeout=30) as answer:  # noqa: S310 - our own address
        assert answer.read(3) == b"   "
    raise TimeoutError


def test_rules_tell_reads_from_writes(proxy: Proxy) -> None:
    proxy.apply(writes(Fault.FAIL))
    assert get(proxy) == "1"
    with pytest.raises(HTTPError, match="500") as caught:
        get(proxy, b"data")
    caught.value.close()
    proxy.apply(nth_write(2, Fault.FAIL))
    assert [get(proxy, b"data"), get(proxy)] == ["2", "3"]
    with pytest.raises(HTTPError, match="500") as caught:
        get(proxy, b"data")
    caught.value.close()


def test_what_is_encrypted_cannot_be_proxied() -> None:
    with pytest.raises(ValueError, match="cannot be looked into"), fault_proxy("https://catalog.acme.com"):
        pass


def test_nobody_answers_at_a_refused_address() -> None:
    with refused_address() as uri, pytest.raises(URLError, match="refused"):
        urllib.request.urlopen(uri, timeout=5)  # noqa: S310 - our own address


def test_a_service_ends_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", HANDS_OVER, TELLS_ITS_ID, str(tmp_path / "log")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout
    service = Path(f"/proc/{int(parent.stdout.readline())}")
    assert service.exists()
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    while service.exists() and "Z (zombie)" not in (service / "status").read_text():
        pass  # it ends, or this test does not


STARTS_POSTGRES = """\
import sys
from floe_testing.services.postgres import postgres
with postgres() as server:
    print(server.port, flush=True)
    sys.stdin.read()
"""


def test_postgresql_ends_when_the_whole_group_is_ended() -> None:
    """As Ctrl-C and `timeout` do."""
    with required():
        find_programs()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # for what nobody can tidy up
        Path(folder).chmod(0o755)  # root's server runs as somebody else
        parent = subprocess.Popen(
            [sys.executable, "-c", STARTS_POSTGRES],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "TMPDIR": folder},
        )
        assert parent.stdout
        port = int(parent.stdout.readline())
        os.killpg(parent.pid, signal.SIGTERM)
        parent.communicate()
        while is_listening(port):
            pass  # it ends, or this test does not


def is_listening(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def test_a_service_that_ends_too_early_says_why(tmp_path: Path) -> None:
    failing = [sys.executable, "-c", "import sys; sys.exit('no room left')"]
    with pytest.raises(ServiceError, match="no room left"), running(failing, tmp_path / "log"):
        pass


def test_a_missing_service_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="no Java"), required():
        raise ServiceUnavailable("no Java")
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="no Java"), required():
        raise ServiceUnavailable("no Java")


def test_jars_are_read_with_their_classifiers() -> None:
    [plain, classified] = read_jars("aa  org.acme:lib:1.0\nbb  org.acme:lib:1.0:tests\n")
    assert (plain.sha256, plain.file_name) == ("aa", "lib-1.0.jar")
    assert (classified.group, classified.file_name) == ("org.acme", "lib-1.0-tests.jar")


def test_a_jar_with_another_content_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path))
    delivered = tmp_path / "mirror" / "org" / "acme" / "lib" / "1.0" / "lib-1.0"
    delivered.parent.mkdir(parents=True)
    delivered.with_name("lib-1.0.jar").write_bytes(b"something else")
    delivered.with_name("lib-1.0.pom").write_text(POM)
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(MIRROR.format(root=(tmp_path / "mirror").as_uri()))
    monkeypatch.setenv("FLOE_IVY_SETTINGS", str(settings))
    source = tmp_path / "Main.java"
    source.write_text("class Main {}")
    with pytest.raises(ServiceUnavailable, match="its sha256 is"):
        java_command(source, [Jar("org.acme:lib:1.0", "00" * 32)], [])


def test_the_rest_catalog_listens_on_loopback_only(tmp_path: Path) -> None:
    with required(), iceberg_rest(tmp_path) as uri:
        assert uri.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{uri}/v1/config", timeout=30) as answer:  # noqa: S310 - our own address
            assert b'"endpoints"' in answer.read()
        port = int(uri.rpartition(":")[2])
        addresses = {line.split()[1] for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]}
        addresses |= {line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}
        bound = {address.rpartition(":")[0] for address in addresses if address.endswith(f":{port:04X}")}
        assert bound <= {"0100007F", "0000000000000000FFFF00000100007F"}
