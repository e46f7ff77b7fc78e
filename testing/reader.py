"""A consumer that never stops looking: polls two tables and a view of a catalog through PyIceberg.

`python reader.py CONFIG EVERY`: CONFIG is JSON, `{"client": {…}, "tables": ["a.b"], "view": "a.c"}`, EVERY seconds.
Each look that differs from the one before is a line of JSON. So is the next look after a line of standard input,
with that line as its `mark`. When standard input ends, so does the reader. Whatever keeps it from reading ends it,
too, with a traceback.
"""

from __future__ import annotations

import gzip
import json
import re
import select
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, NoSuchViewError
from sqlalchemy import text

Json = dict[str, Any]
ABSENT = (NoSuchNamespaceError, NoSuchTableError, NoSuchViewError)
GZIP = b"\x1f\x8b"
MARKER = re.compile(r"\b(\d+) as run\b")  # what the view says, as the tables say it in a column `run`
POINTER = text("SELECT metadata_location FROM iceberg_tables WHERE table_namespace = :space AND table_name = :name")


def look_at_table(catalog: Catalog, name: str) -> Json | None:
    """What it says about itself, and what is really in it."""
    try:
        table = catalog.load_table(name)
    except ABSENT:
        return None
    snapshot = table.current_snapshot()
    counted = snapshot.summary.additional_properties["total-records"] if snapshot and snapshot.summary else "0"
    content = table.scan().to_arrow()
    return {
        "pointer": table.metadata_location,
        "uuid": str(table.metadata.table_uuid),
        "schema": {field.name: str(field.field_type) for field in table.schema().fields},
        "counted": int(counted),
        "rows": content.num_rows,
        "runs": sorted(Counter(content["run"].to_pylist()).items()),
        "least": min(content["level"].to_pylist(), default=None) if "level" in content.column_names else None,
    }


def look_at_view(catalog: Catalog, name: str) -> Json | None:
    """PyIceberg knows no views of SQL catalogs, so there it is the pointer and the file."""
    if isinstance(catalog, SqlCatalog):
        space, _, last = name.rpartition(".")
        with catalog.engine.connect() as connection:
            pointer = connection.execute(POINTER, {"space": space, "name": last}).scalar()
        if pointer is None:
            return None
        said = Path(pointer.removeprefix("file:")).read_bytes()
        metadata = json.loads(gzip.decompress(said) if said.startswith(GZIP) else said)
        current = metadata["current-version-id"]
        [version] = [item for item in metadata["versions"] if item["version-id"] == current]
        sql = version["representations"][0]["sql"]
    else:
        try:
            found = catalog.load_view(name).current_version()
        except ABSENT:
            return None
        pointer, sql = str(found.version_id), found.representations[0].root.sql
    return {"pointer": pointer, "runs": [int(run) for run in MARKER.findall(sql)]}


def pointers(catalog: Catalog, config: Json) -> list[str | None]:
    def pointer(name: str) -> str | None:
        try:
            return catalog.load_table(name).metadata_location
        except ABSENT:
            return None

    view = look_at_view(catalog, config["view"])
    return [*map(pointer, config["tables"]), view["pointer"] if view else None]


def look(catalog: Catalog, config: Json, last: Json) -> Json:
    """One after the other; `together` when they all were like this at one moment, the one between two looks."""
    tables = [look_at_table(catalog, name) for name in config["tables"]]
    seen = [*tables, look_at_view(catalog, config["view"])]
    if last.get("together") and seen == last["seen"]:
        return last
    before = [item["pointer"] if item else None for item in seen]
    return {"seen": seen, "together": before == pointers(catalog, config)}


def main(config: Json, every: float) -> None:
    polls, mark, began = 0, "", time.monotonic()
    last: Json = {}
    with load_catalog("floe", **config["client"]) as catalog:
        while True:
            start = time.monotonic()
            now = look(catalog, config, last)
            polls += 1
            if mark or now != last:
                told = {"mark": mark, "polls": polls, "seconds": round(start - began, 3), **now}
                print(json.dumps(told), flush=True)
            last, mark = now, ""
            rest = max(0.0, start + every - time.monotonic())
            if select.select([sys.stdin], [], [], rest)[0]:
                mark = sys.stdin.readline().strip()
                if not mark:
                    return


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), float(sys.argv[2]))
