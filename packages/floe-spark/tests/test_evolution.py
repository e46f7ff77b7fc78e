"""What `schema_evolution` allows, change by change, and that every change has a row."""

from __future__ import annotations

import pytest

from floe_core.findings import Place
from floe_core.schemas.levels import SchemaEvolution
from floe_core.table import Column, ColumnChange, Kind, Type
from floe_spark.evolution import ALLOWED, WORDS, judge_evolution

HERE = Place("models/gold.sql", 3)
INT, LONG, TEXT = Type(Kind.INT), Type(Kind.LONG), Type(Kind.STRING)
ID = Column("id", LONG)
OLD = (ID, Column("n", INT), Column("must", TEXT, required=True))

# The new columns, and the levels that allow them.
CASES = {
    "nothing": (OLD, "any additive strict"),
    "described": ((Column("id", LONG, description="The key."), *OLD[1:]), "any additive strict"),
    "other order": (OLD[::-1], "any additive strict"),
    "added": ((*OLD, Column("more", TEXT)), "any additive"),
    "widened": ((ID, Column("n", LONG), OLD[2]), "any additive"),
    "optional": ((*OLD[:2], Column("must", TEXT)), "any additive"),
    "added required": ((*OLD, Column("more", TEXT, required=True)), "any"),
    "removed": (OLD[1:], "any"),
    "renamed": ((Column("key", LONG), *OLD[1:]), "any"),
    "retyped": ((ID, Column("n", TEXT), OLD[2]), "any"),
    "narrowed": ((Column("id", INT), *OLD[1:]), "any"),
    "required": ((ID, Column("n", INT, required=True), OLD[2]), "any"),
    "keyed": ((Column("id", LONG, primary_key=True), *OLD[1:]), "any"),
}


@pytest.mark.parametrize(("new", "levels"), CASES.values(), ids=CASES)
def test_a_level_allows_a_change_or_refuses_it(new: tuple[Column, ...], levels: str) -> None:
    allowing = [
        level.value for level in SchemaEvolution if not list(judge_evolution(level, "gold", OLD, new, HERE))
    ]
    assert allowing == levels.split()


def test_a_refusal_names_the_column_both_types_and_the_level() -> None:
    (found,) = judge_evolution(SchemaEvolution.STRICT, "sales.shop.gold", OLD, CASES["widened"][0], HERE)
    assert (found.code, found.place) == ("FLOE-E750", HERE)
    assert found.message.startswith("sales.shop.gold.n: a wider type")
    assert found.message.endswith("(int → long), and schema_evolution is strict")


def test_every_change_that_iceberg_can_show_has_a_row_and_words() -> None:
    of_contracts = {
        change for change in ColumnChange if change.value.startswith(("limit-", "classification-", "uniqueness-"))
    } | {ColumnChange.RENAMED}
    assert {*ColumnChange} - of_contracts == {*ALLOWED} == {*WORDS}
