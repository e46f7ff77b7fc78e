"""The reference implementation of Iceberg's REST catalog, started for tests over SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path

from floe_testing.services.java import java_command, read_jars
from floe_testing.services.process import running

OPTIONS = (
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",  # a server that lives for seconds
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


@contextmanager
def iceberg_rest(folder: Path, database: str = "", name: str = "floe") -> Iterator[str]:
    """A REST catalog whose warehouse is in `folder`; gives its URI.

    `database` is a JDBC address (`jdbc:postgresql://…?user=…`); without one, a SQLite file in `folder`.
    Raises ServiceUnavailable when this machine cannot fetch the server.
    """
    folder.mkdir(parents=True, exist_ok=True)
    here = files("floe_testing.services")
    jars = read_jars(here.joinpath("iceberg_rest.jars").read_text(encoding="utf-8"))
    with as_file(here.joinpath("IcebergRestServer.java")) as source:
        java = java_command(source, jars, OPTIONS)
    where = database or f"jdbc:sqlite:{folder / 'catalog.db'}?journal_mode=WAL&busy_timeout=30000"
    warehouse = (folder / "warehouse").as_uri()
    with running([*java, name, f"uri={where}", f"warehouse={warehouse}"], folder / "server.log") as port:
        yield f"http://127.0.0.1:{port}"
