"""SQL linting: the policy decides whether and how much, the smell where."""

from __future__ import annotations

import pytest

from floe_core.findings import Finding, Place, Severity
from floe_core.rules.sql import check_sql
from floe_core.schemas.levels import SqlLinting
from floe_core.sql.facts import SqlFacts, analyse
from floe_core.sql.lineage import PYTHON, UNCOMPILED
from floe_core.sql.positions import locate

RAW = "select *\nfrom {{ ref('a') }}\ncross join raw.b\norder by 1\n"
COMPILED = "select *\nfrom db.a\ncross join raw.b\norder by 1\n"
FACTS = analyse(COMPILED, {"db.a": ("id",)})


def place(line: int, column: int) -> Place:
    return Place("models/gold_x.sql", *locate(RAW, COMPILED, line, column))


def lint(facts: SqlFacts, linting: SqlLinting = SqlLinting.ERROR, last_layer: bool = True) -> list[Finding]:
    return list(check_sql("gold_x", facts, place, linting, last_layer=last_layer))


def test_each_smell_has_its_code_and_its_place_in_the_file() -> None:
    assert [f"{item.place} {item.code}" for item in lint(FACTS)] == [
        "models/gold_x.sql:1:8 FLOE-E321",
        "models/gold_x.sql:3:1 FLOE-E322",
        "models/gold_x.sql:3:12 FLOE-E324",
        "models/gold_x.sql:4:1 FLOE-E323",
    ]


def test_a_star_is_judged_in_the_last_layer_only() -> None:
    assert "FLOE-E321" not in [item.code for item in lint(FACTS, last_layer=False)]


@pytest.mark.parametrize(
    ("linting", "expected"),
    [
        (SqlLinting.DISABLED, set()),
        (SqlLinting.WARN, {Severity.WARNING}),
        (SqlLinting.ERROR, {Severity.ERROR}),
    ],
)
def test_the_policy_sets_the_severity(linting: SqlLinting, expected: set[Severity]) -> None:
    assert {item.severity for item in lint(FACTS, linting)} == expected


def test_sql_that_does_not_parse_is_said_with_the_reason() -> None:
    (found,) = lint(analyse("select (\n", {}))
    assert found.code == "FLOE-E320"
    assert found.message.startswith("gold_x: the SQL does not parse: ")


def test_a_model_that_dbt_could_not_compile_is_not_passed() -> None:
    (found,) = lint(UNCOMPILED)
    assert (found.code, found.severity) == ("FLOE-E325", Severity.WARNING)
    assert lint(UNCOMPILED, SqlLinting.DISABLED) == []


def test_a_python_model_has_no_sql_to_judge() -> None:
    assert lint(PYTHON) == []


def test_clean_sql_finds_nothing() -> None:
    assert lint(analyse("select id from db.a limit 1", {"db.a": ("id",)})) == []
