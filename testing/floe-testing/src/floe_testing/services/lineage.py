"""A lineage backend for tests: a process that keeps every event that it is sent, in a file."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from floe_testing.services.process import running

FORBIDDEN = "forbidden"  # an event whose job is called so is answered with 422


@dataclass(frozen=True, slots=True)
class LineageBackend:
    """Where it listens, and what it was sent."""

    uri: str
    file: Path

    def requests(self) -> list[dict[str, Any]]:
        """Path, authorization and event of every request that was answered, oldest first."""
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]

    def events(self) -> list[dict[str, Any]]:
        return [request["event"] for request in self.requests()]


@contextmanager
def lineage_backend(folder: Path) -> Iterator[LineageBackend]:
    """A backend that takes every event; what it took is on disk before it answers."""
    file = folder / "lineage.jsonl"
    file.touch()
    command = [sys.executable, "-m", "floe_testing.services.lineage", str(file)]
    with running(command, folder / "lineage.log") as uri:
        yield LineageBackend(uri, file)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    file: Path
    guard = threading.Lock()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        event = json.loads(body)
        kept = {"path": self.path, "authorization": self.headers.get("Authorization"), "event": event}
        with self.guard, self.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(kept) + "\n")
        self.send_response(422 if event["job"]["name"] == FORBIDDEN else 201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the file is the log."""


def main() -> None:
    _Handler.file = Path(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
