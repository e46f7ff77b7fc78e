"""What Spark has to measure for a check, in terms that can be added up when rows are added."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DateType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from floe_core.checks import Check
from floe_iceberg.measures import as_moment
from floe_spark.checks import sql
from floe_spark.checks.columns import Spot, UnmeasurableError, find
from floe_spark.checks.patterns import matching

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMES = (DateType, TimestampType, TimestampNTZType)
_FORM = "1"  # another number when the meaning of a measure changes
Finish: TypeAlias = Callable[["Values"], Any]
Values: TypeAlias = Mapping["Measure", Any]


@dataclass(frozen=True, slots=True)
class Additive:
    """One aggregate over the rows: `sum`, `min` or `max` of an expression."""

    how: str
    expression: str
    instant: bool = False  # counted in microseconds since 1970, in UTC
    slow: bool = False

    @property
    def sql(self) -> str:
        found = f"{self.how}({self.expression})"
        return f"unix_micros({found})" if self.instant else found

    def read(self, value: Any) -> Any:
        """As Python has it. Nothing to add up is zero."""
        if value is None:
            return 0 if self.how == "sum" else None
        return _EPOCH + timedelta(microseconds=value) if self.instant else value

    def combine(self, old: Any, new: Any) -> Any:
        """The value over old and new rows together."""
        if self.how == "sum":
            return old + new
        if old is None or new is None:
            return new if old is None else old
        least, greatest = sorted((old, new), key=_nan_last)
        return least if self.how == "min" else greatest


def _nan_last(value: Any) -> tuple[bool, Any]:
    is_nan = value != value
    return is_nan, 0 if is_nan else value


@dataclass(frozen=True, slots=True)
class Duplicates:
    """How many keys stand in more than one row. A key with a NULL in it is none."""

    columns: tuple[str, ...]
    ranges: bool  # whether the least and the greatest key help to find rows
    names: tuple[str, ...] = ()  # of those columns that stand by themselves, as the table has them

    @property
    def sql(self) -> str:
        return ", ".join(self.columns)


Measure: TypeAlias = Additive | Duplicates
ROWS = Additive("sum", "1")


def fingerprint(measure: Measure) -> str:
    """A short name for a measure that no other measure has."""
    how = measure.how if isinstance(measure, Additive) else "duplicates"
    return hashlib.sha256(f"{_FORM}\0{how}\0{measure.sql}".encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Question:
    """A check, what must be measured for it, and how that becomes its value."""

    check: Check
    needs: tuple[Measure, ...]
    finish: Finish


def question(session: SparkSession, schema: StructType, check: Check, now: datetime) -> Question:
    """What Spark is asked for a check. Raises UnmeasurableError."""
    match check.metric:
        case "rowCount" if not check.arguments:
            return Question(check, (ROWS,), lambda found: found[ROWS])
        case "rowCount":
            raise UnmeasurableError("floe does not know the arguments of this row count")
        case "duplicateValues":
            return _share(check, _duplicates(schema, check))
        case "nullValues" | "missingValues" | "invalidValues":
            return _share(check, _broken(session, find(schema, check.column), check))
        case "freshness" if check.column:
            newest = _extreme(find(schema, check.column), "max", times_only=True)
            return Question(check, (newest,), lambda found: _age(found[newest], now))
        case "freshness":
            raise UnmeasurableError("only a table knows when it last changed; name a column in `element`")
        case "minimum" | "maximum":
            bound = _extreme(find(schema, check.column), check.metric[:3])
            return Question(check, (bound,), lambda found: found[bound])
        case "minLength" | "maxLength" | "minItems" | "maxItems":
            size = _size(find(schema, check.column), check.metric)
            return Question(check, (size,), lambda found: found[size])
    raise UnmeasurableError(f"floe does not measure {check.metric} on Spark")


def _share(check: Check, measure: Measure) -> Question:
    """A count, or how many percent of all rows it is."""
    if not check.percent:
        return Question(check, (measure,), lambda found: found[measure])
    return Question(check, (measure, ROWS), lambda found: 100 * found[measure] / max(found[ROWS], 1))


def _age(newest: date | datetime | None, now: datetime) -> float | None:
    moment = as_moment(newest)
    return None if moment is None else (now - moment).total_seconds()


def _broken(session: SparkSession, spot: Spot, check: Check) -> Additive:
    arguments = dict(check.arguments)
    if check.metric == "invalidValues":
        return _invalid(session, spot, arguments)
    missing = arguments.get("missingValues", ()) if check.metric == "missingValues" else ()

    def is_missing(column: str) -> str:
        named = sql.is_one_of(column, missing, spot.type)
        return f"{column} IS NULL" if named == "false" else f"({column} IS NULL OR {named})"

    return Additive("sum", f"if({sql.breaks(spot, is_missing)}, 1, 0)")


def _invalid(session: SparkSession, spot: Spot, arguments: Mapping[str, Any]) -> Additive:
    """Values that are neither NULL nor what the rule allows."""
    slow = False
    legal: list[Callable[[str], str]] = []
    if "validValues" in arguments:
        legal.append(lambda column: sql.is_one_of(column, arguments["validValues"], spot.type))
    if "pattern" in arguments:
        _, slow = matching(session, str(arguments["pattern"]), "x")
        legal.append(lambda column: _found(session, str(arguments["pattern"]), column, spot.type))
    if slow and spot.in_list:
        raise UnmeasurableError("the pattern may never end, and inside of a list there is no other engine")

    def is_invalid(column: str) -> str:
        return f"{column} IS NOT NULL AND NOT ({' AND '.join(each(column) for each in legal)})"

    return Additive("sum", f"if({sql.breaks(spot, is_invalid)}, 1, 0)", slow=slow)


def _found(session: SparkSession, pattern: str, column: str, kind: DataType) -> str:
    return f"coalesce({matching(session, pattern, _as_text(column, kind))[0]}, false)"


def _as_text(column: str, kind: DataType) -> str:
    return column if isinstance(kind, StringType) else f"CAST({column} AS STRING)"


def _extreme(spot: Spot, how: str, *, times_only: bool = False) -> Additive:
    legal = _TIMES if times_only else (NumericType, *_TIMES)
    if not isinstance(spot.type, legal):
        asked = "an age" if times_only else f"a {how}imum"
        raise UnmeasurableError(f"{spot.type.simpleString()} has no {asked.removeprefix('a ').removeprefix('an ')}")
    return Additive(how, sql.extreme(spot, how), instant=isinstance(spot.type, TimestampType))


def _size(spot: Spot, metric: str) -> Additive:
    how = metric[:3]
    if metric.endswith("Items"):
        if not isinstance(spot.type, ArrayType | MapType):
            raise UnmeasurableError(f"{spot.type.simpleString()} has no items")
        return Additive(how, sql.extreme(spot, how, lambda column: f"if({column} IS NULL, NULL, size({column}))"))
    if isinstance(spot.type, ArrayType | MapType | StructType):
        raise UnmeasurableError(f"{spot.type.simpleString()} has no length")
    plain = isinstance(spot.type, StringType | BinaryType)
    return Additive(how, sql.extreme(spot, how, lambda it: f"length({it if plain else f'CAST({it} AS STRING)'})"))


def _duplicates(schema: StructType, check: Check) -> Measure:
    names = dict(check.arguments).get("properties") or ((check.column,) if check.column else ())
    if not isinstance(names, tuple) or not names:
        raise UnmeasurableError("the rule names no columns")
    spots = [find(schema, str(item)) for item in names]
    if any(spot.in_list for spot in spots):
        if len(spots) > 1:
            raise UnmeasurableError("a list cannot be one of several columns of a key")
        found = sql.items(spots[0])
        return Additive("sum", f"if(coalesce(size(array_distinct({found})) < size({found}), false), 1, 0)")
    if any(isinstance(spot.type, MapType) for spot in spots):
        raise UnmeasurableError("maps cannot be compared")
    ordered = [spot for spot in spots if len(spot.path) == 1 and not isinstance(spot.type, ArrayType | StructType)]
    plain = len(ordered) == len(spots) == 1 and spots[0].type.simpleString() not in ("float", "double", "binary")
    names = tuple(spot.path[0] for spot in spots if len(spot.path) == 1)
    return Duplicates(tuple(sql.name(*spot.path) for spot in spots), plain, names)
