"""Parse once, then everything that one tree can tell."""

from __future__ import annotations

from floe_core.sql.facts import OutputColumn, Smell, SmellKind, SqlFacts, Tables
from floe_core.sql.follow import Follower
from floe_core.sql.names import bind
from floe_core.sql.parsing import Statement, UnreadableError, headroom, parse
from floe_core.sql.scope import NotFollowedError
from floe_core.sql.smells import smells


def read(sql: str, tables: Tables) -> SqlFacts:
    """The facts of one statement."""
    try:
        statement = parse(sql)
    except UnreadableError as exc:
        smell = Smell(SmellKind.DOES_NOT_PARSE, str(exc), exc.line, exc.column)
        return SqlFacts(not_followed=f"the SQL does not parse: {exc}", smells=(smell,))
    with headroom():
        return _facts(statement, tables)


def _facts(statement: Statement, tables: Tables) -> SqlFacts:
    names = bind(statement.tree)
    found = tuple(sorted(smells(statement, names, tables), key=lambda smell: (smell.line, smell.column)))
    try:
        followed = Follower(tables, names).query(statement.tree).closed()
    except NotFollowedError as exc:
        return SqlFacts(not_followed=str(exc), smells=found)
    except RecursionError:
        return SqlFacts(not_followed="nested too deep", smells=found)
    columns = (
        OutputColumn(name, tuple(sorted(flow.values)), tuple(sorted(flow.counted - flow.values)))
        for name, flow in followed
    )
    return SqlFacts(columns=tuple(columns), smells=found)
