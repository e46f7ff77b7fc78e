"""One SparkSession on Iceberg: start the JVM early, ask for the session when it is needed, stop both together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped] # py4j has no types
from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from floe_core.catalog import Jar
from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError
from floe_spark.jars import JARS, ensure_jars
from floe_spark.java import find_java
from floe_spark.jvm import Jvm, start_jvm
from floe_spark.settings import SparkSettings

EXTENSIONS = "spark.sql.extensions"
REPORTS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")  # pyspark's, of each error, as JSON with a trace
ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


@dataclass(frozen=True, slots=True)
class SparkCatalog:
    """The Iceberg catalog of a session, as a catalog plugin describes it to Spark."""

    name: str
    conf: Mapping[str, str]  # spark.sql.catalog.NAME and what belongs to it
    namespace: str | None = None  # where a table without a namespace lives
    jars: tuple[Jar, ...] = ()  # what the catalog needs beyond Iceberg and SQLite


def session_conf(settings: SparkSettings, catalog: SparkCatalog, work: Path) -> dict[str, str]:
    """Everything that Spark is told. The platform's conf beats floe's defaults; the catalog's beats both."""
    default = {
        "spark.app.name": "floe",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": (work / "spark-warehouse").absolute().as_uri(),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    if settings.local:
        cores = os.cpu_count() or 1
        default |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": str(max(4, 2 * cores)),  # 200, Spark's own, is for clusters
        }
    fixed = {
        "spark.master": settings.master,
        "spark.sql.catalogImplementation": "in-memory",  # a Hive metastore costs seconds and drops files
        "spark.sql.defaultCatalog": catalog.name,
        EXTENSIONS: ",".join(_extensions(settings.conf, catalog.conf)),
    }
    if catalog.namespace:
        fixed[f"spark.sql.catalog.{catalog.name}.default-namespace"] = catalog.namespace
    return {**default, **settings.conf, **catalog.conf, **fixed}


def _extensions(*confs: Mapping[str, str]) -> list[str]:
    named = [part.strip() for conf in confs for part in conf.get(EXTENSIONS, "").split(",")]
    return list(dict.fromkeys((ICEBERG_EXTENSIONS, *filter(None, named))))


@dataclass(slots=True)
class Engine:
    """Spark, on its way or running."""

    jvm: Jvm
    _session: SparkSession | None = field(default=None, init=False)

    def session(self) -> SparkSession:
        """The one session; waits for the JVM, and raises E705 or E704 when it does not come."""
        if self._session is None:
            if SparkContext._active_spark_context is not None:
                raise FloeError(Finding("FLOE-E705", "this process has another Spark session open", HERE))
            SparkContext._gateway = SparkContext._jvm = None  # of a JVM that is gone
            try:
                gateway = self.jvm.connect()
                with _python_of_workers():
                    self._session = SparkSession(SparkContext(gateway=gateway))
            except Py4JJavaError as exc:
                cause = str(exc.java_exception).partition("\n")[0]
                raise FloeError(Finding("FLOE-E705", f"{cause} (log: {self.jvm.log})", HERE)) from exc
            except (Py4JError, OSError) as exc:
                raise self.jvm.lost() from exc
            _let_pyspark_report(False)  # errors are raised as well, and floe says them
        return self._session

    def check(self) -> None:
        """Raise E707 when the JVM has ended: what an error of the connection means."""
        if not self.jvm.running:
            raise self.jvm.lost()

    def stop(self) -> None:
        """End session and JVM; when this returns, there is no process any more."""
        try:
            if self._session is not None and self.jvm.running:
                self._session.stop()
        except (Py4JError, OSError):
            pass  # the JVM is ending by itself; what follows waits for it
        finally:
            self._session = None
            self.jvm.stop()
            SparkContext._active_spark_context = SparkContext._gateway = SparkContext._jvm = None
            SparkSession._instantiatedSession = None
            _let_pyspark_report(True)

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_engine(
    catalog: SparkCatalog,
    work: Path,
    settings: SparkSettings | None = None,
    *,
    level: str = "warn",
    progress: Callable[[str], None] = lambda _: None,
) -> Engine:
    """Find Java, have the jars, start the JVM and return at once. `work` keeps spark.log and Spark's scratch."""
    settings = settings or SparkSettings()
    java = find_java()
    jars = [*ensure_jars([*JARS, *catalog.jars, *settings.jars], progress), *settings.files]
    conf = session_conf(settings, catalog, work)
    remote = [*([] if settings.local else (jar.as_uri() for jar in jars)), *settings.addresses]
    if remote:  # in one JVM the class path is enough, and nothing is copied
        conf["spark.jars"] = ",".join([*filter(None, [conf.get("spark.jars", "")]), *remote])
    return Engine(start_jvm(java, jars, conf, work / "spark.log", level, settings.local))


def _let_pyspark_report(wanted: bool) -> None:
    for name in REPORTS:  # only as pyspark makes them: an ordinary logger of this name breaks pyspark
        PySparkLogger.getLogger(name).disabled = not wanted


@contextmanager
def _python_of_workers() -> Iterator[None]:
    """Workers on this machine run the same Python as floe, unless PYSPARK_PYTHON says otherwise."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]
