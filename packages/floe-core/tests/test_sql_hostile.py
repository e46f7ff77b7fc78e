# ruff: noqa: S608 - no database runs this SQL
"""SQL that nobody would write by hand gets an answer: bounded work, no crash, the same from any depth of calls."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floe_core.sql.facts import SqlFacts, analyse
from floe_core.sql.parsing import MAX_CHARACTERS, MAX_NESTING

TABLES = {"t": ("a", "b")}
N = 5_000

REFUSED = {
    "parentheses": "select " + "(" * N + "a" + ")" * N + " from t",
    "open parentheses": "select " + "(" * N,
    "functions": "select " + "f(" * N + "a" + ")" * N + " from t",
    "subqueries": "select * from " + "(select * from " * N + "t" + ")" * N,
    "scalar subqueries": "select " + "(select " * N,
    "brackets": "select a" + "[0" * N + "]" * N + " from t",
    "cases": "select " + "case when a then " * N + "a" + " end" * N + " from t",
    "types": "select cast(a as " + "array<" * N + "int" + ">" * N + ") from t",
    "not": "select " + "not " * N + "a from t",
    "minus": "select " + "- " * N + "a from t",
    "withs": "with a as (" * N,
    "joins without condition": "select a from t" + " join t" * 40,
    "a megabyte": "select " + "a, " * 350_000 + "b from t",
    "NUL": "select a\0 from t",
    "open string": "select 'a from t",
    "open comment": "select a /* from t",
    "only semicolons": ";" * N,
    "binary": bytes(range(1, 256)).decode("latin-1") * 20,
    "half a map": "select map('k',,) as m from t",
    "jinja": "select {{ a }} from {% if x %} t",
}
FOLLOWED = {
    "a long chain": "select " + " + ".join(["a"] * N) + " as x from t",
    "a long condition": "select a as x from t where " + " and ".join(["a = b"] * 2_000),
    "many unions": "select a as x from t" + " union all select b from t" * 500,
    "many ctes": "with " + ", ".join(
        [f"q{n + 1} as (select x from q{n})" if n else "q1 as (select a as x from t)" for n in range(600)]
    ) + " select x from q600",
    "many columns": "select " + ", ".join(f"a as x{n}" for n in range(2_000)) + " from t",
    "unicode": "select a as `☃ é 漢字`, '𝔘𝔫𝔦𝔠𝔬𝔡𝔢' as u from t",
    "nested as deep as allowed": "select " + "(" * MAX_NESTING + "a" + ")" * MAX_NESTING + " as x from t",
    "subqueries as deep as allowed": "select * from " + "(select * from " * MAX_NESTING + "t" + ")" * MAX_NESTING,
    "functions as deep as allowed": "select " + "f(" * MAX_NESTING + "a" + ")" * MAX_NESTING + " as x from t",
}  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_said(sql: str) -> None:
    facts = analyse(sql, TABLES)
    assert facts.columns is None
    assert facts.not_followed
    assert facts.error
    assert facts.error.line >= 1
    assert facts.error.column >= 1


@pytest.mark.parametrize("sql", FOLLOWED.values(), ids=FOLLOWED)
def test_what_is_merely_long_or_deep_is_followed(sql: str) -> None:
    facts = analyse(sql, TABLES)
    assert facts.columns is not None, facts.not_followed


def test_facts_do_not_depend_on_how_deep_the_caller_is() -> None:
    def at(depth: int, sql: str) -> SqlFacts:
        return analyse(sql, TABLES) if depth == 0 else at(depth - 1, sql)

    before = sys.getrecursionlimit()
    for sql in (FOLLOWED["nested as deep as allowed"], REFUSED["not"]):
        assert at(0, sql) == at(700, sql)
    assert sys.getrecursionlimit() == before


def test_text_at_the_limit_is_read_and_one_character_more_is_not() -> None:
    sql = "select a from t".ljust(MAX_CHARACTERS)
    assert analyse(sql, TABLES).parsed
    assert not analyse(sql + " ", TABLES).parsed


VOCABULARY = """
    select from where ( ) , * a b t . join on using with as union all case when then end over partition by order
    lateral view explode values 'x' 1 = + - not in exists limit group pivot -> [ ] < > array struct ; -- /* */ `
    cross left semi natural distinct except interval cast :: {{ }} recursive insert into map , " """
WORDS = st.sampled_from(sorted(set(VOCABULARY.split())))


@given(st.lists(WORDS, max_size=30).map(" ".join))
def test_any_mixture_of_words_gets_an_answer(sql: str) -> None:
    facts = analyse(sql, TABLES)
    assert (facts.columns is None) == bool(facts.not_followed)
    assert all(smell.line >= 1 and smell.column >= 1 for smell in facts.smells)


@given(st.text(max_size=200))
def test_any_text_gets_an_answer(sql: str) -> None:
    facts = analyse(sql, TABLES)
    assert (facts.columns is None) == bool(facts.not_followed)
