"""Jars are fetched once, by one process, in whole, and are never used unless their hash is right."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from things import CONTENT, THING, FakeJava

from floe_core.findings import Finding, FloeError
from floe_spark.jars import JARS, ensure_jars, find_jars

DELIVER = """\
echo fetched >> {log}
while [ $# -gt 0 ]; do [ "$1" = -retrieve ] && pattern=$2; shift; done
folder=${{pattern%%/\\[*}}
mkdir -p "$folder/org.example"
cp {source} "$folder/org.example/thing-1.0.jar"
"""
ARGUMENTS = (THING.coordinates, THING.sha256, THING.size)
IMPORTS = "from floe_core.catalog import Jar; from floe_spark.jars import ensure_jars"
ENSURE = f"{IMPORTS}; ensure_jars([Jar{ARGUMENTS}], print)"


class Repository:
    """Delivers the bytes it holds, and counts how often it was asked."""

    def __init__(self, folder: Path) -> None:
        self.source, self.log = folder / "source", folder / "fetches"
        self.source.write_bytes(CONTENT)
        self.script = DELIVER.format(source=self.source, log=self.log)

    @property
    def fetches(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log.exists() else 0


@pytest.fixture
def repository(
    clean_variables: Path, fake_java: FakeJava, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Repository:
    assert not clean_variables.exists()
    repository = Repository(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(fake_java(script=repository.script)))
    return repository


def refusal(act: Callable[[], object]) -> Finding:
    with pytest.raises(FloeError) as caught:
        act()
    [finding] = caught.value.findings
    assert finding.row.exit == 3
    return finding


def ensure() -> tuple[Path, ...]:
    return ensure_jars([THING])


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_jar_is_fetched_once(repository: Repository, clean_variables: Path) -> None:
    said: list[str] = []
    [path] = ensure_jars([THING], said.append)
    assert (path, path.read_bytes()) == (clean_variables / "jars" / "org.example" / "thing-1.0.jar", CONTENT)
    assert said == ["Fetching thing-1.0.jar (0 MB)"]
    assert ensure_jars([THING], said.append) == (path,)
    assert (repository.fetches, len(said)) == (1, 1)


def test_nothing_but_jars_and_the_lock_stays_in_the_cache(repository: Repository, clean_variables: Path) -> None:
    assert (len(ensure()), repository.fetches) == (1, 1)
    assert set(files(clean_variables / "jars")) - {"lock"} == {"org.example/thing-1.0.jar"}


@pytest.mark.parametrize("damage", [b"the bytes of a jaR", b"the bytes", b""])
def test_a_damaged_jar_in_the_cache_is_fetched_again(repository: Repository, damage: bytes) -> None:
    [path] = ensure()
    path.write_bytes(damage)
    assert find_jars([THING]) == {THING: None}
    assert (ensure(), path.read_bytes(), repository.fetches) == ((path,), CONTENT, 2)


def test_wrong_bytes_from_the_repository_are_refused_and_not_kept(
    repository: Repository, clean_variables: Path
) -> None:
    repository.source.write_bytes(b"something else")
    actual = hashlib.sha256(b"something else").hexdigest()
    finding = refusal(ensure)
    assert (finding.code, finding.expected, finding.actual) == ("FLOE-E702", THING.sha256, actual)
    assert finding.message == f"what was delivered is not org.example:thing:1.0: its sha256 is {actual}"
    assert set(files(clean_variables)) <= {"jars/lock"}


@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        (
            "\t\t:::: ERRORS\n\tServer access error at url https://x/ (java.net.UnknownHostException: x)",
            "FLOE-E701",
            "Server access error at url https://x/ (java.net.UnknownHostException: x)",
        ),
        (
            "\tWARN\n\tjava.io.IOException: No space left on device",
            "FLOE-E704",
            "java.io.IOException: No space left on device",
        ),
        ("...", "FLOE-E701", "Ivy ended without a word"),
    ],
)
def test_a_fetch_that_fails_says_why(
    clean_variables: Path,
    fake_java: FakeJava,
    monkeypatch: pytest.MonkeyPatch,
    output: str,
    code: str,
    message: str,
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(script=f"printf '%s' '{output}'; exit 1")))
    finding = refusal(ensure)
    assert (finding.code, finding.message) == (code, message)
    assert set(files(clean_variables)) <= {"jars/lock"}


def test_a_jar_that_is_not_delivered_is_named(
    clean_variables: Path, fake_java: FakeJava, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(script="exit 0")))
    finding = refusal(ensure)
    assert (finding.code, finding.message) == ("FLOE-E701", "org.example:thing:1.0 was not delivered")
    assert finding.fix.endswith("python -m floe_spark.fetch")
    assert clean_variables.exists()


def test_a_cache_that_cannot_be_used_is_named(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "file"))
    finding = refusal(ensure)
    assert finding.code == "FLOE-E703"
    assert finding.message == f"{tmp_path}/file/jars/org.example/thing-1.0.jar: Not a directory"
    assert repository.fetches == 0


def test_a_full_disk_is_named_before_anything_is_fetched(repository: Repository, clean_variables: Path) -> None:
    larger_than_any_disk = replace(THING, size=2**80)
    finding = refusal(lambda: ensure_jars([larger_than_any_disk]))
    assert finding.code == "FLOE-E704"
    assert finding.message.startswith(f"{clean_variables}/jars: No space left on device: ")
    assert repository.fetches == 0


def test_a_disk_that_fills_up_leaves_nothing(repository: Repository, tmp_path: Path) -> None:
    """On a disk of 64 kB, the size of the jar unknown, so that it is not seen to be too large before."""
    repository.source.write_bytes(bytes(1_000_000))
    disk = tmp_path / "disk"
    disk.mkdir()
    code = f"{IMPORTS}; ensure_jars([Jar('org.example:thing:1.0', '{'0' * 64}')])"
    mount = f'mount -t tmpfs -o size=64k none {disk} && FLOE_CACHE={disk} "$0" -c "$1"; find {disk} -type f'
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("this user may not mount a small disk")
    command = ["unshare", "-rm", "sh", "-c", mount, sys.executable, code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert "FLOE-E704" in done.stderr
    assert done.stdout in ("", f"{disk}/jars/lock\n")


def test_processes_that_start_together_fetch_once(repository: Repository, clean_variables: Path) -> None:
    processes = [
        subprocess.Popen([sys.executable, "-c", ENSURE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in processes]
    assert ends == [("", 0)] * 4
    assert repository.fetches == 1
    assert (clean_variables / "jars" / "org.example" / "thing-1.0.jar").read_bytes() == CONTENT


def test_after_a_killed_fetch_the_next_one_works(
    repository: Repository,
    clean_variables: Path,
    fake_java: FakeJava,
    tmp_path: Path,
) -> None:
    """The first process is killed in the middle: half a jar is on the disk, and the lock is held."""
    begun, never = tmp_path / "begun", tmp_path / "never"
    os.mkfifo(begun)
    os.mkfifo(never)
    half = repository.script.replace(f"cp {repository.source}", f"head -c 5 {repository.source} >")
    hanging = fake_java(script=f"{half}\necho now > {begun}\nread line < {never}", name="hanging")
    process = subprocess.Popen(
        [sys.executable, "-c", ENSURE], env=os.environ | {"JAVA_HOME": str(hanging)}, start_new_session=True
    )
    assert begun.read_text() == "now\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert [name for name in files(clean_variables) if name.endswith("/thing-1.0.jar")]
    [path] = ensure()
    assert path.read_bytes() == CONTENT
    assert set(files(clean_variables / "jars")) - {"lock"} == {"org.example/thing-1.0.jar"}


@pytest.mark.parametrize("form", ["folder", "files"])
def test_provided_jars_are_checked_and_nothing_is_fetched(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    jar = tmp_path / "provided" / "thing-1.0.jar"
    jar.parent.mkdir()
    shutil.copy(repository.source, jar)
    monkeypatch.setenv("FLOE_SPARK_JARS", f"{tmp_path}/other.jar:{jar}" if form == "files" else str(jar.parent))
    assert (ensure(), repository.fetches) == ((jar,), 0)
    jar.write_bytes(b"tampered")
    finding = refusal(ensure)
    assert (finding.code, finding.fix) == ("FLOE-E702", f"Put the jar with sha256 {THING.sha256} there.")
    assert finding.message.startswith(f"{jar} is not org.example:thing:1.0: its sha256 is ")
    jar.unlink()
    finding = refusal(ensure)
    assert (finding.code, repository.fetches) == ("FLOE-E706", 0)
    assert finding.message.startswith("thing-1.0.jar (org.example:thing:1.0) is not in ")


def test_without_variables_the_cache_is_in_the_home_folder(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLOE_CACHE")
    assert ensure() == (tmp_path / "home" / ".cache" / "floe" / "jars" / "org.example" / "thing-1.0.jar",)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert ensure() == (tmp_path / "xdg" / "floe" / "jars" / "org.example" / "thing-1.0.jar",)
    assert repository.fetches == 2


def test_every_jar_of_floe_is_pinned() -> None:
    for jar in JARS:
        assert (len(jar.coordinates.split(":")), len(jar.sha256)) == (3, 64)
        assert jar.size
