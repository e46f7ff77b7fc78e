"""Contract checks on Spark and Iceberg: the verdicts of a full scan, for as little as possible."""

from __future__ import annotations

import json
import math
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest
from promises import Bench, column, contract, rule
from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import Row, SparkSession
from pyspark.sql.functions import col

from floe_core.verdicts import Answered, TableVerdict
from floe_spark.checks import Located, Subject, check_contracts

T = TypeVar("T")
NOW = datetime(2026, 6, 1, tzinfo=UTC)
MERGE_ON_READ = "'write.delete.mode'='merge-on-read', 'write.merge.mode'='merge-on-read'"
FIELDS = (
    "id bigint, name string, amount decimal(10,2), share double, at timestamp, tags array<string>, a struct<x:int>"
)


@pytest.fixture(scope="module")
def catalog(lake: Path) -> Iterator[SqlCatalog]:
    opened = SqlCatalog("floe", uri=f"sqlite:///{lake}/catalog.db", warehouse=(lake / "warehouse").as_uri())
    yield opened
    opened.close()


@pytest.fixture
def bench(spark: SparkSession, catalog: SqlCatalog, tmp_path: Path) -> Bench:
    namespace = ("sales", f"c{secrets.token_hex(4)}")
    spark.sql("create namespace if not exists sales")
    spark.sql(f"create namespace {'.'.join(namespace)}")
    return Bench(spark, catalog, namespace, tmp_path / "memory")


def counted(spark: SparkSession, act: Callable[[], T]) -> tuple[T, int]:
    """What an action gives, and how many jobs of Spark it started."""
    context, group = spark.sparkContext, secrets.token_hex(4)
    context.setJobGroup(group, "counted")
    try:
        found = act()
    finally:
        context.setJobGroup("", "")
    context._jsc.sc().listenerBus().waitUntilEmpty()  # Spark counts its jobs a little later
    return found, len(context.statusTracker().getJobIdsForGroup(group))


PROMISED = contract(
    column("id", "integer", required=True, unique=True, logicalTypeOptions={"minimum": 1, "maximum": 10**6}),
    column(
        "name",
        "string",
        rule("missingValues", arguments={"missingValues": [None, "n/a"]}),
        rule("invalidValues", arguments={"pattern": "^(?:n[0-9]+|é)$"}),
        rule("invalidValues", arguments={"pattern": "^(n|[a-z])+[0-9]*$"}),
        rule("invalidValues", arguments={"validValues": ["n1", "n2", "n3"]}, unit="percent", mustBeLessThan=50),
        rule("duplicateValues", mustBeLessThan=3),
        logicalTypeOptions={"minLength": 1, "maxLength": 30},
    ),
    column("amount", "number", physicalType="decimal(10,2)", logicalTypeOptions={"minimum": 0.1, "maximum": 99}),
    column("share", "number", logicalTypeOptions={"minimum": 0, "maximum": 99}),
    column("at", "timestamp", logicalTypeOptions={"maximum": "2026-05-01T00:00:00Z"}),
    column("tags", "array", items=column("", required=True, unique=True), logicalTypeOptions={"maxItems": 2}),
    column("a", "object", properties=[column("x", "integer", required=True, logicalTypeOptions={"maximum": 9})]),
    rules=[
        rule("rowCount", mustBeGreaterThan=3),
        rule("duplicateValues", arguments={"properties": ["name", "amount"]}),
        {"type": "sql", "query": "select max(id) - min(id) from ${table}", "mustBeLessThan": 100},
    ],
    slaProperties=[{"property": "freshness", "value": "30d", "element": "t.at"}],
)


def scan(rows: list[Row]) -> list[Any]:
    """What the checks of PROMISED must measure, by plain Python over all rows, in the order of the contract."""

    def values(name: str) -> list[Any]:
        return [row[name] for row in rows if row[name] is not None]

    def edges(found: list[Any]) -> list[Any]:
        ordered = sorted(found, key=lambda item: (item != item, 0 if item != item else item))
        return [ordered[-1] if ordered else None, ordered[0] if ordered else None]  # maximum stands before minimum

    def repeated(*names: str) -> int:
        keys = [tuple(row[name] for name in names) for row in rows]
        return sum(count > 1 for key, count in Counter(keys).items() if None not in key)

    names, times = values("name"), [moment.replace(tzinfo=UTC) for moment in values("at")]
    lists, inner = values("tags"), [item["x"] for item in values("a")]
    full = [[tag for tag in tags if tag is not None] for tags in lists]
    legal = sum(name in ("n1", "n2", "n3") for name in names)
    return [
        (NOW - max(times)).total_seconds() if times else None,
        len(rows) - len(values("id")),
        repeated("id"),
        *edges(values("id")),
        max(map(len, names), default=None),
        min(map(len, names), default=None),
        *edges(values("amount")),
        *edges(values("share")),
        max(times, default=None),
        max(map(len, lists), default=None),
        sum(None in tags for tags in lists),
        sum(len(set(tags)) < len(tags) for tags in full),
        sum(x is None for x in inner),
        max((x for x in inner if x is not None), default=None),
        len(rows),
        repeated("name", "amount"),
        max(values("id")) - min(values("id")) if values("id") else None,
        sum(row["name"] in (None, "n/a") for row in rows),
        sum(not re.search(r"^(?:n[0-9]+|é)$", name) for name in names),
        sum(not re.search(r"^(n|[a-z])+[0-9]*$", name) for name in names),
        100 * (len(names) - legal) / max(len(rows), 1),
        repeated("name"),
    ]


def some_rows(choice: random.Random, count: int) -> list[tuple[Any, ...]]:
    def row() -> tuple[Any, ...]:
        number = choice.randint(-2, 400)
        return (
            choice.choice([None, number, number, number]),
            choice.choice([None, "n/a", "", "é", f"n{number % 7}", f"n{number}", "x" * 200 + str(number % 3)]),
            choice.choice([None, Decimal(number) / 10]),
            choice.choice([None, math.nan, number / 3]),
            choice.choice([None, datetime(2026, 3, 1) + timedelta(hours=number)]),
            choice.choice([None, [], ["a", None], ["a", "b"], ["a", "a", None]]),
            choice.choice([None, (None,), (number % 12,)]),
        )

    return [row() for _ in range(count)]


def test_every_way_to_change_a_table_gives_the_verdicts_of_a_full_scan(bench: Bench) -> None:
    choice = random.Random(20260601)  # noqa: S311 - the same sequence every time
    bench.sql(f"create table {{t}} ({FIELDS}) using iceberg tblproperties ({MERGE_ON_READ})")
    added = 0

    def append() -> None:
        frame = bench.spark.createDataFrame(some_rows(choice, choice.randint(1, 12)), FIELDS)
        frame.coalesce(1).writeTo(f"{bench.at}.t").append()

    changes: dict[str, Any] = {
        "append": append,
        "delete some": lambda: bench.sql("delete from {t} where id % 5 = 3"),
        "compact": lambda: bench.spark.sql(
            f"call floe.system.rewrite_data_files(table => '{'.'.join(bench.namespace)}.t', "
            "options => map('rewrite-all', 'true', 'delete-file-threshold', '1'))"
        ),
        "overwrite": lambda: bench.sql("insert overwrite {t} select * from {t} where share is null or id > 50"),
        "update": lambda: bench.sql("update {t} set share = 7.5 where id > 200"),
        "replace": lambda: bench.sql("create or replace table {t} using iceberg as select * from {t}"),
        "property": lambda: bench.sql("alter table {t} set tblproperties ('note'='x')"),
    }
    fixed = ["append", "append", "append", "delete some", "append", "compact", "append", "append", "overwrite"]
    drawn = choice.choices(list(changes), weights=[6, 1, 1, 1, 1, 1, 1], k=9)
    read = Counter[str]()
    for change in ["property", *fixed, "append", "replace", "append", *drawn]:
        changes[change]()
        verdict = bench.check(PROMISED, now=NOW)
        rows = bench.spark.table(f"{bench.at}.t").collect()
        measured = [item.value for item in verdict.results]
        expected = scan([Row(**{**row.asDict(), "at": in_utc(row["at"])}) for row in rows])
        assert [str(value) for value in measured] == [str(value) for value in expected], change
        read[verdict.cost.read] += 1
        added += change == "append"
    assert read["added files"] >= 4
    assert read["nothing"] + read["all rows"] >= 4


def in_utc(moment: datetime | None) -> datetime | None:
    """Spark gives times on the clock of this machine."""
    return moment and moment.astimezone(UTC).replace(tzinfo=None)


def test_what_metadata_knows_starts_no_job(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select id, string(id) name, current_timestamp() at from range(50)")
    promised = contract(
        column(
            "id", "integer", rule("nullValues", unit="percent", mustBeLessThan=1), primaryKey=False, required=True
        ),
        column("name", required=True),
        column("at", "timestamp"),
        rules=[rule("rowCount", mustBe=50)],
        slaProperties=[
            {"property": "freshness", "value": "6h"},
            {"property": "freshness", "value": "6h", "element": "t.at"},
            {"property": "availability", "value": "99%"},
        ],
    )
    verdict, jobs = counted(bench.spark, lambda: bench.check(promised))
    assert [(item.passed, item.source) for item in verdict.results] == [(True, Answered.METADATA)] * 7
    assert (jobs, verdict.cost.read) == (0, "nothing")
    sized = contract(column("name", logicalTypeOptions={"minLength": 1}))
    _, jobs = counted(bench.spark, lambda: bench.check(sized))
    assert jobs > 0  # this way of counting sees jobs


def test_a_table_of_several_contracts_is_read_once(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select id, concat('n', id) name from range(20)")
    place = {"t": Located((*bench.namespace, "t"))}
    loose = contract(column("name", unique=True, logicalTypeOptions={"minLength": 2}))
    strict = contract(
        column("id", "integer", required=True), column("name", unique=True, logicalTypeOptions={"minLength": 3})
    )

    def check(memory: str, *subjects: Subject) -> Callable[[], list[TableVerdict]]:
        return lambda: check_contracts(bench.spark, bench.catalog, subjects, bench.memory / memory, NOW)

    _, of_one = counted(bench.spark, check("one", Subject(loose, place)))
    several = (Subject(loose, place), Subject(loose, {}), Subject(strict, place))
    verdicts, of_all = counted(bench.spark, check("all", *several))
    assert of_all == of_one > 0
    assert [verdict.contract for verdict in verdicts] == [subject.contract for subject in several]
    assert [[(item.check.id, item.passed) for item in verdict.results] for verdict in verdicts] == [
        [("t.name:duplicateValues", True), ("t.name:minLength", True)],
        [("t.name:duplicateValues", None), ("t.name:minLength", None)],
        [("t.id:nullValues", True), ("t.name:duplicateValues", True), ("t.name:minLength", False)],
    ]
    assert {finding.code for finding in verdicts[1].findings} == {"FLOE-E741"}
    again, jobs = counted(bench.spark, check("all", *several))
    assert ([verdict.cost.read for verdict in again], jobs) == (["nothing"] * 3, 0)


def test_the_same_snapshot_is_not_read_twice_and_appends_only_once(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select id, concat('n', id) name from range(100)")
    promised = contract(column("id", "integer", primaryKey=True), column("name", unique=True))
    first = bench.check(promised)
    again = bench.check(promised)
    assert (first.cost.read, again.cost.read) == ("all rows", "nothing")
    bench.sql("insert into {t} values (5, 'n5'), (200, 'new'), (201, 'new'), (null, 'n5')")
    appended = bench.check(promised)
    assert appended.cost.read == "added files"
    assert {item.check.id: item.value for item in appended.results} == {
        "t.id:nullValues": 1,
        "t.id:duplicateValues": 1,
        "t.name:duplicateValues": 2,
    }
    bench.sql("insert into {t} values (300, 'n300'), (300, 'n301')")  # beyond every key before
    later = bench.check(promised)
    assert later.cost.read == "added files"
    assert [item.value for item in later.results] == [1, 2, 2]
    for file in bench.memory.iterdir():
        file.write_text(file.read_text().replace("floe-measures/1", "floe-measures/9"))
    assert bench.check(promised).cost.read == "all rows"
    for file in bench.memory.iterdir():
        file.write_bytes(b'{"form": [')
    assert bench.check(promised).cost.read == "all rows"
    [file] = bench.memory.iterdir()
    assert json.loads(file.read_text())["form"] == "floe-measures/1"


def test_columns_beyond_the_hundredth_are_read(bench: Bench) -> None:
    names = [f"c{number}" for number in range(130)]
    bench.sql("create table {t} using iceberg as select " + ", ".join(f"1 as {name}" for name in names))
    bench.sql("insert into {t} select " + ", ".join("null" if name in ("c7", "c120") else "2" for name in names))
    found = bench.check(contract(*(column(name, "integer", required=True) for name in names)))
    failed = [(item.check.column, item.value) for item in found.results if not item.passed]
    assert failed == [("c7", 1), ("c120", 1)]
    assert {item.check.column: item.source for item in found.results}["c7"] is Answered.METADATA
    assert {item.check.column: item.source for item in found.results}["c120"] is Answered.PASS


def test_a_column_that_came_after_the_last_rows_is_null(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select 1 as id")
    bench.sql("alter table {t} add column late string")
    assert bench.values(contract(column("late", required=True, unique=True))) == {
        "t.late:nullValues": 1,
        "t.late:duplicateValues": 0,
    }


def test_an_empty_table_breaks_no_limit(bench: Bench) -> None:
    bench.sql(f"create table {{t}} ({FIELDS}) using iceberg")
    verdict = bench.check(PROMISED, now=NOW)
    assert [item.check.id for item in verdict.results if not item.passed] == [
        "t.at:freshness",
        "t:rowCount",
        "t:sql",
    ]
    assert [item.reason for item in verdict.results if item.passed is None] == ["the query gives NULL"]


def test_a_view_is_read_and_has_no_age_of_its_own(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select id, timestamp'2026-05-31 23:00:00' at from range(5)")
    bench.sql("create view {ns}.v as select if(id = 3, null, id) as id, at from {t}")
    promised = contract(
        column("id", "integer", required=True, logicalTypeOptions={"minimum": 1}),
        column("at", "string"),
        table="v",
        rules=[rule("rowCount", mustBe=5)],
        slaProperties=[
            {"property": "freshness", "value": "6h"},
            {"property": "freshness", "value": "6h", "element": "v.at"},
            {"property": "availability", "value": "99%"},
        ],
    )
    verdict = bench.check(promised, view=True, now=NOW)
    assert [(item.check.metric, item.value, item.passed) for item in verdict.results] == [
        ("freshness", None, None),
        ("freshness", 3600.0, True),
        ("availability", 1, True),
        ("nullValues", 1, False),
        ("minimum", 0, False),
        ("rowCount", 5, True),
    ]
    assert [item.code for item in verdict.drift] == ["FLOE-E530"]


HOSTILE = [
    "a b",
    "a.b",
    "a`b",
    "a'; drop table t; --",
    'a"b',
    "größe",
    "${table}",
    "a{b}",
    "select",
    "-- x",
    "a\\'b",
]


def test_names_and_values_are_never_sql(bench: Bench) -> None:
    named = [col("id").cast("string").alias(name) for name in HOSTILE]  # in SQL, `${table}` would be replaced
    bench.spark.range(3).select(*named).writeTo(f"{bench.at}.t").using("iceberg").create()
    evil = ["0", "x' or '1'='1", "\\", "'); drop table t; --", "\n"]
    promised = contract(
        *(
            column(
                name,
                "string",
                rule("invalidValues", arguments={"validValues": evil}, mustBe=2),
                rule("invalidValues", arguments={"pattern": f"^[012]$|{re.escape(name)}'"}),
                rule("missingValues", arguments={"missingValues": evil}, mustBe=1),
                unique=True,
                required=True,
                logicalTypeOptions={"maxLength": 1},
            )
            for name in HOSTILE
        ),
        rules=[rule("duplicateValues", arguments={"properties": HOSTILE})],
    )
    found = bench.check(promised)
    assert [(item.check.id, item.reason) for item in found.results if not item.passed] == []
    assert bench.spark.table(f"{bench.at}.t").count() == 3


def test_a_pattern_that_would_never_end_ends(bench: Bench) -> None:
    bench.sql("create table {t} using iceberg as select concat(repeat('a', 50000), '!') as c")
    rules = [
        rule("invalidValues", arguments={"pattern": pattern}, mustBe=1)
        for pattern in ("^(a+)+$", "^(a|aa)*$", "^(a|b)*$", r"(a+)+\1$", "(")
    ]
    found = bench.check(contract(column("c", "string", *rules))).results
    assert [item.passed for item in found] == [True, True, True, None, None]
    assert found[3].reason == r"the pattern (a+)+\1$ may never end"
    assert found[4].reason == "the pattern ( is no regular expression"


def test_what_fails_does_not_keep_the_others_from_their_verdict(bench: Bench) -> None:
    bench.sql(
        "create table {t} using iceberg as "
        "select id, array(id) l, string(id) name, string(id) word, string(id) day from range(4)"
    )
    promised = contract(
        column("gone", required=True),
        column("id", "string", logicalTypeOptions={"minLength": 1}),
        column("l", "string", unique=True, logicalTypeOptions={"minLength": 1}),
        column("name", "array", items=column("", "string"), logicalTypeOptions={"maxItems": 3}),
        column(
            "word", "string", rule("invalidValues", arguments={"pattern": "("}), logicalTypeOptions={"maxLength": 1}
        ),
        column("day", "integer", logicalTypeOptions={"minimum": 3}),
    )
    verdict = bench.check(promised)
    assert [(item.check.id, item.passed, item.reason) for item in verdict.results] == [
        ("t.gone:nullValues", None, "there is no column gone"),
        ("t.id:minLength", True, ""),
        ("t.l:duplicateValues", True, ""),
        ("t.l:minLength", None, "array<bigint> has no length"),
        ("t.name:maxItems", None, "string has no items"),
        ("t.word:maxLength", True, ""),
        ("t.day:minimum", None, "string has no minimum"),
        ("t.word:invalidValues", None, "the pattern ( is no regular expression"),
    ]
    assert {item.code for item in verdict.findings} == {"FLOE-E741"}
    assert verdict.findings[0].line == 14


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("select count(*) from ${table} where ${column} is null", ""),
        ("select count(*) from `{table}` where {property} < 0", ""),
        ("select 0.5 - 0.5", ""),
        ("select id from ${table}", "the query gives several rows"),
        ("select id from ${table} where false", "the query gives no row"),
        ("select sum(id) from ${table} where false", "the query gives NULL"),
        ("select count(*), 1 from ${table}", "the query does not give one number"),
        ("select 'x'", "the query does not give one number"),
        ("select 1 / (id - id) from ${table} limit 1", "[DIVIDE_BY_ZERO]"),
        ("select count(*) from nowhere.at.all", "[TABLE_OR_VIEW_NOT_FOUND]"),
    ],
)
def test_a_query_is_worth_one_number_or_nothing(one_table: Bench, query: str, told: str) -> None:
    found = one_table.only(contract(column("id", "integer", {"type": "sql", "query": query, "mustBe": 0})))
    assert found.passed is (None if told else True)
    assert found.reason.startswith(told)


@pytest.fixture(scope="module")
def one_table(spark: SparkSession, catalog: SqlCatalog, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(spark, catalog, ("sales", "one"), tmp_path_factory.mktemp("memory"))
    spark.sql("create namespace if not exists sales")
    spark.sql("create namespace sales.one")
    bench.sql("create table {t} using iceberg as select id from range(3)")
    return bench


def test_a_table_that_is_not_there_has_no_verdict(bench: Bench) -> None:
    promised = contract(
        column("id", "integer", required=True), slaProperties=[{"property": "availability", "value": "99%"}]
    )
    verdict = bench.check(promised)
    assert [(item.check.metric, item.passed, item.reason) for item in verdict.results] == [
        ("availability", False, ""),
        ("nullValues", None, "the table is not there"),
    ]
