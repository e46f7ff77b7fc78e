"""The options of the conformance kit; pytest finds them through an entry point."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("floe", "conformance of floe plugins")
    group.addoption("--floe-catalog", metavar="NAME", help="the catalog plugin to test, by its name in a manifest")
    group.addoption("--floe-config", metavar="FILE", help="its settings: YAML, as under `config` in a manifest")
    group.addoption(
        "--floe-rounds", metavar="N", type=int, default=3, help="how often each race is run (default: %(default)s)"
    )
    group.addoption(
        "--floe-processes", metavar="N", type=int, default=6, help="how many take part in it (default: %(default)s)"
    )
