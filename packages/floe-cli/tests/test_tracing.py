"""Spans of a compile: opened when OpenTelemetry is configured, and nothing imported when it is not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]
StartupCode = Callable[[str], str]

IMPORTED = """
    import atexit, sys
    atexit.register(lambda: print(sorted(n for n in sys.modules if n.startswith("opentelemetry")), file=sys.stderr))
"""

# The parts of the SDK that floe uses, each writing down what it is asked.
SDK = {
    "opentelemetry/sdk/trace/__init__.py": """
        from contextlib import contextmanager
        class TracerProvider:
            def __init__(self, resource): print("service", resource)
            def add_span_processor(self, processor): print("timeout", processor)
            def get_tracer(self, name): return self
            @contextmanager
            def start_as_current_span(self, name):
                print("span", name)
                yield
            def shutdown(self): print("sent")
    """,
    "opentelemetry/sdk/trace/export.py": "BatchSpanProcessor = lambda exporter: exporter",
    "opentelemetry/sdk/resources.py": """
        class Resource:
            create = staticmethod(lambda about: about["service.name"])
    """,
    **{
        f"opentelemetry/exporter/otlp/proto/{protocol}/trace_exporter.py": f"""
            OTLPSpanExporter = lambda timeout: f"{protocol} {{timeout}}"
        """
        for protocol in ("grpc", "http")
    },
}


@pytest.fixture
def sdk(tmp_path: Path) -> str:
    """A folder for PYTHONPATH that holds only what stands in SDK."""
    site = tmp_path / "sdk"
    for name, code in SDK.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(code), encoding="utf-8")
        for folder in path.relative_to(site).parents:
            (site / folder / "__init__.py").touch()
    (site / "__init__.py").unlink()
    return str(site)


def test_nothing_is_imported_when_nothing_is_configured(floe: Run, startup_code: StartupCode) -> None:
    done = floe("compile", "customer-360", PYTHONPATH=startup_code(IMPORTED), OTEL_EXPORTER_OTLP_ENDPOINT="")
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_each_stage_is_a_span_and_they_are_sent_at_the_end(floe: Run, sdk: str, protocol: str) -> None:
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    done = floe("compile", "customer-360", PYTHONPATH=sdk, OTEL_SERVICE_NAME="acme", **variables)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[:2] == ["service acme", f"timeout {protocol[:4]} 2"]
    spans = [line.split()[1] for line in lines if line.startswith("span ")]
    assert spans[1:4] == ["floe.compile.load", "floe.compile.follow", "floe.compile.merge"]
    assert spans[-1] == "floe.compile.register_and_write"
    assert lines[lines.index(f"span {spans[-1]}") + 1] == "sent"


def test_a_missing_sdk_is_said_and_the_compile_goes_on(floe: Run, tmp_path: Path) -> None:
    (tmp_path / "empty" / "opentelemetry").mkdir(parents=True)
    (tmp_path / "empty" / "opentelemetry" / "__init__.py").touch()
    variables = {"PYTHONPATH": str(tmp_path / "empty"), "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    done = floe("compile", "customer-360", **variables)
    assert done.returncode == 0
    assert done.stderr.startswith("no spans: OTLP is configured, and opentelemetry.sdk is not installed\n")
