"""What a linting policy may object to in SQL that parses."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import TokenType, exp

from floe_core.sql.facts import Smell, SmellKind, Tables
from floe_core.sql.names import Names, is_ephemeral, parts, relation
from floe_core.sql.parsing import Statement

JOIN_WORDS = frozenset({TokenType.JOIN, TokenType.COMMA})
JOIN_KINDS = frozenset(
    {TokenType.CROSS, TokenType.INNER, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.OUTER}
)


def smells(statement: Statement, names: Names, tables: Tables) -> Iterator[Smell]:
    """All smells, in no particular order."""
    yield from _open_star(statement, names)
    yield from _cross_joins(statement, names)
    yield from _order_by(statement)
    yield from _hard_coded(statement, names, tables)


def _smell(statement: Statement, kind: SmellKind, detail: str, offset: int) -> Smell:
    return Smell(kind, detail, *statement.place(offset))


def _offset(node: exp.Expr) -> int:
    """Where a part of the statement starts."""
    return min((part.meta["start"] for part in node.walk() if "start" in part.meta), default=0)


# select *


def _open_star(statement: Statement, names: Names) -> Iterator[Smell]:
    """A `*` of the result that takes its columns from a table, be it through CTEs and subqueries."""
    pending: list[exp.Expr] = [statement.tree]
    met: set[int] = set()
    while pending:
        node = pending.pop()
        if id(node) in met:
            continue
        met.add(id(node))
        match node:
            case exp.Subquery():
                pending.append(node.this)
            case exp.SetOperation():
                pending += [node.expression, node.this]
            case exp.Select():
                for star in (item for item in node.expressions if item.is_star):
                    inputs = list(_starred(node, star))
                    inner = [query for source in inputs if (query := _query(source, names))]
                    if len(inner) == len(inputs):
                        pending += inner
                    else:
                        detail = "select * hands on whatever columns its input has"
                        yield _smell(statement, SmellKind.SELECT_STAR, detail, _offset(star))


def _starred(select: exp.Select, star: exp.Expr) -> list[exp.Expr]:
    """The inputs whose columns a star stands for."""
    qualifier = parts(star)[:-1]
    return [
        source
        for source in _inputs(select)
        if not qualifier or qualifier == (source.alias.lower(),) or parts(source)[-len(qualifier) :] == qualifier
    ]


def _query(source: exp.Expr, names: Names) -> exp.Expr | None:
    """The query behind an input; VALUES and functions are their own, a table has none."""
    if isinstance(source, exp.Table):
        cte = names.cte(source)
        return cte.this if cte and not is_ephemeral(cte) else None
    return source.this if isinstance(source, exp.Lateral) else source


def _inputs(select: exp.Select) -> Iterator[exp.Expr]:
    start = select.args.get("from_")
    if start:
        yield start.this
    for join in select.args.get("joins") or ():
        if join.args.get("kind") not in ("SEMI", "ANTI"):
            yield join.this


# cross joins


def _cross_joins(statement: Statement, names: Names) -> Iterator[Smell]:
    for node in statement.tree.walk(prune=is_ephemeral):
        joins = node.args.get("joins") if isinstance(node, exp.Select) else None
        if joins:
            yield from _unlinked(statement, names, node, joins)


def _unlinked(statement: Statement, names: Names, select: exp.Expr, joins: list[exp.Join]) -> Iterator[Smell]:
    """Joins that multiply rows: no condition names a column, and neither side is known to be a single row."""
    where = select.args.get("where")
    conditions = [] if where is None else _conjuncts(where.this)
    start = select.args.get("from_")
    single = start is not None and _is_single_row(start.this, names)
    for join in joins:
        one = _is_single_row(join.this, names)
        multiplies = not (single or one)
        single = single and one
        if (
            not multiplies
            or join.args.get("using")
            or join.args.get("method")
            or isinstance(join.this, exp.Lateral)
        ):
            continue
        on = join.args.get("on")
        if on is not None and on.find(exp.Column):
            continue
        alias = join.this.alias_or_name.lower()
        if not any(_links(condition, alias) for condition in conditions):
            detail = f"{alias or 'a subquery'} is joined without a condition"
            yield _smell(statement, SmellKind.CROSS_JOIN, detail, _join_offset(statement, join))


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    found, pending = [], [condition]
    while pending:
        node = pending.pop()
        if isinstance(node, exp.And):
            pending += [node.expression, node.this]
        elif isinstance(node, exp.Paren):
            pending.append(node.this)
        else:
            found.append(node)
    return found


def _links(condition: exp.Expr, alias: str) -> bool:
    """Whether a condition ties an input to another one; a column without qualifier may be of either."""
    qualifiers = [column.table.lower() for column in condition.find_all(exp.Column)]
    mine = [name for name in qualifiers if name in ("", alias)]
    others = [name for name in qualifiers if name != alias]
    return bool(mine and others) and len(qualifiers) > 1


def _is_single_row(node: exp.Expr, names: Names) -> bool:
    """Whether an input has one row by its form: an aggregate of everything, no FROM, LIMIT 1, one row of VALUES."""
    for _ in range(100):  # a chain of CTEs; a recursive one would not end
        if isinstance(node, exp.Table):
            if isinstance(node.this, exp.Func):
                return True  # a generator makes its rows on purpose
            cte = names.cte(node)
            if cte is None:
                return False
            node = cte.this
        elif isinstance(node, exp.Subquery):
            node = node.this
        elif isinstance(node, exp.Values):
            return len(node.expressions) == 1
        elif isinstance(node, exp.Select):
            if _limit_one(node) or _aggregates_all(node):
                return True
            start = node.args.get("from_")
            if start is None:
                return not any(node.find_all(exp.Explode, exp.Inline, exp.Stack))
            if node.args.get("joins") or node.args.get("laterals") or any(node.find_all(exp.Explode, exp.Inline)):
                return False
            node = start.this
        else:
            return isinstance(node, exp.Lateral | exp.Unnest)
    return False


def _limit_one(select: exp.Select) -> bool:
    limit = select.args.get("limit")
    return isinstance(limit, exp.Limit) and limit.expression.name == "1"


def _aggregates_all(select: exp.Select) -> bool:
    if select.args.get("group"):
        return False
    aggregates = (function for item in select.expressions for function in item.find_all(exp.AggFunc))
    return any(not isinstance(function.parent, exp.Window) for function in aggregates)


def _join_offset(statement: Statement, join: exp.Join) -> int:
    """The words that join, not the table: they are what is to be changed."""
    start = _offset(join.this)
    index = next((n for n, token in enumerate(statement.tokens) if token.start >= start), 0)
    while index and statement.tokens[index].token_type not in JOIN_WORDS:
        index -= 1
    while index and statement.tokens[index - 1].token_type in JOIN_KINDS:
        index -= 1
    return statement.tokens[index].start


# order by


def _order_by(statement: Statement) -> Iterator[Smell]:
    node, depth = statement.tree, 0
    while isinstance(node, exp.Subquery) and not node.args.get("order"):
        if node.args.get("limit"):
            return
        node, depth = node.this, depth + 1
    if node.args.get("order") and not node.args.get("limit"):
        offset = _last_order_by(statement, depth)
        yield _smell(statement, SmellKind.ORDER_BY, "order by without limit", offset)


def _last_order_by(statement: Statement, wanted: int) -> int:
    depth = found = 0
    for token in statement.tokens:
        if token.token_type is TokenType.L_PAREN:
            depth += 1
        elif token.token_type is TokenType.R_PAREN:
            depth -= 1
        elif token.token_type is TokenType.ORDER_BY and depth <= wanted:
            found = token.start
    return found


# tables by name


def _hard_coded(statement: Statement, names: Names, tables: Tables) -> Iterator[Smell]:
    for table in names.outside:
        name = relation(table)
        if name and name not in tables:
            yield _smell(statement, SmellKind.HARD_CODED_TABLE, name, _table_offset(table))


def _table_offset(table: exp.Table) -> int:
    named = [table.args.get(key) for key in ("catalog", "db", "this")]
    return min(_offset(part) for part in named if part)
