"""Fetches jars by coordinates with the Ivy that pyspark ships. Where from is Ivy's setting, or the company's."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import pyspark

from floe_core.doctor import HERE
from floe_core.findings import Finding, FloeError
from floe_spark.cache import NO_SPACE
from floe_spark.java import Java
from floe_spark.network import jvm_options

TIMEOUT = 1800  # seconds for all jars together, on a slow line
PATIENCE = ("-Dsun.net.client.defaultConnectTimeout=15000", "-Dsun.net.client.defaultReadTimeout=60000")
PATTERN = "[organisation]/[artifact]-[revision](-[classifier]).[ext]"
MODULE = """\
<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="floe" module="jars"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{rows}
  </dependencies>
</ivy-module>
"""
ROW = '    <dependency org={} name={} rev={} transitive="false" conf="default->master">{}</dependency>'
ARTIFACT = '<artifact name={} type="jar" ext="jar"{}/>'
SETTINGS = """\
<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers><ibiblio name="mirror" m2compatible="true" root={url}/></resolvers>
</ivysettings>
"""


def retrieve(coordinates: Iterable[str], folder: Path, java: Java) -> None:
    """Fetch each group:artifact:version[:classifier] to `folder`/group/artifact-version[-classifier].jar.

    Raises E701 or E704.
    """
    module = folder / "ivy.xml"
    module.write_text(MODULE.format(rows="\n".join(_rows(coordinates))), encoding="utf-8")
    arguments = folder / "java.args"  # not on the command line: a proxy's password may be among them
    arguments.touch(mode=0o600)
    options = [*PATIENCE, *jvm_options(), f"-Divy.default.ivy.user.dir={folder / 'ivy'}"]
    arguments.write_text("\n".join(map(_quote, options)), encoding="utf-8")
    jar = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    command = [java.executable, f"@{arguments}", "-jar", jar, *_settings(folder), "-ivy", module]
    command += ["-retrieve", f"{folder}/{PATTERN}", "-warn"]
    try:
        done = subprocess.run(  # noqa: S603 - the Java that was found
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except subprocess.TimeoutExpired as exc:
        raise FloeError(Finding("FLOE-E701", f"not finished after {TIMEOUT} s", HERE)) from exc
    if done.returncode:
        code = "FLOE-E704" if NO_SPACE in done.stdout else "FLOE-E701"
        raise FloeError(Finding(code, _cause(done.stdout), HERE))


def _rows(coordinates: Iterable[str]) -> list[str]:
    """One dependency for each module, one artifact for each of its jars."""
    modules: dict[tuple[str, ...], str] = {}
    for item in coordinates:
        group, artifact, version, *classifier = item.split(":")
        kind = "".join(f" m:classifier={quoteattr(name)}" for name in classifier)
        key = (group, artifact, version)
        modules[key] = modules.get(key, "") + ARTIFACT.format(quoteattr(artifact), kind)
    return [ROW.format(*map(quoteattr, key), artifacts) for key, artifacts in modules.items()]


def _quote(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _cause(output: str) -> str:
    """The line of Ivy's output that says most."""
    lines = [line.strip(" \t.:") for line in output.splitlines()]
    for sign in (NO_SPACE, "Server access error", ": not found", "Exception", "rror"):
        for line in lines:
            if sign in line:
                return line
    return next((line for line in reversed(lines) if line), "Ivy ended without a word")


def _settings(folder: Path) -> list[str | Path]:
    """The file that FLOE_IVY_SETTINGS names, else the mirror of Maven's settings, else what Ivy has built in."""
    named = os.environ.get("FLOE_IVY_SETTINGS")
    if named:
        if not Path(named).is_file():
            raise FloeError(Finding("FLOE-E701", f"FLOE_IVY_SETTINGS: {named} is not a file", HERE))
        return ["-settings", named]
    mirror = maven_mirror(Path("~/.m2/settings.xml").expanduser())
    if not mirror:
        return []
    settings = folder / "ivysettings.xml"
    settings.write_text(SETTINGS.format(url=quoteattr(mirror)), encoding="utf-8")
    return ["-settings", settings]


def maven_mirror(path: Path) -> str:
    """The address that Maven's own settings give for its central repository, empty when they give none."""
    try:
        tree = ElementTree.parse(path)  # noqa: S314 - the user's own file
    except FileNotFoundError:
        return ""
    except (OSError, ElementTree.ParseError) as exc:
        raise FloeError(Finding("FLOE-E701", f"{path} cannot be read: {exc}", HERE)) from exc
    for mirror in tree.iterfind("{*}mirrors/{*}mirror"):
        of = {part.strip() for part in mirror.findtext("{*}mirrorOf", "").split(",")}
        if "!central" not in of and of & {"*", "external:*", "central"}:
            url = mirror.findtext("{*}url", "").strip()
            return re.sub(r"\$\{env\.(\w+)\}", lambda match: os.environ.get(match[1], ""), url)
    return ""
