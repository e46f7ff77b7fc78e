"""A proxy in front of an HTTP service that loses, delays and refuses on demand, and counts what passes."""

from __future__ import annotations

import http.client
import json
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}
READS = ("GET", "HEAD")


class Fault(Enum):
    """What happens to one request."""

    LOSE = "the service handles it; the answer is lost and the connection is cut"
    HOLD = "the service handles it; the answer comes when the proxy is released"
    SWALLOW = "the service never sees it; no answer comes until the proxy is released"
    CUT = "the service never sees it; the connection is cut"
    FAIL = "the service never sees it; the answer is 500"
    FAIL_AFTER = "the service handles it; the answer is 500 all the same"
    DENY = "the service never sees it; the answer is 401, and repeats the credentials"
    MISSING = "the service never sees it; the answer is 404, as from one that has no such request"
    DRIP = "the service handles it; the answer comes byte by byte, until the proxy is released"
    BABBLE = "the service never sees it; the answer is a page for people"


@dataclass(frozen=True, slots=True)
class Request:
    """A request that reached the proxy."""

    number: int  # from 1
    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def writes(self) -> bool:
        return self.method not in READS


Rule = Callable[[Request], Fault | None]


def every(fault: Fault | None) -> Rule:
    return lambda _: fault


NOTHING = every(None)


def writes(fault: Fault) -> Rule:
    """For every request that changes something."""
    return lambda request: fault if request.writes else None


def nth(number: int, fault: Fault) -> Rule:
    return lambda request: fault if request.number == number else None


def nth_write(number: int, fault: Fault) -> Rule:
    """For one of the requests that change something, counted from 1."""
    seen = iter(range(1, 1_000_000))
    return lambda request: fault if request.writes and next(seen) == number else None


@dataclass
class Proxy:
    """The proxy as a test sees it: set `rule`, read `requests`, `release` what is held."""

    uri: str = ""
    rule: Rule = NOTHING
    requests: list[Request] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    def apply(self, rule: Rule) -> None:
        """From here on this rule holds, and counting starts again."""
        with self.arrived:
            self.rule, self.requests = rule, []

    def reset(self) -> None:
        self.apply(NOTHING)

    def release(self) -> None:
        self.released.set()

    def wait_for(self, number: int, timeout: float = 30.0) -> bool:
        """Until that many requests arrived."""
        with self.arrived:
            return self.arrived.wait_for(lambda: len(self.requests) >= number, timeout)

    def admit(self, method: str, path: str, headers: Mapping[str, str]) -> Fault | None:
        with self.arrived:
            request = Request(len(self.requests) + 1, method, path, headers)
            self.requests.append(request)
            fault = self.rule(request)
            self.arrived.notify_all()
        return fault


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, proxy: Proxy, upstream: tuple[str, int]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.proxy, self.upstream = proxy, upstream

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed in the middle of a request is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        proxy = self.server.proxy
        fault = proxy.admit(self.command, self.path, dict(self.headers.items()))
        match fault:
            case Fault.CUT:
                return self._cut()
            case Fault.FAIL:
                return self._refuse(500, "injected")
            case Fault.MISSING:
                return self._refuse(404, "injected")
            case Fault.DENY:
                return self._refuse(401, f"unknown: {self.headers.get('Authorization')}")
            case Fault.BABBLE:
                return self._answer(200, {"Content-Type": "text/html"}, b"<html>please sign in</html>")
            case Fault.SWALLOW:
                proxy.released.wait()
                return self._cut()
        status, headers, content = self._forward(body)
        match fault:
            case Fault.LOSE:
                return self._cut()
            case Fault.FAIL_AFTER:
                return self._refuse(500, "injected")
            case Fault.DRIP:
                return self._drip()
            case Fault.HOLD:
                proxy.released.wait()
        return self._answer(status, headers, content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _pass

    def _forward(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        upstream = http.client.HTTPConnection(*self.server.upstream)
        try:
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            upstream.request(self.command, self.path, body or None, headers)
            response = upstream.getresponse()
            kept = {name: value for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP}
            return response.status, kept, response.read()
        finally:
            upstream.close()

    def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, status: int, message: str) -> None:
        error = {"message": message, "type": HTTPStatus(status).phrase.replace(" ", ""), "code": status}
        self._answer(status, {"Content-Type": "application/json"}, json.dumps({"error": error}).encode())

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        while not self.server.proxy.released.wait(0.05):
            self.wfile.write(b" ")
        self._cut()

    def _cut(self) -> None:
        """A reset, so that the client learns at once that nothing more comes."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: `requests` is the log."""


@contextmanager
def fault_proxy(uri: str) -> Iterator[Proxy]:
    """A proxy in front of `uri`, on 127.0.0.1; everything that is held is let go at the end."""
    parts = urlsplit(uri)
    if parts.scheme != "http" or not parts.hostname:
        raise ValueError(f"{uri} is not http://…: what is encrypted cannot be looked into")
    proxy = Proxy()
    with _Server(proxy, (parts.hostname, parts.port or 80)) as server:
        proxy.uri = f"http://127.0.0.1:{server.server_address[1]}{parts.path}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.release()
            server.shutdown()
            thread.join()


@contextmanager
def refused_address() -> Iterator[str]:
    """An address where nothing listens, and nothing will: it is bound, not listening."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"
