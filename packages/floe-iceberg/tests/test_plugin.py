"""The base of catalog plugins, as an author uses it: a config, two mappings, a description."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from pydantic import Field, ValidationError

from floe_core.findings import FloeError
from floe_core.patience import Patience
from floe_iceberg import CatalogConfig, IcebergCatalogPlugin


class ToyConfig(CatalogConfig):
    uri: str = Field(default="sqlite:///:memory:")


class ToyCatalog(IcebergCatalogPlugin[ToyConfig]):
    api_version: ClassVar[int] = 1
    Config = ToyConfig

    def client_properties(self) -> dict[str, str]:
        return {"type": "sql", "uri": self.config.uri, "warehouse": self.home.as_uri()}

    def catalog_conf(self) -> dict[str, str]:
        return {"type": "jdbc", "uri": self.config.uri}

    def describe(self) -> str:
        return self.config.uri


def test_it_opens_what_its_properties_say(tmp_path: Path) -> None:
    with ToyCatalog({}, tmp_path).open() as catalog:
        catalog.create_namespace("sales")
        assert catalog.list_namespaces() == [("sales",)]


class FarCatalog(ToyCatalog):
    def client_properties(self) -> dict[str, str]:
        return {**super().client_properties(), "s3.request-timeout": "20"}


def test_files_are_waited_for_no_longer_than_the_plugin_says(tmp_path: Path) -> None:
    """PyArrow tries three times, and by itself waits far longer for a connection."""
    for kind, seconds in ((ToyCatalog, "3"), (FarCatalog, "20")):
        with kind({}, tmp_path).open() as catalog:
            limits = (catalog.properties["s3.connect-timeout"], catalog.properties["s3.request-timeout"])
            assert limits == ("1", seconds)


def test_its_settings_become_sparks_under_its_name(tmp_path: Path) -> None:
    assert ToyCatalog({"name": "lake"}, tmp_path).spark_conf() == {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "jdbc",
        "spark.sql.catalog.lake.uri": "sqlite:///:memory:",
    }


def test_settings_nobody_knows_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        ToyCatalog({"urk": 1}, tmp_path)


def test_a_failure_of_the_operating_system_is_could_not_check(tmp_path: Path) -> None:
    with pytest.raises(FloeError) as caught, ToyCatalog({}, tmp_path).open():
        raise ConnectionRefusedError("nobody listens")
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E807", 3)
    assert finding.message == "catalog floe (sqlite:///:memory:): nobody listens"


def test_a_bug_stays_a_bug(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), ToyCatalog({}, tmp_path).open():
        raise ZeroDivisionError


def test_a_catalog_that_is_too_slow_for_whoever_waits_is_not_asked_again(tmp_path: Path) -> None:
    subject = ToyCatalog({}, tmp_path)
    subject.patience = Patience(8)
    subject.patience.spent = 9
    for look in (subject.list_products, subject.init_registry):
        with pytest.raises(FloeError, match=r"FLOE-E807 .*given up: it took 9 s for its last answers"):
            look()
