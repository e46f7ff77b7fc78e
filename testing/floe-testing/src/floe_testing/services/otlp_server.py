"""The collector of `otlp_collector`: OTLP over grpc and over http, kept in the file that is named as argument."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import grpc
from google.protobuf.json_format import MessageToJson
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_grpc


class Keeper:
    """Writes what comes, one line for each request."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._guard = threading.Lock()

    def keep(self, request: Any) -> None:
        line = MessageToJson(request, indent=None)
        with self._guard, self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Traces(trace_grpc.TraceServiceServicer):
    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's name
        del context
        self._keeper.keep(request)
        return trace.ExportTraceServiceResponse()


class Metrics(metrics_grpc.MetricsServiceServicer):
    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's name
        del context
        self._keeper.keep(request)
        return metrics.ExportMetricsServiceResponse()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    keeper: Keeper
    requests: ClassVar[dict[str, Any]] = {
        "/v1/traces": trace.ExportTraceServiceRequest,
        "/v1/metrics": metrics.ExportMetricsServiceRequest,
    }

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = self.requests.get(self.path)
        if message:
            self.keeper.keep(message.FromString(body))
        self.send_response(200 if message else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the file is the log."""


def main() -> None:
    keeper = Handler.keeper = Keeper(Path(sys.argv[1]))
    server = grpc.server(ThreadPoolExecutor(4))
    trace_grpc.add_TraceServiceServicer_to_server(Traces(keeper), server)  # type: ignore[no-untyped-call] # generated code
    metrics_grpc.add_MetricsServiceServicer_to_server(Metrics(keeper), server)  # type: ignore[no-untyped-call] # generated code
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        print(port, http.server_address[1], flush=True)
        sys.stdin.read()
        http.shutdown()
    server.stop(None)


if __name__ == "__main__":
    main()
