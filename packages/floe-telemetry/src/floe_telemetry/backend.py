"""A lineage backend over HTTP: one connection, short timeouts, and nothing secret in what is said about it."""

from __future__ import annotations

import base64
import contextlib
import http.client
import socket
import ssl
import threading
import time
from enum import Enum
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from floe_telemetry.settings import Backend

CONNECT: Final = 2.0  # seconds
ANSWER: Final = 5.0
SMALL: Final = 64 * 1024  # bytes of an answer that are read, so that the connection can be used again
REJECTIONS: Final = (400, 409, 413, 415, 422)  # about the event, not about us


class Sent(Enum):
    """What became of an event."""

    DELIVERED = "the backend has it"
    REJECTED = "the backend will never take it"
    UNAVAILABLE = "the backend did not take it now"


class Connection:
    """Sends events one after the other; `abort` may be called by another thread."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.reason = ""  # why the last event was not delivered
        self._parts = urlsplit("" if backend.problem else backend.url)
        self._open: http.client.HTTPConnection | None = None
        self._aborted = threading.Event()

    def send(self, event: bytes) -> Sent:
        """Deliver one event; a connection that the backend closed meanwhile is opened once more."""
        if self.backend.problem:
            self.reason = self.backend.problem
            return Sent.UNAVAILABLE
        used = self._open is not None
        try:
            return self._send(event)
        except (OSError, http.client.HTTPException) as exc:
            self._drop()
            if used and not isinstance(exc, TimeoutError) and not self._aborted.is_set():
                return self.send(event)
            self.reason = f"{self.backend.address}: {_told(exc)}"
            return Sent.UNAVAILABLE

    def abort(self) -> None:
        """Let the thread that waits for an answer go on."""
        self._aborted.set()
        if (connection := self._open) and (sock := connection.sock):
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._drop()

    def _send(self, event: bytes) -> Sent:
        connection = self._open = self._open or self._connect()
        target = f"{self._parts.path}?{self._parts.query}" if self._parts.query else self._parts.path
        if self._proxy() and self._parts.scheme == "http":
            target = f"http://{_host(self._parts)}{target}"
        connection.request("POST", target, event, self._headers())
        response = connection.getresponse()
        self._finish(response)
        if 200 <= response.status < 300:
            if response.headers.get_content_type() != "text/html":  # no header at all is text/plain
                return Sent.DELIVERED
            self.reason = f"{self.backend.address}: a page for people answers, not a lineage backend"
            return Sent.UNAVAILABLE
        self.reason = f"{self.backend.address}: {response.status} {response.reason}"
        return Sent.REJECTED if response.status in REJECTIONS else Sent.UNAVAILABLE

    def _connect(self) -> http.client.HTTPConnection:
        encrypted, proxy = self._parts.scheme == "https", self._proxy()
        server = proxy or self._parts
        host, port = server.hostname or "", _port(server)
        if encrypted:
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                host, port, timeout=CONNECT, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(host, port, timeout=CONNECT)
        if encrypted and proxy:
            connection.set_tunnel(self._parts.hostname or "", _port(self._parts), _credentials("Proxy-", proxy))
        connection.connect()
        connection.sock.settimeout(ANSWER)
        return connection

    def _proxy(self) -> SplitResult | None:
        address = getproxies().get(self._parts.scheme)
        if not address or proxy_bypass(_host(self._parts)):
            return None
        return urlsplit(address if "//" in address else f"//{address}")

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "floe", **_credentials("", self._parts)}
        if self.backend.key:
            headers["Authorization"] = f"Bearer {self.backend.key}"
        if (proxy := self._proxy()) and self._parts.scheme == "http":
            headers |= _credentials("Proxy-", proxy)
        return headers

    def _finish(self, response: http.client.HTTPResponse) -> None:
        """Read what is left of a short answer; from one that is long or slow nothing more is wanted."""
        ends = time.monotonic() + ANSWER
        with contextlib.suppress(OSError, http.client.HTTPException):
            left = SMALL
            while left > 0 and time.monotonic() < ends and (piece := response.read1(left)):
                left -= len(piece)
        if not response.isclosed():
            self._drop()

    def _drop(self) -> None:
        if self._open:
            self._open.close()
            self._open = None


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _credentials(prefix: str, parts: SplitResult) -> dict[str, str]:
    if not parts.username:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return {f"{prefix}Authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _told(exc: Exception) -> str:
    if isinstance(exc, TimeoutError):
        return "no answer in time"
    return (exc.strerror if isinstance(exc, OSError) else "") or type(exc).__name__
