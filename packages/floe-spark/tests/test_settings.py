"""compute.config: where Spark runs, and with what; everything else is refused where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from floe_core.catalog import Jar
from floe_core.findings import FloeError, Place
from floe_spark.session import ICEBERG_EXTENSIONS, SparkCatalog, session_conf
from floe_spark.settings import SparkSettings, read_settings

PLACE = Place("manifest.yaml", 7, 5)
HASH = "0123456789abcdef" * 4
CATALOG = SparkCatalog("floe", {"spark.sql.catalog.floe": "org.apache.iceberg.spark.SparkCatalog"}, "sales.orders")


def test_without_config_spark_runs_here_on_all_cores() -> None:
    assert read_settings({}, PLACE) == SparkSettings("local[*]", {}, (), (), ())
    assert read_settings({}, PLACE).local


@pytest.mark.parametrize(
    ("master", "local"),
    [
        ("local", True),
        ("local[2]", True),
        ("local[2,3]", True),
        ("local-cluster[1,1,1024]", False),
        ("yarn", False),
    ],
)
def test_a_master_is_local_or_not(master: str, local: bool) -> None:
    assert read_settings({"master": master}, PLACE).local is local


def test_values_of_conf_are_written_as_spark_reads_them() -> None:
    conf = {"spark.a": True, "spark.b": False, "spark.c": 8, "spark.d": 0.5, "spark.e": "2g"}
    assert read_settings({"conf": conf}, PLACE).conf == {
        "spark.a": "true",
        "spark.b": "false",
        "spark.c": "8",
        "spark.d": "0.5",
        "spark.e": "2g",
    }


def test_jars_may_be_files_addresses_and_pinned_coordinates(tmp_path: Path) -> None:
    (tmp_path / "udf.jar").write_bytes(b"")
    jars = ["udf.jar", "s3a://bucket/a.jar", "local:/opt/b.jar", f"org.postgresql:postgresql:42.7.8@sha256:{HASH}"]
    settings = read_settings({"jars": jars}, Place(str(tmp_path / "manifest.yaml")))
    assert settings.files == (tmp_path / "udf.jar",)
    assert settings.addresses == ("s3a://bucket/a.jar", "local:/opt/b.jar")
    assert settings.jars == (Jar("org.postgresql:postgresql:42.7.8", HASH),)


@pytest.mark.parametrize(
    ("config", "code", "said"),
    [
        ({"mster": "local"}, "FLOE-E121", "unknown key 'mster'; did you mean master?"),
        ({"master": 4}, "FLOE-E123", "compute.config.master is not text"),
        ({"master": ""}, "FLOE-E123", "compute.config.master is not text"),
        ({"conf": ["spark.a"]}, "FLOE-E123", "compute.config.conf is not a mapping"),
        ({"conf": {"spark.a": [1]}}, "FLOE-E123", "compute.config.conf.spark.a is not a single value"),
        ({"conf": {"spark.a": None}}, "FLOE-E123", "compute.config.conf.spark.a is not a single value"),
        ({"conf": {"fs.s3a.endpoint": "x"}}, "FLOE-E126", "Spark ignores 'fs.s3a.endpoint'"),
        ({"jars": "a.jar"}, "FLOE-E123", "compute.config.jars is not a list of texts"),
        ({"jars": [1]}, "FLOE-E123", "compute.config.jars is not a list of texts"),
        ({"jars": ["gone.jar"]}, "FLOE-E100", "gone.jar is not a file"),
        ({"jars": ["org.example:thing:1.0"]}, "FLOE-E126", "org.example:thing:1.0 has no hash"),
    ],
)
def test_what_spark_cannot_use_is_refused_where_it_stands(config: dict[str, object], code: str, said: str) -> None:
    with pytest.raises(FloeError) as caught:
        read_settings(config, PLACE)
    [finding] = caught.value.findings
    assert (finding.code, finding.place) == (code, PLACE)
    assert said in finding.message


def test_a_session_has_one_catalog_and_leaves_nothing_outside_its_work_folder(tmp_path: Path) -> None:
    conf = session_conf(SparkSettings(), CATALOG, tmp_path)
    assert conf["spark.master"] == "local[*]"
    assert conf["spark.sql.defaultCatalog"] == "floe"
    assert conf["spark.sql.catalog.floe.default-namespace"] == "sales.orders"
    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert conf["spark.sql.catalogImplementation"] == "in-memory"
    assert conf["spark.sql.warehouse.dir"] == (tmp_path / "spark-warehouse").as_uri()
    assert conf["spark.driver.bindAddress"] == "127.0.0.1"


def test_the_platform_beats_defaults_and_the_catalog_beats_the_platform(tmp_path: Path) -> None:
    said = {
        "spark.sql.session.timeZone": "Europe/Berlin",
        "spark.sql.extensions": "com.example.Extra",
        "spark.sql.catalog.floe": "com.example.Other",
    }
    conf = session_conf(SparkSettings(conf=said), CATALOG, tmp_path)
    assert conf["spark.sql.session.timeZone"] == "Europe/Berlin"
    assert conf["spark.sql.extensions"] == f"{ICEBERG_EXTENSIONS},com.example.Extra"
    assert conf["spark.sql.catalog.floe"] == "org.apache.iceberg.spark.SparkCatalog"


def test_on_a_cluster_spark_chooses_addresses_and_partitions(tmp_path: Path) -> None:
    conf = session_conf(SparkSettings("spark://127.0.0.1:7077"), CATALOG, tmp_path)
    assert not {"spark.driver.bindAddress", "spark.driver.host", "spark.sql.shuffle.partitions"} & set(conf)
