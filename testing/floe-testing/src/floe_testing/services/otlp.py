"""An OpenTelemetry collector for tests: a process that keeps every span and every metric that it is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floe_testing.services.process import running

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Collector:
    """Where it listens for each protocol, and what it was sent, as OTLP's JSON."""

    grpc: str
    http: str
    file: Path

    def requests(self) -> list[Json]:
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]

    def resources(self) -> list[Json]:
        """The attributes of every resource that sent something."""
        return [attributes(part["resource"]) for part in self._parts("resourceSpans", "resourceMetrics")]

    def spans(self) -> list[Json]:
        parts = self._parts("resourceSpans")
        return [span for part in parts for scope in part["scopeSpans"] for span in scope["spans"]]

    def metrics(self) -> list[Json]:
        parts = self._parts("resourceMetrics")
        return [metric for part in parts for scope in part["scopeMetrics"] for metric in scope["metrics"]]

    def _parts(self, *kinds: str) -> list[Json]:
        return [part for request in self.requests() for kind in kinds for part in request.get(kind, ())]


def attributes(of: Json) -> Json:
    """OTLP's list of attributes as an object."""
    return {item["key"]: next(iter(item["value"].values())) for item in of.get("attributes", ())}


@contextmanager
def otlp_collector(folder: Path) -> Iterator[Collector]:
    """A collector for grpc and http/protobuf; what it took is on disk before it answers."""
    file = folder / "otlp.jsonl"
    file.touch()
    command = [sys.executable, "-m", "floe_testing.services.otlp_server", str(file)]
    with running(command, folder / "otlp.log") as ports:
        grpc, http = ports.split()
        yield Collector(f"http://127.0.0.1:{grpc}", f"http://127.0.0.1:{http}", file)
