"""A Java that is a script, jars that are a few bytes, and Spark itself, started once."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from floe_core.files import cache_folder
from floe_core.findings import FloeError
from floe_spark.jars import JARS, ensure_jars
from floe_spark.session import start_engine
from floe_spark.settings import SparkSettings

sys.path.insert(0, str(Path(__file__).parent))  # lets the tests import the module beside them

from things import FakeJava, sqlite_catalog

DECIDED_OUTSIDE = (
    "SSL_CERT_FILE",
    "FLOE_",
    "JAVA_",
    "XDG_CACHE_HOME",
    "http_proxy",
    "https_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
)


def pytest_configure(config: pytest.Config) -> None:
    """pyspark leaves the sockets of `collect` to the garbage collector."""
    config.addinivalue_line("filterwarnings", "ignore:unclosed .socket:ResourceWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the jars starts Spark."""
    for item in items:
        if "real_jars" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.service)


@pytest.fixture
def fake_java(tmp_path: Path) -> FakeJava:
    """Writes a `java` that tells its version and otherwise does what the script says; returns its JAVA_HOME."""

    def write(version: str = "17.0.9", script: str = "exit 1", name: str = "java-home") -> Path:
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        java = home / "bin" / "java"
        tell = f"""if [ "$1" = -version ]; then echo 'openjdk version "{version}" 2024-01-01' >&2; exit 0; fi"""
        java.write_text(f"#!/bin/sh\n{tell}\n{script}\n", encoding="utf-8")
        java.chmod(0o755)
        return home

    return write


@pytest.fixture
def clean_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No variable of this machine decides; the cache is a new folder, which is returned."""
    for name in os.environ:
        if name.startswith(DECIDED_OUTSIDE):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def user_cache() -> Path:
    """The cache of whoever runs the tests: what was prepared there need not be made again."""
    return cache_folder()


@pytest.fixture(scope="session")
def real_jars() -> tuple[Path, ...]:
    """The jars, fetched as floe fetches them. Without them Spark tests skip; with CI=true they fail."""
    try:
        return ensure_jars(JARS)
    except FloeError as exc:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"Spark's jars cannot be had: {exc}")


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the catalog that `spark` works on."""
    return tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="session")
def spark(real_jars: tuple[Path, ...], lake: Path) -> Iterator[SparkSession]:
    """One session for all tests of this process; namespaces keep them apart."""
    assert real_jars
    quick = SparkSettings(conf={"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"})  # many short queries
    with start_engine(sqlite_catalog(lake, "sales.orders"), lake / "work", quick) as engine:
        yield engine.session()
