"""What one model's SQL says, as plain data: no syntax tree, no verdict, so it can be kept by content.

Everything is lower case, because Spark is. Positions count from one, in the SQL that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import lru_cache

from msgspec import Struct

Tables = Mapping[str, Sequence[str] | None]
EPHEMERAL = "__dbt__cte__"  # how dbt names the CTE that it makes of an ephemeral model


class SmellKind(Enum):
    """What can be wrong with SQL that has nothing to do with data."""

    DOES_NOT_PARSE = "does_not_parse"
    SELECT_STAR = "select_star"
    CROSS_JOIN = "cross_join"
    ORDER_BY = "order_by"
    HARD_CODED_TABLE = "hard_coded_table"


class Origin(Struct, frozen=True, order=True, array_like=True, gc=False):
    """A column of a relation that the SQL reads."""

    relation: str
    column: str

    def __str__(self) -> str:
        return f"{self.relation}.{self.column}"


class OutputColumn(Struct, frozen=True, array_like=True, gc=False):
    """A column of the result.

    `origins` are the columns whose values can be in it: copied, computed, hashed, aggregated or chosen between.
    `counted` are those that only steer it without lending a value: counted, tested for null, or the
    partition and order of a window. Columns that only filter, join, group or sort rows are in neither.
    """

    name: str
    origins: tuple[Origin, ...] = ()
    counted: tuple[Origin, ...] = ()


class Smell(Struct, frozen=True, array_like=True, gc=False):
    """Something about the SQL that a linting policy may object to, and where."""

    kind: SmellKind
    detail: str
    line: int = 1
    column: int = 1


class SqlFacts(Struct, frozen=True, array_like=True, gc=False):
    """What the SQL of one model says. Either `columns` is complete, or `not_followed` says why there are none."""

    columns: tuple[OutputColumn, ...] | None = None
    not_followed: str = ""
    smells: tuple[Smell, ...] = ()

    @property
    def error(self) -> Smell | None:
        """Why and where the SQL does not parse."""
        return next((smell for smell in self.smells if smell.kind is SmellKind.DOES_NOT_PARSE), None)

    @property
    def parsed(self) -> bool:
        return self.error is None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns, when they are known."""
        return None if self.columns is None else tuple(column.name for column in self.columns)


def relation_key(name: str) -> str:
    """A relation name as `analyse` looks it up: dotted, lower case, without backticks."""
    return name.replace("`", "").lower()


column_key = lru_cache(maxsize=10_000)(relation_key)  # of columns, whose names models share


def analyse(sql: str, tables: Tables) -> SqlFacts:
    """The facts of one compiled model.

    `tables` are the relations that the model may read (its refs and sources, and itself), by `relation_key`,
    each with all its columns, or None when they are not known. A CTE that dbt made of an ephemeral model counts as
    a relation when it is among them.
    """
    from floe_core.sql.reading import (
        read,
    )  # sqlglot takes 0.2 s to import; facts kept from last time need none of it

    return read(sql, tables)
