# ruff: noqa: S608 - no database runs this SQL
"""Generated queries: floe and sqlglot's own lineage, which is eight times slower, name the same origins."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp
from sqlglot.lineage import lineage

from floe_core.sql.facts import Origin, analyse

TABLES = {"db.t": ("a", "b", "k"), "db.r": ("k", "x", "y"), "db.z": ("a", "x")}
SCHEMA = {"db": {name.split(".")[1]: dict.fromkeys(columns, "string") for name, columns in TABLES.items()}}


@dataclass(frozen=True)
class Query:
    sql: str
    columns: tuple[str, ...]


@st.composite
def expressions(draw: st.DrawFn, columns: list[str]) -> str:
    one, two, three = (draw(st.sampled_from(columns)) for _ in range(3))
    return draw(
        st.sampled_from(
            [
                one,
                f"upper({one})",
                f"concat({one}, '-', {two})",
                f"case when {one} = 'x' then {two} else {three} end",
                f"coalesce({one}, {two}, 'x')",
                f"count({one}) over (partition by {two} order by {three})",
                f"cast({one} as int) + 1",
                f"{one} is null",
                "'constant'",
                f"if({one} = {two}, {three}, null)",
                f"(select max(i.{draw(st.sampled_from(['x', 'y']))}) from db.r i where i.k = {one})",
                f"transform(array({one}, {two}), e -> concat(e, {three}))",
            ]
        )
    )


@st.composite
def inputs(draw: st.DrawFn, ctes: list[tuple[str, Query]], depth: int) -> tuple[str, tuple[str, ...]]:
    """A relation as it stands in FROM, and its columns."""
    kind = draw(st.sampled_from(["table", "cte", "subquery"] if depth else ["table", "cte"]))
    if kind == "cte" and ctes:
        name, query = draw(st.sampled_from(ctes))
        return name, query.columns
    if kind == "subquery":
        query = draw(selects(ctes, depth - 1))
        return f"({query.sql})", query.columns
    name = draw(st.sampled_from(sorted(TABLES)))
    return name, TABLES[name]


@st.composite
def selects(draw: st.DrawFn, ctes: list[tuple[str, Query]], depth: int) -> Query:
    sources = [draw(inputs(ctes, depth)) for _ in range(draw(st.integers(1, 2)))]
    aliases = [f"s{number}" for number in range(len(sources))]
    columns = [f"{alias}.{name}" for alias, (_, names) in zip(aliases, sources, strict=True) for name in names]
    bare = [name for name in sources[0][1] if len(sources) == 1]
    wanted = draw(st.lists(expressions(columns + bare), min_size=1, max_size=3))
    items = [f"{text} as c{number}" for number, text in enumerate(wanted)]
    names = [f"c{number}" for number in range(len(items))]
    if draw(st.booleans()):
        alias, (_, starred) = draw(st.sampled_from(list(zip(aliases, sources, strict=True))))
        if not set(starred) & set(names):
            items.append(f"{alias}.*")
            names += starred
    sql = f"select {', '.join(items)} from {sources[0][0]} s0"
    if len(sources) == 2:
        kind = draw(st.sampled_from(["join", "left join", "full outer join"]))
        sql += f" {kind} {sources[1][0]} s1 on s0.{sources[0][1][0]} = s1.{sources[1][1][-1]}"
    if draw(st.booleans()):
        sql += f" where {draw(st.sampled_from(columns))} is not null"
    return Query(sql, tuple(names))


@st.composite
def statements(draw: st.DrawFn) -> Query:
    ctes: list[tuple[str, Query]] = []
    for number in range(draw(st.integers(0, 3))):
        ctes.append((f"q{number}", draw(selects(list(ctes), 1))))
    body = draw(selects(ctes, 2))
    if draw(st.booleans()):
        narrow = ", ".join(f"'{number}' as n{number}" for number in range(len(body.columns) - 1))
        other = draw(st.sampled_from(["db.t", "db.r"]))
        column = draw(st.sampled_from(TABLES[other]))
        right = f"select {column}{', ' if narrow else ''}{narrow} from {other}"
        body = Query(f"{body.sql} union all {right}", body.columns)
    head = f"with {', '.join(f'{name} as ({query.sql})' for name, query in ctes)} " if ctes else ""
    return Query(head + body.sql, body.columns)


def by_sqlglot(sql: str, column: str) -> set[Origin]:
    found: set[Origin] = set()
    for node in lineage(column, sql, schema=SCHEMA, dialect="spark").walk():
        if not node.downstream and isinstance(node.expression, exp.Table):
            found.add(Origin(f"db.{node.expression.name}", node.name.split(".")[-1]))
    return found


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(statements())
def test_floe_and_sqlglot_name_the_same_origins(query: Query) -> None:
    facts = analyse(query.sql, TABLES)
    assert facts.columns is not None, facts.not_followed
    assert facts.names == query.columns
    for column in facts.columns:
        if query.columns.count(column.name) == 1:
            assert {*column.origins, *column.counted} == by_sqlglot(query.sql, column.name)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(statements())
def test_knowing_less_about_the_inputs_never_loses_an_origin(query: Query) -> None:
    known = analyse(query.sql, TABLES).columns
    vague = analyse(query.sql, dict.fromkeys(TABLES)).columns
    assert known is not None
    for less, more in zip(vague or (), known, strict=vague is not None):
        assert less.name == more.name
        assert {*less.origins, *less.counted} >= {*more.origins, *more.counted}
