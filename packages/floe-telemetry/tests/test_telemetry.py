"""Who gets what a run tells: as the platform wants it, and as the environment allows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from customer_run import FACTS, Flags, whole_run

from floe_telemetry import Facts, Telemetry

INERT = """
    import json, os, sys
    from pathlib import Path
    from customer_run import FACTS, Flags, whole_run
    from floe_telemetry import Telemetry

    before = set(sys.modules)
    telemetry = Telemetry.of(FACTS, Flags(), {"PATH": "/bin"}, Path("spool"))
    for event in whole_run():
        telemetry.record(event)
    outcome = telemetry.close()
    others = {"opentelemetry", "grpc", "openlineage", "requests", "http", "ssl", "filelock", "pydantic"}
    heavy = sorted(others & set(sys.modules))
    print(json.dumps([sorted(set(sys.modules) - before), heavy, telemetry.active, list(outcome.problems)]))
"""


def test_nothing_is_imported_when_nothing_is_configured(tmp_path: Path) -> None:
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r})\n{dedent(INERT)}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[[], [], false, []]\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "True"},
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
            "OTEL_TRACES_EXPORTER": "none",
            "OTEL_METRICS_EXPORTER": "none",
        },
        {"OPENLINEAGE_URL": "http://127.0.0.1:9", "OPENLINEAGE_DISABLED": "true"},
    ],
)
def test_an_environment_that_wants_nothing_gets_nothing(environ: dict[str, str], tmp_path: Path) -> None:
    assert not Telemetry.of(FACTS, Flags(), environ, tmp_path / "spool").active
    assert list(tmp_path.iterdir()) == []


def test_a_platform_that_wants_nothing_gets_nothing(tmp_path: Path) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OPENLINEAGE_URL": "http://127.0.0.1:9"}
    assert not Telemetry.of(FACTS, Flags(False, False, False), environ, tmp_path / "spool").active


def test_a_missing_sdk_is_said_and_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("floe_telemetry.otlp")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    telemetry = Telemetry.of(FACTS, Flags(metrics=False), environ, tmp_path / "spool")
    for event in whole_run():
        telemetry.record(event)
    [problem] = telemetry.close().problems
    assert problem.startswith("traces: OTLP is configured, and opentelemetry.sdk.resources is not installed")
    assert problem.endswith("install floe-telemetry[otlp]")


def test_an_unknown_protocol_is_said(tmp_path: Path) -> None:
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
    telemetry = Telemetry.of(FACTS, Flags(metrics=False), environ, tmp_path / "spool")
    assert telemetry.close().problems == ("traces: the OTLP protocol http/json is none of grpc, http/protobuf",)


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    telemetry = Telemetry.of(FACTS, Flags(), {}, tmp_path / "spool")
    with telemetry:
        telemetry.close()


def test_only_a_mesh_names_its_domain() -> None:
    simple = Facts("shop", "1.0", "simple", "shop", "0.1.0")
    assert simple.attributes() == {
        "floe.namespace": "shop",
        "floe.product.name": "shop",
        "floe.product.version": "1.0",
        "floe.mode": "simple",
        "floe.version": "0.1.0",
    }
