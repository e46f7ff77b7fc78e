"""A product that reports, and what receives its reports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from floe_testing.services.lineage import LineageBackend, lineage_backend
from floe_testing.services.otlp import Collector, otlp_collector

sys.path.insert(0, str(Path(__file__).parent))  # lets the tests import the modules beside them


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LineageBackend]:
    with lineage_backend(tmp_path) as running:
        yield running


@pytest.fixture
def collector(tmp_path: Path) -> Iterator[Collector]:
    with otlp_collector(tmp_path) as running:
        yield running


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers on this machine are reached directly, and nothing is configured that a test does not say."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
