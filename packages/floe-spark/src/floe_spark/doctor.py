"""The rows of floe-spark in `floe doctor`: Java, pyspark, jars, cache folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyspark

from floe_core.codes import CODES
from floe_core.doctor import Check
from floe_core.files import cache_folder
from floe_core.findings import FloeError
from floe_spark.jars import JARS, ensure_jars, find_jars, jar_folder
from floe_spark.java import search_java
from floe_spark.training import is_prepared

FETCH = "Run: python -m floe_spark.fetch"
NEEDED = 1_000_000_000  # bytes: the jars, twice while they are fetched, and room for Spark to work


def checks() -> Iterator[Check]:
    """Entry point of the group `floe.doctor`."""
    yield _java()
    yield Check("Spark", f"pyspark {pyspark.__version__}")
    try:
        yield _jars()
        yield from _start()
        yield _cache()
    except FloeError as exc:
        for item in exc.findings:
            yield Check("Spark's jars", item.message, item.fix, item.code)


def _java() -> Check:
    search = search_java()
    skipped = "; ".join(f"skipped {item}" for item in search.skipped)
    if search.java is None:
        return Check("Java", skipped, CODES["FLOE-E700"].fix, "FLOE-E700")
    return Check("Java", f"{search.java}{f'; {skipped}' if skipped else ''}")


def _start() -> Iterator[Check]:
    """A slow start is no defect: what helps is told, and nothing has to be repaired."""
    java, jars = search_java().java, [path for path in find_jars(JARS).values() if path]
    if java and len(jars) == len(JARS):
        slow = f"as slow as Java itself; {FETCH[0].lower()}{FETCH[1:]}"
        yield Check("Spark's start", "prepared" if is_prepared(java, jars) else slow)


def _jars() -> Check:
    named = os.environ.get("FLOE_SPARK_JARS")
    if named:
        ensure_jars()
        return Check("Spark's jars", f"{len(JARS)} of FLOE_SPARK_JARS, hashes checked: {named}")
    missing = [jar for jar, path in find_jars(JARS).items() if path is None]
    if not missing:
        return Check("Spark's jars", f"{len(JARS)} in {jar_folder()}, hashes checked")
    names = ", ".join(f"{jar.file_name} {_state(jar_folder() / jar.group / jar.file_name)}" for jar in missing)
    return Check("Spark's jars", names, FETCH, "FLOE-E701")


def _state(path: Path) -> str:
    return "is damaged" if path.exists() else "is not fetched yet"


def _cache() -> Check:
    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(existing, os.W_OK | os.X_OK) or not existing.is_dir():
        return Check("Cache", f"{folder} cannot be written", CODES["FLOE-E703"].fix, "FLOE-E703")
    free = shutil.disk_usage(existing).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    return Check("Cache", detail, CODES["FLOE-E704"].fix if free < NEEDED else "", "FLOE-E704")
