"""Where the columns of a query come from: one walk over the tree, from the tables up, each query once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from floe_core.sql.facts import EPHEMERAL, Origin, Tables
from floe_core.sql.names import Names, is_function, parts, reference, relation
from floe_core.sql.scope import NOTHING, Columns, Flow, NotFollowedError, Scope, Source, Tail, union

COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Grouping, exp.GroupingId)
GENERATORS = (exp.Explode, exp.Inline, exp.Stack)
GENERATOR_NAMES = frozenset({"json_tuple", "stack", "inline", "inline_outer", "variant_explode"})
ONE_SIDED = frozenset({"SEMI", "ANTI"})

Listed = tuple[tuple[str, Flow], ...]


@dataclass(slots=True)
class Follower:
    """Resolves the queries of one statement; CTEs in the order of their definition, so a chain needs no stack."""

    tables: Tables
    names: Names
    ctes: dict[int, Columns | NotFollowedError] = field(default_factory=dict)

    def query(self, node: exp.Expr, outer: Scope | None = None) -> Columns:
        """The columns of a query, in order."""
        self._define(node, outer)
        match node:
            case exp.Select():
                return self._select(node, outer)
            case exp.SetOperation():
                return self._combine(node, outer)
            case exp.Subquery():
                if _pivots(node):
                    raise NotFollowedError("PIVOT")
                return _renamed(self.query(node.this, outer), node)
            case exp.Values():
                return self._values(node, outer)
            case exp.Table():
                return self._sources(node, Scope(outer)).star()
            case _:
                raise NotFollowedError(f"{node.key.upper()} is not a query")

    def _define(self, node: exp.Expr, outer: Scope | None) -> None:
        within = node.args.get("with_")
        for cte in within.expressions if isinstance(within, exp.With) else ():
            try:
                self.ctes[id(cte)] = _renamed(self.query(cte.this, outer), cte)
            except NotFollowedError as reason:  # matters only to those who read it
                self.ctes[id(cte)] = reason

    def _combine(self, node: exp.SetOperation, outer: Scope | None) -> Columns:
        """UNION, INTERSECT, EXCEPT: by position or by name. EXCEPT hands on values of its left side only."""
        rights: list[exp.SetOperation] = []
        left: exp.Expr = node
        while isinstance(left, exp.SetOperation):
            rights.append(left)
            left = left.this
            self._define(left, outer)
        columns = self.query(left, outer).closed()
        for operation in reversed(rights):
            right = self.query(operation.expression, outer).closed()
            if operation.args.get("by_name"):
                columns = _by_name(columns, right)
            elif len(columns) != len(right):
                raise NotFollowedError(f"{operation.key.upper()} of {len(columns)} and {len(right)} columns")
            elif not isinstance(operation, exp.Except):
                pairs = zip(columns, right, strict=True)
                columns = tuple((name, flow | other) for (name, flow), (_, other) in pairs)
        return Columns(columns)

    def _values(self, node: exp.Values, outer: Scope | None) -> Columns:
        scope = Scope(outer)
        rows = [row.expressions if isinstance(row, exp.Tuple) else [row] for row in node.expressions]
        width = len(rows[0]) if rows else 0
        if any(len(row) != width for row in rows):
            raise NotFollowedError("VALUES with rows of different lengths")
        flows = [union(self.flow(row[index], scope) for row in rows) for index in range(width)]
        return _renamed(Columns(tuple((f"col{number}", flow) for number, flow in enumerate(flows, 1))), node)

    # FROM

    def _select(self, node: exp.Select, outer: Scope | None) -> Columns:
        scope = Scope(outer)
        for window in node.args.get("windows") or ():
            scope.windows[window.name.lower()] = window
        start = node.args.get("from_")
        if start:
            self._add(scope, start.this)
        for lateral in node.args.get("laterals") or ():
            scope.sources.append(self._lateral(lateral, scope))
        for join in node.args.get("joins") or ():
            self._join(scope, join)
        return self._project(node, scope)

    def _add(self, scope: Scope, node: exp.Expr) -> None:
        found = self._sources(node, scope)
        scope.sources += found.sources
        scope.shared |= found.shared

    def _sources(self, node: exp.Expr, scope: Scope) -> Scope:
        """What one entry of FROM brings into sight; scope is what stands before it."""
        inner = Scope(scope.outer)
        if _pivots(node):
            raise NotFollowedError("PIVOT")
        match node:
            case exp.Table():
                inner.sources.append(self._table(node, scope))
            case exp.Subquery(this=exp.Table() as table) if not node.alias:
                self._add(inner, table)
            case exp.Lateral():
                inner.sources.append(self._lateral(node, scope))
            case exp.Subquery() | exp.Values():
                inner.sources.append(Source(_alias(node), self.query(node, scope.outer)))
            case _:
                raise NotFollowedError(f"{node.key.upper()} in FROM")
        for lateral in node.args.get("laterals") or ():
            inner.sources.append(self._lateral(lateral, inner))
        for join in node.args.get("joins") or ():
            self._join(inner, join)
        return inner

    def _join(self, scope: Scope, join: exp.Join) -> None:
        if _pivots(join):
            raise NotFollowedError("PIVOT")
        right = self._sources(join.this, scope)
        if join.args.get("kind") in ONE_SIDED:
            return
        common = [identifier.name.lower() for identifier in join.args.get("using") or ()]
        if join.args.get("method") == "NATURAL":
            rights = dict(right.star().closed())
            common = [name for name, _ in scope.star().closed() if name in rights]
        for name in common:
            left = scope.shared.get(name) or Scope(sources=scope.sources).lookup(name)
            scope.shared[name] = left | Scope(sources=right.sources).lookup(name)
        scope.shared |= {name: flow for name, flow in right.shared.items() if name not in scope.shared}
        scope.sources += right.sources

    def _table(self, node: exp.Table, scope: Scope) -> Source:
        if is_function(node):
            return self._generator(node, node.this, scope)
        name = relation(node)
        names = _alias(node) or tuple(parts(node)[start:] for start in range(len(parts(node))))
        cte = self.names.cte(node)
        if cte is not None and not (name.startswith(EPHEMERAL) and name in self.tables):
            columns = self.ctes.get(id(cte), NotFollowedError(f"{name} is recursive"))
            if isinstance(columns, NotFollowedError):
                raise columns
            return Source(names, _renamed(columns, node))
        known = self.tables.get(name)
        if known is None:
            return Source(names, _renamed(Columns(tails=(Tail(name),)), node))
        flows = tuple((column.lower(), Flow(frozenset({Origin(name, column.lower())}))) for column in known)
        return Source(names, _renamed(Columns(flows, (Tail(name, known=True),)), node))

    def _lateral(self, node: exp.Lateral, scope: Scope) -> Source:
        if isinstance(node.this, exp.Subquery):
            return Source(_alias(node), _renamed(self.query(node.this, scope), node))
        return self._generator(node, node.this, scope)

    def _generator(self, node: exp.Expr, function: exp.Expr, scope: Scope) -> Source:
        """A function that makes rows: each of its columns may hold anything of its arguments."""
        flow = self.flow(function, scope)
        columns = tuple((name, flow) for name in _column_names(node))
        return Source(_alias(node), Columns(columns) if columns else Columns(tails=(Tail(flow=flow),)))

    # SELECT

    def _project(self, node: exp.Select, scope: Scope) -> Columns:
        columns = Columns()
        for item in node.expressions:
            made = self._item(item, scope)
            columns += made
            if isinstance(item, exp.Alias):
                scope.aliases.update(made.listed)
        return columns

    def _item(self, item: exp.Expr, scope: Scope) -> Columns:
        """What one entry of the select list yields."""
        match item:
            case exp.Star():
                return self._changed(scope.star(), item, scope)
            case exp.Column(this=exp.Star()) | exp.Dot(expression=exp.Star()):
                qualifier = reference(item)[:-1]
                sources = scope.named(qualifier)
                if not sources:
                    raise NotFollowedError(f"{'.'.join(qualifier)}.* is not the columns of an input")
                star = item.this if isinstance(item, exp.Column) else item.expression
                return self._changed(Scope(sources=sources).star(), star, scope)
            case exp.Alias():
                return Columns(((item.alias.lower(), self.flow(item.this, scope)),))
            case exp.Aliases():
                flow = self.flow(item.this, scope)
                return Columns(tuple((name.name.lower(), flow) for name in item.expressions))
            case exp.Column() | exp.Dot():
                return Columns(((item.name.lower(), self.flow(item, scope)),))
            case exp.QueryTransform(args={"schema": exp.Schema() as schema}):
                flow = union(self.flow(argument, scope) for argument in item.expressions)
                return Columns(tuple((_plain(column).name.lower(), flow) for column in schema.expressions))
            case exp.QueryTransform():
                raise NotFollowedError("the columns of TRANSFORM have no names")
            case _ if isinstance(item, GENERATORS) or item.name.lower() in GENERATOR_NAMES:
                raise NotFollowedError("the columns of a generator like explode have no names")
            case _:
                return Columns(((item.sql("spark").lower(), self.flow(item, scope)),))

    def _changed(self, columns: Columns, star: exp.Expr, scope: Scope) -> Columns:
        """`* except (…)`, and the REPLACE and RENAME of other dialects."""
        if star.args.get("rename"):
            raise NotFollowedError("* RENAME")
        dropped = {item.name.lower() for item in star.args.get("except_") or ()}
        replaced = {item.alias.lower(): self.flow(item.this, scope) for item in star.args.get("replace") or ()}
        kept = columns.without(dropped)
        return Columns(tuple((name, replaced.get(name, flow)) for name, flow in kept.listed), kept.tails)

    # expressions

    def flow(self, expression: exp.Expr, scope: Scope) -> Flow:
        """What an expression is made of."""
        total = NOTHING
        stack: list[tuple[exp.Expr, bool]] = [(expression, False)]
        while stack:
            node, counted = stack.pop()
            match node:
                case exp.Exists(this=exp.Query()):
                    continue
                case exp.Column() | exp.Dot() if names := reference(node):
                    found = self._referred(names, scope)
                case exp.Query():
                    found = union(flow for _, flow in self.query(node, scope).closed())
                case exp.Table():
                    raise NotFollowedError(f"table {relation(node)} inside an expression")
                case _:
                    stack.extend((child, counted or how) for child, how in _children(node, scope))
                    continue
            total |= Flow(counted=found.values | found.counted) if counted else found
        return total

    def _referred(self, names: tuple[str, ...], scope: Scope) -> Flow:
        if names[-1] != "*":
            return scope.reference(names)
        sources = scope.named(names[:-1]) or scope.sources
        return union(flow for _, flow in Scope(sources=sources).star().closed())


def _children(node: exp.Expr, scope: Scope) -> Iterator[tuple[exp.Expr, bool]]:
    """The parts of an expression, and whether only their number or order matters."""
    if isinstance(node, exp.Window):
        yield node.this, False
        named = scope.windows.get(node.alias.lower()) if node.alias else None
        for steering in (node, named):
            for key in ("partition_by", "order"):
                value = steering.args.get(key) if steering else None
                yield from (
                    (part, True) for part in (value if isinstance(value, list) else [value] if value else ())
                )
        return
    counts = isinstance(node, COUNTS) or (isinstance(node, exp.Is) and isinstance(node.expression, exp.Null))
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return
    for child in node.iter_expressions():
        yield child, counts or (isinstance(node, exp.In) and child is node.args.get("query"))


def _plain(column: exp.Expr) -> exp.Expr:
    """A column of a schema without its type."""
    return column.this if isinstance(column, exp.ColumnDef) else column


def _pivots(node: exp.Expr) -> bool:
    return bool(node.args.get("pivots"))


def _alias(node: exp.Expr) -> tuple[tuple[str, ...], ...]:
    return ((node.alias.lower(),),) if node.alias else ()


def _column_names(node: exp.Expr) -> list[str]:
    alias = node.args.get("alias")
    return [column.name.lower() for column in alias.args.get("columns") or ()] if alias else []


def _renamed(columns: Columns, node: exp.Expr) -> Columns:
    """The columns under the names that an alias like `t(a, b)` gives them."""
    names = _column_names(node)
    if not names:
        return columns
    if columns.unknown:
        raise NotFollowedError(f"the columns of {node.alias} are renamed, and not known")
    if len(names) != len(columns.listed):
        raise NotFollowedError(f"{node.alias} names {len(names)} of {len(columns.listed)} columns")
    return Columns(tuple((name, flow) for name, (_, flow) in zip(names, columns.listed, strict=True)))


def _by_name(left: Listed, right: Listed) -> Listed:
    others = dict(right)
    merged = tuple((name, flow | others.pop(name, NOTHING)) for name, flow in left)
    return (*merged, *others.items())
