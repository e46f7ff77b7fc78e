"""A product whose runs are numbered, on a real catalog, and a reader that polls it: for `test_readers.py`.

The number of a run is in every row that it adds to `gold_log`, in all rows of `gold_state`, and in the SQL of the
view `gold_newest`. So whatever a reader sees tells which run it is of.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import IO, Any

import pyarrow as pa
from pyiceberg.catalog import load_catalog

from floe_spark.product import prepare
from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.proxy import Proxy, fault_proxy

Json = dict[str, Any]
FLOE = Path(sys.executable).with_name("floe")
READER = Path(__file__).with_name("reader.py")
EVERY = 0.05  # seconds
PATIENCE = 60.0  # until a reader must have seen something, on a busy machine
EACH = 100  # rows that a run adds to the log
GOLD = "sales.gauge.gold"
LOG, STATE, NEWEST = (f"{GOLD}.gold_{name}" for name in ("log", "state", "newest"))

FILES = {
    "manifest.yaml": """\
        apiVersion: floe.dev/v1
        kind: Manifest
        metadata: {name: acme, version: "1.0"}
        scope: enterprise
        plugins:
          compute:
            type: spark
            config:
              master: local[1]
              conf: {spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1, spark.sql.shuffle.partitions: "1"}
          catalog: CATALOG
        data_architecture: {pattern: medallion}
        data_contracts: {enforcement: block}
    """,
    "gauge/floe.yaml": """\
        apiVersion: floe.dev/v1
        kind: DataProduct
        metadata: {name: gauge, version: "1.0", domain: sales, owner: a@acme.com}
        platform: ../manifest.yaml
        transforms: [{type: dbt, path: models}]
    """,
    "gauge/dbt_project.yml": """\
        name: gauge
        version: "1.0"
        config-version: 2
    """,
    "gauge/models/gold_log.sql": """\
        {{ config(materialized='incremental', incremental_strategy='append',
                  on_schema_change='append_new_columns') }}
        select cast({{ var('run', 0) }} as int) as run, id from range(100)
    """,
    "gauge/models/gold_state.sql": """\
        {{ config(materialized='table') }}
        select cast({{ var('run', 0) }} as int) as run, id, cast({{ var('level', 1) }} as int) as level
        from {{ ref('gold_log') }}
    """,
    "gauge/models/gold_newest.sql": """\
        {{ config(materialized='view') }}
        select {{ var('run', 0) }} as run, max(id) as id from {{ ref('gold_state') }}
    """,
    "gauge/contracts/state.yaml": """\
        apiVersion: v3.1.0
        kind: DataContract
        id: state
        name: state
        version: 1.0.0
        status: active
        team: {name: a, members: [{username: a@acme.com, role: owner}]}
        schema:
          - name: gold_state
            properties:
              - {name: run, logicalType: integer, physicalType: int}
              - {name: id, logicalType: integer, physicalType: bigint}
              - {name: level, logicalType: integer, physicalType: int, logicalTypeOptions: {minimum: 0}}
    """,
}
WIDER = ((LOG, "id from", "id, 'x' as label from"), (STATE, "id, cast", "id, label, cast"))


@dataclass
class Reader:
    """The reader's process and its log so far; `mark` ends a chapter of it."""

    process: subprocess.Popen[str]
    log: list[Json] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)

    @property
    def input(self) -> IO[str]:
        assert self.process.stdin
        return self.process.stdin

    def listen(self) -> None:
        for line in self.process.stdout or ():
            with self.arrived:
                self.log.append(json.loads(line))
                self.arrived.notify_all()

    def wait_for(self, what: Callable[[Json], bool]) -> None:
        """Until a look shows it."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(map(what, self.log)), PATIENCE), self.log[-1:]

    def mark(self, chapter: str) -> list[Json]:
        """One more look, so that nothing of this chapter is unseen; then all that the chapter has shown."""
        self.input.write(f"{chapter}\n")
        self.input.flush()
        self.wait_for(lambda look: look["mark"] == chapter)
        marks = [number for number, look in enumerate(self.log) if look["mark"]]
        return self.log[marks[-2] if len(marks) > 1 else 0 :]


@contextmanager
def reading(client: dict[str, str], errors: Path) -> Iterator[Reader]:
    """A reader that ends with its standard input, and must end well."""
    config = {"client": client, "tables": [LOG, STATE], "view": NEWEST}
    command = [sys.executable, str(READER), json.dumps(config), str(EVERY)]
    with (
        errors.open("wb") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, encoding="utf-8"
        ) as process,
    ):
        reader = Reader(process)
        listener = threading.Thread(target=reader.listen)
        listener.start()
        try:
            yield reader
        finally:
            with suppress(BrokenPipeError):  # it has ended already; why is said below
                reader.input.close()
            listener.join()
            lines = "".join(f"{json.dumps(look)}\n" for look in reader.log)
            errors.with_name("looks.jsonl").write_text(lines, encoding="utf-8")
    assert process.returncode == 0, errors.read_text(encoding="utf-8")


@dataclass(frozen=True)
class World:
    """A product on one kind of catalog; `client` is how PyIceberg gets to it without floe."""

    home: Path
    client: dict[str, str]
    proxy: Proxy | None = None  # between floe and a REST catalog

    @property
    def product(self) -> Path:
        return self.home / "gauge"

    @property
    def record(self) -> Json:
        found: Json = json.loads((self.product / "target" / "floe" / "run_results.json").read_text())
        return found

    def make(self, catalog: Json) -> None:
        for name, text in FILES.items():
            path = self.home / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(dedent(text).replace("CATALOG", json.dumps(catalog)), encoding="utf-8")
        prepare(self.product).catalog.prepare()  # there is something to poll from the beginning

    def widen(self) -> None:
        """A new column in both tables."""
        for table, old, new in WIDER:
            path = self.product / "models" / f"{table.rpartition('.')[2]}.sql"
            text = path.read_text(encoding="utf-8")
            assert text.count(old) == 1
            path.write_text(text.replace(old, new), encoding="utf-8")

    def append(self) -> None:
        """What another writer does to the log."""
        with load_catalog("floe", **self.client) as catalog:
            table = catalog.load_table(LOG)
            table.append(pa.table({"run": [0]}, schema=pa.schema([("run", pa.int32())])))

    @contextmanager
    def started(self, *args: str) -> Iterator[subprocess.Popen[str]]:
        command = [str(FLOE), "run", str(self.product), *args]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", cwd=self.home
        ) as process:
            yield process

    def run(self, number: int, *, level: int = 1) -> int:
        with self.started(*variables(number, level)) as process:
            process.communicate()
        return process.returncode

    def sweep(self) -> None:
        with self.started("--sweep") as process:
            process.communicate()
        assert process.returncode == 0
        assert not list((self.home / ".floe" / "runs").glob("*/*/"))


def variables(number: int, level: int = 1) -> tuple[str, ...]:
    return ("--vars", json.dumps({"run": number, "level": level}))


def wait_for_line(process: subprocess.Popen[str], words: str) -> str:
    """Until the run says this; returns all that it has said."""
    said = ""
    for line in process.stderr or ():
        said += line
        if words in line:
            return said
    raise AssertionError(said)


@contextmanager
def on_sqlite(home: Path) -> Iterator[World]:
    where = home / ".floe"
    client = {
        "type": "sql",
        "uri": f"sqlite:///{where / 'catalog.db'}?timeout=10",
        "warehouse": (where / "warehouse").as_uri(),
        "init_catalog_tables": "false",
    }
    world = World(home, client)
    world.make({"type": "sql", "config": {}})
    yield world


@contextmanager
def on_rest(home: Path) -> Iterator[World]:
    with required(), iceberg_rest(home / "server") as uri, fault_proxy(uri) as proxy:
        world = World(home, {"type": "rest", "uri": uri, "view-endpoints-supported": "true"}, proxy)
        world.make({"type": "rest", "config": {"uri": proxy.uri, "timeout": "7s"}})
        yield world
