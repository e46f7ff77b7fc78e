"""Pieces of SQL that hold what contracts and tables say, as nothing but names and values.

Names are quoted. Texts are written in hexadecimal: no setting of Spark's parser can make them anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import DataType

from floe_core.table import ITEM, KEY, VALUE
from floe_spark.checks.columns import Spot

SUBSTITUTE = "spark.sql.variable.substitute"
Build = Callable[[str], str]
_LISTS = {ITEM: "{0}", KEY: "map_keys({0})", VALUE: "map_values({0})"}


@contextmanager
def as_written(session: SparkSession) -> Iterator[None]:
    """Let Spark read SQL as it stands: otherwise it replaces `${…}`, also inside of a quoted name."""
    before = session.conf.get(SUBSTITUTE)
    session.conf.set(SUBSTITUTE, "false")
    try:
        yield
    finally:
        session.conf.set(SUBSTITUTE, before or "true")


def name(*parts: str) -> str:
    """A name of a relation or a column."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in parts)


def text(value: str) -> str:
    """A text."""
    return f"CAST(X'{value.encode('utf-8', 'replace').hex()}' AS STRING)"


def value_of(value: Any, kind: DataType) -> str:
    """A value of a contract as one of a column's type; NULL when it is none."""
    written = str(value).lower() if isinstance(value, bool) else str(value)
    spelt = kind.simpleString()
    return text(written) if spelt == "string" else f"try_cast({text(written)} AS {spelt})"


def is_one_of(column: str, values: Iterable[Any], kind: DataType) -> str:
    """Whether a column has one of the values; NULL among them counts for nothing."""
    listed = [value_of(value, kind) for value in values if value is not None]
    return f"coalesce({column} IN ({', '.join(listed)}), false)" if listed else "false"


def breaks(spot: Spot, build: Build) -> str:
    """Whether a row breaks a rule at a column; with lists on the way, whether one of the items does.

    Inside of an object that is not there, nothing is missing.
    """

    def at(base: str, steps: tuple[str, ...], parent: str) -> str:
        if not steps:
            return f"{parent} IS NOT NULL AND ({build(base)})" if parent else build(base)
        step, rest = steps[0], steps[1:]
        if step in _LISTS:
            item = f"x{len(steps)}"
            return f"coalesce(exists({_LISTS[step].format(base)}, {item} -> {at(item, rest, '')}), false)"
        return at(f"{base}.{name(step)}", rest, base)

    return at(name(spot.path[0]), spot.path[1:], "")


def extreme(spot: Spot, how: str, build: Build = str) -> str:
    """The least or the greatest value at a column, of one row."""

    def at(base: str, steps: tuple[str, ...]) -> str:
        if not steps:
            return build(base)
        step, rest = steps[0], steps[1:]
        if step in _LISTS:
            item = f"x{len(steps)}"
            return f"array_{how}(transform({_LISTS[step].format(base)}, {item} -> {at(item, rest)}))"
        return at(f"{base}.{name(step)}", rest)

    return at(name(spot.path[0]), spot.path[1:])


def items(spot: Spot) -> str:
    """The values at a column inside one list, without NULLs, as an array."""

    def at(base: str, steps: tuple[str, ...]) -> str:
        if not steps:
            return base
        step, rest = steps[0], steps[1:]
        if step in _LISTS:
            item = f"x{len(steps)}"
            inner = at(item, rest)
            found = f"transform({_LISTS[step].format(base)}, {item} -> {inner})"
            return f"flatten({found})" if any(later in _LISTS for later in rest) else found
        return at(f"{base}.{name(step)}", rest)

    return f"filter({at(name(spot.path[0]), spot.path[1:])}, x -> x IS NOT NULL)"
