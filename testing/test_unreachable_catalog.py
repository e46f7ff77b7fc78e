"""A catalog that is down, silent or slow: exit 3, soon, whatever was asked of it."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from textwrap import dedent
from time import monotonic

import pytest

from floe_catalog_sql import SqlCatalogPlugin
from floe_cli.main import run
from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.proxy import Request, fault_proxy

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    identity: {enforcement: register}
    data_contracts: {enforcement: block}
    plugins:
      catalog: CATALOG
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {name: crm, version: "1.0.0", owner: a@acme.com, domain: sales, repository: github.com/acme/crm}
    platform: manifest.yaml
    output_ports:
      - {name: customers, schema: [{name: id, type: string}]}
"""
CATALOGS = {
    "rest": "{type: rest, config: {uri: 'http://127.0.0.1:PORT'}}",
    "postgres": "{type: sql, config: {uri: 'postgresql://floe@127.0.0.1:PORT/floe', warehouse: data}}",
}
COMMANDS = (
    "compile --check",
    "product register",
    "compile",
    "product list",
    "product list --as-registry",
    "product show sales.crm",
    "product history sales.crm",
    "product verify sales.crm",
    "product verify --repair",
    "product transfer sales.crm --to github.com/acme/x --owner x@acme.com",
    "product retire sales.crm --admin --reason over",
    "product init-registry",
    "contract list",
    "contract history",
    "contract show catalog:customers:1.0.0",
    "contract diff --against registered",
)
MOST = 15.0  # seconds


@contextmanager
def refusing() -> Iterator[int]:
    """Nothing listens there, and nothing will."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@contextmanager
def answering(answer: Callable[[socket.socket, threading.Event], None]) -> Iterator[int]:
    """Every connection is taken, and then…"""
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    def handle(connection: socket.socket) -> None:
        with connection:
            answer(connection, over)

    with socket.create_server(("127.0.0.1", 0), backlog=100) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        over.set()
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()


def say_nothing(connection: socket.socket, over: threading.Event) -> None:
    del connection
    over.wait()


def drip(connection: socket.socket, over: threading.Event) -> None:
    """One byte after the other, for ever: each of them comes in time."""
    rest = iter(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b" " * 10_000)
    try:
        while not over.wait(0.05):
            connection.sendall(bytes([next(rest)]))
    except OSError:
        return


@contextmanager
def dropping() -> Iterator[int]:
    """A black hole: whoever tries to connect hears nothing at all, because the queue of connections is full."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listening, ExitStack() as waiting:
        for _ in range(3):
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        yield listening.getsockname()[1]


ILLS: dict[str, Callable[[], object]] = {
    "down": refusing,
    "black hole": dropping,
    "silent": lambda: answering(say_nothing),
    "slow": lambda: answering(drip),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.com")
    monkeypatch.setenv("GITHUB_REPOSITORY", "acme/crm")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "floe.yaml").write_text(dedent(PRODUCT))
    return tmp_path


QUICK = [(command, kind, "down") for command in COMMANDS for kind in CATALOGS]
LONG = [
    (command, kind, ill)
    for command in COMMANDS[:2]
    for kind in CATALOGS
    for ill in ("black hole", "silent", "slow")
]


@pytest.mark.parametrize(("command", "kind", "ill"), [*QUICK, *LONG])
def test_it_is_given_up_soon(
    folder: Path, capsys: pytest.CaptureFixture[str], command: str, kind: str, ill: str
) -> None:
    with ILLS[ill]() as port:  # type: ignore[attr-defined]  # a context manager
        text = dedent(MANIFEST).replace("CATALOG", CATALOGS[kind]).replace("PORT", str(port))
        (folder / "manifest.yaml").write_text(text)
        started = monotonic()
        code = run([*command.split(), *([] if "show catalog" in command else ["--format", "json"])])
        took = monotonic() - started
    printed = capsys.readouterr().out
    assert code == 3, printed
    assert took < MOST, f"{took:.1f} s"
    if "show catalog" in command:
        assert "FLOE-E807" in printed
    else:
        report = json.loads(printed)
        assert {item["code"] for item in report["errors"]} == {"FLOE-E807"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with required(), iceberg_rest(tmp_path_factory.mktemp("server")) as uri:
        yield uri


@pytest.mark.service
@pytest.mark.parametrize("command", ["compile --check", "compile", "product register"])
def test_one_that_answers_late_every_time_is_given_up_too(
    folder: Path, server: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Every answer comes within the timeout of a request, and all of them together would take far too long."""
    for line in ("init -q", "remote add origin git@github.com:acme/crm.git", "add floe.yaml", "commit -qm x"):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *line.split()], check=True)
    over = threading.Event()

    def late(request: Request) -> None:
        del request
        over.wait(2.8)

    with fault_proxy(server) as proxy:
        proxy.apply(late)
        address = CATALOGS["rest"].replace("http://127.0.0.1:PORT", proxy.uri)
        (folder / "manifest.yaml").write_text(dedent(MANIFEST).replace("CATALOG", address))
        started = monotonic()
        code = run([*command.split(), "--format", "json"])
        took = monotonic() - started
        over.set()
    printed = capsys.readouterr().out
    assert code == 3, printed
    assert took < MOST, f"{took:.1f} s"
    [error] = json.loads(printed)["errors"]
    assert (error["code"], "given up" in error["message"]) == ("FLOE-E807", True)


def test_its_last_answer_is_enough_where_identity_only_warns(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Down after it has been seen: versions are judged by what it said then."""
    database = folder / ".floe" / "catalog.db"

    def compiled(level: str) -> tuple[int, set[str]]:
        text = dedent(MANIFEST).replace("CATALOG", "{type: sql}").replace("register", level)
        (folder / "manifest.yaml").write_text(text)
        code = run(["compile", "--check", "--format", "json"])
        report = json.loads(capsys.readouterr().out)
        return code, {item["code"] for item in (*report["findings"], *report["errors"])}

    database.parent.mkdir()
    SqlCatalogPlugin({}, folder / ".floe").init_registry()
    assert compiled("warn")[0] == 0
    database.write_bytes(b"this is no database")
    code, codes = compiled("warn")
    assert (code, codes & {"FLOE-E540", "FLOE-E600", "FLOE-E807"}) == (0, {"FLOE-E540", "FLOE-E600"})
    code, codes = compiled("register")
    assert (code, codes & {"FLOE-E540", "FLOE-E600", "FLOE-E807"}) == (3, {"FLOE-E807"})
