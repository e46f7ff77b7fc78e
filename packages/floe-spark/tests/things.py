"""What the tests of this folder share: a jar of a few bytes, and a catalog in a SQLite file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from floe_core.catalog import Jar
from floe_spark.session import SparkCatalog

FakeJava = Callable[..., Path]
CONTENT = b"the bytes of a jar"
THING = Jar("org.example:thing:1.0", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


def sqlite_catalog(folder: Path, namespace: str | None = None) -> SparkCatalog:
    """An Iceberg catalog named floe in a SQLite file."""
    at = "spark.sql.catalog.floe"
    conf = {
        at: "org.apache.iceberg.spark.SparkCatalog",
        f"{at}.type": "jdbc",
        f"{at}.uri": f"jdbc:sqlite:{folder}/catalog.db",
        f"{at}.warehouse": (folder / "warehouse").as_uri(),
        f"{at}.jdbc.schema-version": "V1",
    }
    return SparkCatalog("floe", conf, namespace)
