"""Three back ends pass the conformance kit, on the real thing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.postgres import postgres

RunKit = Callable[..., str]
NOT_HTTP = "only the answers of a service at http:// can be lost on the way"
NOT_EMBEDDED = "only an embedded catalog can be had without a registry"
NO_WAREHOUSE = "the plugin names no warehouse: the catalog decides where tables go"
ONE_BY_ONE = "the plugin does not declare atomic_commit: tables change one after the other"


def skipped(printed: str) -> set[str]:
    """The reasons, each once."""
    return set(re.findall(r"^SKIPPED \[\d+\] \S+ (.+)$", printed, re.MULTILINE))


def test_sqlite_passes(run_kit: RunKit) -> None:
    assert skipped(run_kit("sql", {}, "-rs")) == {NOT_HTTP}


@pytest.mark.service
def test_postgresql_passes(run_kit: RunKit, tmp_path: Path) -> None:
    with required(), postgres() as server:
        config = {"uri": server.uri, "password": server.password, "warehouse": str(tmp_path / "warehouse")}
        assert skipped(run_kit("sql", config, "-rs")) == {NOT_HTTP, NOT_EMBEDDED}


@pytest.mark.service
def test_rest_passes(run_kit: RunKit, tmp_path: Path) -> None:
    with required(), iceberg_rest(tmp_path / "rest") as uri:
        printed = run_kit("rest", {"uri": uri, "timeout": "7s"}, "-rs")
        assert skipped(printed) == {NOT_EMBEDDED, NO_WAREHOUSE, ONE_BY_ONE}


def test_without_a_name_it_says_what_it_needs(run_kit: RunKit) -> None:
    assert "--floe-catalog=NAME" in run_kit("", {}, exit_code=4)


def test_a_plugin_that_is_not_installed_is_named_once(run_kit: RunKit) -> None:
    printed = run_kit("nowhere", {}, exit_code=4)
    assert printed.count("no installed package provides 'nowhere'") == 1


def test_wrong_settings_are_named_once_and_not_shown(run_kit: RunKit) -> None:
    auth = {"type": "basic", "password": "s3cr3t-and-long"}
    printed = run_kit("rest", {"uri": "http://127.0.0.1", "auth": auth}, exit_code=4)
    assert printed.count("auth.basic.username: Field required") == 1
    assert "s3cr3t-and-long" not in printed
