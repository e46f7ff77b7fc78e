"""How long 60 checks of a contract take on a table of 20 columns, on one Spark session.

floe answers what Iceberg's metadata knows exactly, reads the rest in one pass, and after an append only what came.
It is compared with a pass that a person would write for the same 60 answers, and with datacontract-cli.

    python -m testing.benchmarks.checks [ROWS]
"""

from __future__ import annotations

import logging
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml
from datacontract.data_contract import DataContract
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession
from testing.benchmarks._peers import UV, home_of, made, say, without

from floe_contracts.meaning import understand
from floe_contracts.read import parse_draft
from floe_core.contract import Contract
from floe_core.verdicts import Answered, TableVerdict
from floe_spark.checks import Located, Subject, check_contracts
from floe_spark.session import SparkCatalog, start_engine
from floe_spark.settings import SparkSettings

IBIS = ("ibis-framework==12.0.0", "pyarrow-hotfix==0.7")  # what `datacontract test` needs beyond its own install
ROWS = 5_000_000
ROUNDS = 5
CHECKS = 60
DEMANDED = {"hand-written": 1.0, "datacontract": 1.4, "append": 10.0}
TABLE = "events"
INTS, DECIMALS, DAYS, TIMES = ("i1", "i2", "i3", "i4"), ("d1", "d2", "d3", "d4"), ("y1", "y2"), ("t1", "t2", "t3")
PATTERNS = {"s1": "^[a-z]{3}-[0-9]+$", "s2": "^[0-9a-f]{8}$"}
WORDS = ["new", "paid", "sent", "done"]
# What datacontract-cli calls each metric.
THEIRS = {
    "field_required": "nullValues",
    "field_primary_key_required": "nullValues",
    "field_null_values": "nullValues",
    "field_primary_key_unique": "duplicateValues",
    "field_minimum": "minimum",
    "field_maximum": "maximum",
    "field_max_length": "maxLength",
    "field_regex": "invalidValues",
    "field_invalid_values": "invalidValues",
    "row_count": "rowCount",
    "servicelevel_freshness": "freshness",
}


def main() -> int:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    logging.disable(logging.CRITICAL)  # datacontract-cli tells of every check
    if not add_ibis():
        return without("datacontract-cli")
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder)
        with start_engine(catalog_of(lake), lake / "work", SparkSettings()) as engine:
            held = show(rows, measure(engine.session(), lake, rows))
    return 0 if held else 1


def add_ibis() -> bool:
    """Put ibis behind everything that is installed here, so that nothing of floe's changes its version."""
    folder = home_of(IBIS[0])
    step = [UV, "pip", "install", "--python", sys.executable, "--target", str(folder), *IBIS]
    if not made(folder, " ".join(IBIS), step):
        return False
    sys.path.append(str(folder))
    return True


def catalog_of(lake: Path) -> SparkCatalog:
    at = "spark.sql.catalog.floe"
    conf = {
        at: "org.apache.iceberg.spark.SparkCatalog",
        f"{at}.type": "jdbc",
        f"{at}.uri": f"jdbc:sqlite:{lake}/catalog.db",
        f"{at}.warehouse": (lake / "warehouse").as_uri(),
        f"{at}.jdbc.schema-version": "V1",
    }
    return SparkCatalog("floe", conf, "shop")


def rows_from(first: int, count: int) -> str:
    """Rows that keep every promise but one."""
    columns = [
        "id",
        *(f"cast(id * {number + 3} % 100000 AS int) AS {name}" for number, name in enumerate(INTS)),
        *(f"cast(id % {number + 900} / 8 AS decimal(12,3)) AS {name}" for number, name in enumerate(DECIMALS)),
        *(f"date_add(DATE'2024-01-01', cast(id % {at + 300} AS int)) AS {name}" for at, name in enumerate(DAYS)),
        *(f"timestamp_micros(1735689600000000 + id * {number + 7}) AS {name}" for number, name in enumerate(TIMES)),
        "concat('abc-', id) AS s1",
        "lower(lpad(hex(id), 8, '0')) AS s2",
        f"element_at(array({', '.join(map(repr, WORDS))}), cast(id % 4 AS int) + 1) AS s3",
        f"element_at(array({', '.join(map(repr, WORDS))}), cast(id % 3 AS int) + 1) AS s4",
        "concat('row number ', id) AS s5",
        "id / 7.0D AS f1",
    ]
    return f"SELECT {', '.join(columns)} FROM range({first}, {first + count})"  # noqa: S608 - our own words


def document() -> dict[str, Any]:
    """The contract: 20 columns, 60 checks, no two of one metric that datacontract-cli would mix up."""

    def column(name: str, logical: str, **more: Any) -> dict[str, Any]:
        return {"name": name, "logicalType": logical, **({} if name == "id" else {"required": True}), **more}

    def within(low: Any, high: Any) -> dict[str, Any]:
        return {"logicalTypeOptions": {"minimum": low, "maximum": high}}

    few_nulls = [{"metric": "nullValues", "unit": "percent", "mustBeLessThan": 1}]
    on_a_session = {"property": "customType", "value": "dataframe"}
    words = {"metric": "invalidValues", "mustBe": 0, "arguments": {"validValues": WORDS}}
    columns = [
        column("id", "integer", primaryKey=True, **within(0, 10**12)),
        *(column(name, "integer", **within(0, 10**6)) for name in INTS),
        *(column(name, "number", physicalType="decimal(12,3)", **within(0, 1000)) for name in DECIMALS),
        *(column(name, "date", **within("2024-01-01", "2025-12-31")) for name in DAYS),
        *(column(name, "timestamp", **within("2025-01-01T00:00:00Z", "2026-12-31T00:00:00Z")) for name in TIMES),
        column("s1", "string", logicalTypeOptions={"pattern": PATTERNS["s1"]}, quality=few_nulls),
        column("s2", "string", logicalTypeOptions={"pattern": PATTERNS["s2"], "maxLength": 8}, quality=few_nulls),
        *(column(name, "string", quality=[words]) for name in ("s3", "s4")),
        column("s5", "string", logicalTypeOptions={"maxLength": 40}),
        column("f1", "number", logicalTypeOptions={"maximum": 1000}),  # the promise that is broken
    ]
    return {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "events",
        "version": "1.0.0",
        "status": "active",
        "servers": [{"server": "spark", "type": "custom", "customProperties": [on_a_session]}],
        "schema": [
            {"name": TABLE, "properties": columns, "quality": [{"metric": "rowCount", "mustBeGreaterThan": 0}]}
        ],
        "slaProperties": [{"property": "freshness", "value": 9000, "unit": "d", "element": f"{TABLE}.t1"}],
    }


def by_hand() -> tuple[str, str]:
    """The same answers as a person would ask for them: one aggregation, and the duplicates by themselves."""
    names = ["id", *INTS, *DECIMALS, *DAYS, *TIMES, "s1", "s2", "s3", "s4", "s5", "f1"]
    bounds = ["id", *INTS, *DECIMALS, *DAYS, *TIMES]
    asked = [
        "count(*)",
        *(f"sum(if({name} IS NULL, 1, 0))" for name in names),
        *(f"{how}({name})" for name in bounds for how in ("min", "max")),
        *(f"sum(if(NOT {name} RLIKE '{pattern}', 1, 0))" for name, pattern in PATTERNS.items()),
        *(f"sum(if({name} NOT IN ({', '.join(map(repr, WORDS))}), 1, 0))" for name in ("s3", "s4")),
        *(f"max(length({name}))" for name in ("s2", "s5")),
        "max(f1)",
    ]
    table = f"floe.shop.{TABLE}"
    keys = f"SELECT 1 FROM {table} WHERE id IS NOT NULL GROUP BY id HAVING count(1) > 1"  # noqa: S608
    return f"SELECT {', '.join(asked)} FROM {table}", f"SELECT count(1) FROM ({keys})"  # noqa: S608


def measure(session: SparkSession, lake: Path, rows: int) -> dict[str, list[float]]:
    session.sql("CREATE NAMESPACE shop")
    say(f"writing {rows:,} rows")
    session.sql(f"CREATE TABLE shop.{TABLE} USING iceberg AS {rows_from(0, rows)}")
    catalog = SqlCatalog("floe", uri=f"sqlite:///{lake}/catalog.db", warehouse=(lake / "warehouse").as_uri())
    text = yaml.safe_dump(document())
    contract = understand(parse_draft(text.encode(), "events.yaml")[0])
    times: dict[str, list[float]] = {}
    for number in range(ROUNDS + 1):
        say(f"round {number} of {ROUNDS}")
        memory = lake / "memory" / str(number)
        ours, taken = one_round(session, catalog, contract, text, memory)
        first = rows + number * (rows // 100)
        session.sql(f"INSERT INTO floe.shop.{TABLE} {rows_from(first, rows // 100)}")
        appended, taken["append"] = timed(partial(check, session, catalog, contract, memory))
        assert appended.cost.read == "added files", appended.cost
        assert [item.passed for item in appended.results] == [item.passed for item in ours.results]
        if number:  # the first round warms Java
            for name, seconds in taken.items():
                times.setdefault(name, []).append(seconds)
    answered = Counter(item.source for item in ours.results)
    quick = ours.cost.metadata * 1e3
    print(f"{answered[Answered.METADATA]} of {CHECKS} checks answered by metadata in {quick:.1f} ms")
    return times


def one_round(
    session: SparkSession, catalog: SqlCatalog, contract: Contract, text: str, memory: Path
) -> tuple[TableVerdict, dict[str, float]]:
    """All three on the table as it is; floe with an empty memory."""
    session.table(f"floe.shop.{TABLE}").createOrReplaceTempView(TABLE)
    _, by_person = timed(lambda: [session.sql(query).collect() for query in by_hand()])
    promised = DataContract(data_contract_str=text, spark=session, inline_references=False)
    theirs, by_them = timed(promised.test)
    ours, by_floe = timed(lambda: check(session, catalog, contract, memory))
    agree(ours, theirs)
    return ours, {"hand-written": by_person, "datacontract": by_them, "floe": by_floe}


def timed(act: Callable[[], Any]) -> tuple[Any, float]:
    started = perf_counter()
    found = act()
    return found, perf_counter() - started


def check(session: SparkSession, catalog: SqlCatalog, contract: Contract, memory: Path) -> TableVerdict:
    subject = Subject(contract, {TABLE: Located(("shop", TABLE))})
    [verdict] = check_contracts(session, catalog, [subject], memory, datetime.now(UTC))
    return verdict


def agree(ours: TableVerdict, theirs: Any) -> None:
    """Both must have answered all checks, and alike."""
    mine = Counter((item.check.column, item.check.metric, item.passed) for item in ours.results)
    others = Counter(
        (item.field or "", THEIRS[item.type], {"passed": True, "failed": False}.get(str(item.result.value)))
        for item in theirs.checks
        if item.type in THEIRS
    )
    assert mine.total() == CHECKS, mine.total()
    assert mine == others, (mine - others, others - mine)
    failed = [key for key in mine if not key[2]]
    assert failed == [("f1", "maximum", False)], failed


def show(rows: int, times: dict[str, list[float]]) -> bool:
    """Print medians and ratios; whether every demanded ratio holds."""
    took = {name: statistics.median(found) for name, found in times.items()}
    ratios = {
        "hand-written": took["hand-written"] / took["floe"],
        "datacontract": took["datacontract"] / took["floe"],
        "append": took["floe"] / took["append"],
    }
    print(f"{rows:,} rows × 20 columns, {CHECKS} checks")
    print(f"{'':14}{'median':>10}{'fastest':>11}")
    for name, found in times.items():
        print(f"{name:14}{took[name]:8.2f} s{min(found):9.2f} s")
    for name, words in (
        ("hand-written", "a hand-written pass to floe"),
        ("datacontract", "datacontract-cli to floe"),
        ("append", "floe to floe after an append of 1 %"),
    ):
        mark = "✓" if ratios[name] >= DEMANDED[name] else "✗"
        print(f"{words:38}{ratios[name]:6.2f}× {mark} demanded: at least {DEMANDED[name]:g}")
    return all(ratios[name] >= least for name, least in DEMANDED.items())


if __name__ == "__main__":
    sys.exit(main())
