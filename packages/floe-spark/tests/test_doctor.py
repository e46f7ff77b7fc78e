"""The rows of floe-spark in `floe doctor`: what is there, and how to repair what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from things import FakeJava

from floe_core.doctor import Check
from floe_spark import doctor, fetch
from floe_spark.archive import archive_of, base_of, find_archive, keep_newest
from floe_spark.jars import JARS
from floe_spark.java import Java, find_java
from floe_spark.jvm import start_jvm

pytestmark = pytest.mark.usefixtures("clean_variables")


def rows() -> dict[str, Check]:
    return {row.name: row for row in doctor.checks()}


def test_the_doctor_finds_the_rows() -> None:
    [entry] = entry_points(group="floe.doctor", name="spark")
    assert entry.load() is doctor.checks


def test_java_is_shown_with_what_was_skipped(fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java("11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", "")
    row = rows()["Java"]
    assert row.fix == ""
    assert row.detail.startswith("Java 21.")
    assert row.detail.endswith(f"; skipped JAVA_HOME ({home}/bin/java): Java 11.0.2, and Spark 4.1 needs 17 or 21")


def test_jars_that_are_not_fetched_yet_come_with_the_line_that_fetches_them(clean_variables: Path) -> None:
    names = ", ".join(f"{jar.file_name} is not fetched yet" for jar in JARS)
    assert rows()["Spark's jars"] == Check("Spark's jars", names, "Run: python -m floe_spark.fetch", "FLOE-E701")
    assert not clean_variables.exists()


def test_a_damaged_jar_is_told_from_a_missing_one(clean_variables: Path) -> None:
    damaged = clean_variables / "jars" / JARS[0].group / JARS[0].file_name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"PK")
    row = rows()["Spark's jars"]
    assert row.detail == f"{JARS[0].file_name} is damaged, {JARS[1].file_name} is not fetched yet"
    assert row.fix


def test_fetched_jars_are_checked(real_jars: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    named = ":".join(map(str, real_jars))
    monkeypatch.setenv("FLOE_SPARK_JARS", named)
    assert rows()["Spark's jars"] == Check("Spark's jars", f"2 of FLOE_SPARK_JARS, hashes checked: {named}")


def test_a_cache_that_cannot_be_used_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "file"))
    row = rows()["Spark's jars"]
    assert (row.code, bool(row.fix)) == ("FLOE-E703", True)
    assert "Not a directory" in row.detail


def test_a_fetch_that_fails_ends_the_set_up_only_in_ci(
    fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(script="echo 'Server access error at url x'; exit 1")))
    monkeypatch.setenv("CI", "true")
    assert fetch.main() == 3
    monkeypatch.setenv("CI", "")
    assert fetch.main() == 0
    said = capsys.readouterr().err
    assert "✗ FLOE-E701 Server access error at url x\n    Fix: Repair what" in said
    assert said.endswith("Spark cannot run until then; tests that need it skip.\n")


def test_a_fetch_prepares_the_next_start_unless_an_earlier_one_has(
    real_jars: tuple[Path, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, user_cache: Path
) -> None:
    """In processes of their own: another test of this one may have a Spark session open."""
    archives = user_cache / "java"  # where the set-up has put its own: half a minute's work
    archives.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "java").symlink_to(archives)
    monkeypatch.setenv("FLOE_SPARK_JARS", ":".join(map(str, real_jars)))
    command = [sys.executable, "-m", "floe_spark.fetch"]
    java, jars, archive = subprocess.run(command, capture_output=True, encoding="utf-8").stdout.splitlines()
    assert java.startswith("Spark runs on Java ")
    assert jars.startswith("2 jars, hashes checked, in ")
    made = Path(archive.removeprefix("Spark starts faster: "))
    assert made.stat().st_mode & 0o077 == 0
    jvm = start_jvm(find_java(), real_jars, {"spark.master": "local"}, tmp_path / "spark.log")
    arguments = (jvm.folder / "java.args").read_text().splitlines()
    jvm.connect()
    jvm.stop()
    assert f'"-XX:SharedArchiveFile={made}"' in arguments
    assert (tmp_path / "spark.log").read_text() == ""
    before = made.stat().st_ino
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert made.stat().st_ino == before


@pytest.mark.parametrize("brings_its_own", [True, False])
def test_an_archive_that_others_can_write_is_not_used(fake_java: FakeJava, brings_its_own: bool) -> None:
    """Nor one that stands on such a one: a Java may come without the archive of its own classes."""
    home = fake_java()
    java = Java(home / "bin" / "java", "17", "JAVA_HOME")
    if brings_its_own:
        (home / "lib" / "server").mkdir(parents=True)
        (home / "lib" / "server" / "classes.jsa").write_bytes(b"classes")
    made = archive_of(java, [])
    needed = [path for path in (made, base_of(java)) if path]
    assert len(needed) == (1 if brings_its_own else 2)
    made.parent.mkdir(parents=True)
    for path in needed:
        assert find_archive(java, []) is None
        path.write_bytes(b"classes")
        path.chmod(0o600)
    assert find_archive(java, []) == made
    for path in needed:
        path.chmod(0o622)
        assert find_archive(java, []) is None
        path.chmod(0o600)


def test_an_archive_belongs_to_its_java_and_to_the_bytes_of_its_jars(tmp_path: Path, fake_java: FakeJava) -> None:
    java = Java(fake_java() / "bin" / "java", "17", "JAVA_HOME")
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"one")
    first, whole_folder = archive_of(java, [str(jar)]), archive_of(java, [f"{tmp_path}/*"])
    assert first == whole_folder
    assert archive_of(replace(java, version="21"), [str(jar)]) != first
    jar.write_bytes(b"another")
    assert archive_of(java, [str(jar)]) != first


def test_the_archives_used_last_are_kept(clean_variables: Path) -> None:
    folder = clean_variables / "java"
    folder.mkdir(parents=True)
    for age in range(5):
        (folder / f"{age}.jsa").write_bytes(b"")
        os.utime(folder / f"{age}.jsa", (1000 - age, 1000 - age))
    keep_newest()
    assert sorted(path.name for path in folder.iterdir()) == ["0.jsa", "1.jsa", "2.jsa"]
