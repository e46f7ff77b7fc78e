"""What `plugins.compute` of type spark may say in its `config`: master, conf, jars."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from floe_core.catalog import Jar
from floe_core.findings import Finding, FloeError, Place

LOCAL = "local[*]"
KEYS = ("master", "conf", "jars")
PINNED = re.compile(r"(?P<coordinates>[\w.-]+:[\w.-]+:[\w.+-]+)@sha256:(?P<sha256>[0-9a-f]{64})")
COORDINATES = re.compile(r"[\w.-]+:[\w.-]+:[\w.+-]+")
ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:/")
JAR_FORM = "a path, an address such as s3a://…, or group:artifact:version@sha256:HASH"


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """Where Spark runs, and with what beyond floe's own."""

    master: str = LOCAL
    conf: Mapping[str, str] = field(default_factory=dict)
    jars: tuple[Jar, ...] = ()  # fetched like floe's own
    files: tuple[Path, ...] = ()  # on this machine
    addresses: tuple[str, ...] = ()  # where Spark fetches them from by itself

    @property
    def local(self) -> bool:
        """Whether everything runs in one JVM on this machine."""
        return re.fullmatch(r"local(\[.*\])?", self.master) is not None


def read_settings(config: Mapping[str, object], place: Place) -> SparkSettings:
    """The settings in `config`, secrets in it already resolved; `place` is where it was written."""
    for key in config:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise _refuse("FLOE-E121", f"compute.config: unknown key {key!r}{hint}", place, ", ".join(KEYS))
    master = config.get("master", LOCAL)
    if not isinstance(master, str) or not master:
        raise _refuse("FLOE-E123", "compute.config.master is not text", place, "local[*], spark://HOST:PORT, …")
    jars, files, addresses = _read_jars(config.get("jars", []), place)
    return SparkSettings(master, _read_conf(config.get("conf", {}), place), jars, files, addresses)


def _read_conf(conf: object, place: Place) -> dict[str, str]:
    if not isinstance(conf, Mapping):
        raise _refuse("FLOE-E123", "compute.config.conf is not a mapping", place, "spark.…: value")
    return {str(key): _read_value(str(key), value, place) for key, value in conf.items()}


def _read_value(key: str, value: object, place: Place) -> str:
    if not key.startswith("spark."):
        message = f"compute.config.conf: Spark ignores {key!r}, it reads only keys that start with spark."
        raise _refuse("FLOE-E126", message, place, "spark.…")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    raise _refuse(
        "FLOE-E123", f"compute.config.conf.{key} is not a single value", place, "text, number, true, false"
    )


def _read_jars(jars: object, place: Place) -> tuple[tuple[Jar, ...], tuple[Path, ...], tuple[str, ...]]:
    if not isinstance(jars, (list, tuple)) or not all(isinstance(item, str) for item in jars):
        raise _refuse("FLOE-E123", "compute.config.jars is not a list of texts", place, JAR_FORM)
    fetched: list[Jar] = []
    files: list[Path] = []
    addresses: list[str] = []
    for item in jars:
        if pinned := PINNED.fullmatch(item):
            fetched.append(Jar(pinned["coordinates"], pinned["sha256"]))
        elif COORDINATES.fullmatch(item):
            message = f"compute.config.jars: {item} has no hash, and unknown code is never run"
            raise _refuse("FLOE-E126", message, place, f"{item}@sha256:HASH")
        elif ADDRESS.match(item):
            addresses.append(item)
        else:
            files.append(_existing(item, place))
    return tuple(fetched), tuple(files), tuple(addresses)


def _existing(item: str, place: Place) -> Path:
    """A file, relative to the file that names it."""
    path = (Path(place.path).parent / item).absolute()
    if not path.is_file():
        raise _refuse("FLOE-E100", f"compute.config.jars: {path} is not a file", place, JAR_FORM)
    return path


def _refuse(code: str, message: str, place: Place, expected: str) -> FloeError:
    return FloeError(Finding(code, message, place, expected=expected))
