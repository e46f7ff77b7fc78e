"""What every table name of a statement means: a CTE in sight, or a relation outside."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from floe_core.sql.facts import EPHEMERAL


@dataclass(frozen=True, slots=True)
class Names:
    """The CTE behind each table name that means one, and the names that lead outside.

    What stands in a CTE that dbt made of an ephemeral model is that model's own business, and not among them.
    """

    ctes: dict[int, exp.CTE] = field(default_factory=dict)
    outside: list[exp.Table] = field(default_factory=list)

    def cte(self, table: exp.Expr) -> exp.CTE | None:
        return self.ctes.get(id(table))


def bind(tree: exp.Expr) -> Names:
    """One pass over the tree. A CTE is seen by those after it and by its query; by itself only if recursive."""
    names = Names()
    stack: list[tuple[exp.Expr, dict[str, exp.CTE], bool]] = [(tree, {}, True)]
    while stack:
        node, seen, own = stack.pop()
        if isinstance(node, exp.Table) and not is_function(node):
            cte = None if node.args.get("db") else seen.get(node.name.lower())
            if cte:
                names.ctes[id(node)] = cte
            elif own:
                names.outside.append(node)
        within = node.args.get("with_")
        if isinstance(within, exp.With):
            for cte in within.expressions:
                after = {**seen, cte.alias.lower(): cte}
                visible = after if within.args.get("recursive") else seen
                stack.append((cte.this, visible, own and not is_ephemeral(cte)))
                seen = after
        inner = (child for child in node.iter_expressions() if not isinstance(child, exp.With | exp.Hint))
        stack.extend((child, seen, own) for child in inner)
    return names


def is_ephemeral(node: exp.Expr) -> bool:
    """Whether it is the CTE of an ephemeral model."""
    return isinstance(node, exp.CTE) and node.alias.lower().startswith(EPHEMERAL)


def is_function(table: exp.Table) -> bool:
    """Whether it is a table-valued function, like range(10)."""
    return isinstance(table.this, exp.Func)


def parts(node: exp.Expr) -> tuple[str, ...]:
    """The dotted parts of a table, a column or a field of a column, lower case."""
    match node:
        case exp.Identifier():
            return (node.name.lower(),)
        case exp.Dot():
            return (*parts(node.this), *parts(node.expression))
        case exp.Column() | exp.Table():
            heads = (node.args.get(key) for key in ("catalog", "db", "table"))
            return (*(head.name.lower() for head in heads if head), *parts(node.this))
        case exp.Star():
            return ("*",)
        case _:
            return ()


def reference(node: exp.Expr) -> tuple[str, ...]:
    """The parts of a column or a field of one; nothing for `x.f` of a lambda's x, or a field of an expression."""
    bottom = node
    while isinstance(bottom, exp.Dot):
        bottom = bottom.this
    return parts(node) if isinstance(bottom, exp.Column) else ()


def relation(table: exp.Table) -> str:
    """The name of a table as `relation_key` writes it."""
    return ".".join(parts(table))
