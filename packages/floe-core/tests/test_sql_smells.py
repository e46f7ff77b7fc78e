"""What a linting policy may object to, and exactly where."""

from __future__ import annotations

import pytest

from floe_core.sql.facts import SmellKind, analyse

TABLES = {"db.a": ("id", "x"), "db.b": ("id", "y"), "db.u": None}
STAR, CROSS, ORDER, TABLE = (
    SmellKind.SELECT_STAR,
    SmellKind.CROSS_JOIN,
    SmellKind.ORDER_BY,
    SmellKind.HARD_CODED_TABLE,
)

CASES: list[tuple[str, list[tuple[SmellKind, int, int]]]] = [
    ("select id from db.a", []),
    # select *
    ("select * from db.a", [(STAR, 1, 8)]),
    ("select\n  x,\n  a.*\nfrom db.a", [(STAR, 3, 3)]),
    ("with q as (select * from db.a)\nselect * from q", [(STAR, 1, 19)]),
    ("with q as (select id, x from db.a) select * from q", []),
    ("with q as (select * from db.a) select id from q", []),
    ("with q as (select * from db.a), r as (select id from q) select * from r", []),
    ("with q as (select id from db.a) select q.*, b.y from q join db.b on b.id = q.id", []),
    ("select q.* from (select id from db.a) q join db.b on b.id = q.id", []),
    ("select b.* from (select id from db.a) q join db.b on b.id = q.id", [(STAR, 1, 8)]),
    ("select id from db.a union all select * from db.b", [(STAR, 1, 38)]),
    ("select * except (x) from db.a", [(STAR, 1, 8)]),
    ("select count(*) as n from db.a", []),
    ("select * from values (1) as v(a)", []),
    ("select id from db.a where exists (select * from db.b)", []),
    # cross joins
    ("select a.id from db.a cross join db.b", [(CROSS, 1, 23)]),
    ("select a.id from db.a, db.b", [(CROSS, 1, 22)]),
    ("select a.id from db.a join db.b", [(CROSS, 1, 23)]),
    ("select a.id\nfrom db.a\n  left join db.b on true", [(CROSS, 3, 3)]),
    ("select a.id from db.a inner join db.b on 1 = 1", [(CROSS, 1, 23)]),
    ("select a.id from db.a join db.b on a.id = b.id", []),
    ("select id from db.a join db.b using (id)", []),
    ("select id from db.a natural join db.b", []),
    ("select a.id from db.a, db.b where a.id = b.id", []),
    ("select a.id from db.a cross join db.b where a.id = b.id and a.x > 1", []),
    ("select a.id from db.a, db.b where x = y", []),
    ("select a.id from db.a, db.b where a.x > 1 and b.y < 2", [(CROSS, 1, 22)]),
    ("select a.id from db.a, db.b, db.u where a.id = b.id and u.k = b.id", []),
    ("select a.id from db.a, db.b, db.u where a.id = b.id", [(CROSS, 1, 28)]),
    ("select id, z from db.a lateral view explode(x) t as z", []),
    ("select a.id, q.y from db.a, lateral (select y from db.b) q", []),
    ("select a.id, e.z from db.a cross join lateral explode(a.x) as e(z)", []),
    ("select a.id, r.id as r from db.a cross join range(10) r", []),
    ("select a.id, t.m from db.a cross join (select max(y) as m from db.b) t", []),
    ("with p as (select max(y) as m from db.b) select a.id, p.m from db.a, p", []),
    ("with p as (select 1 as one) select a.id, p.one from p cross join db.a", []),
    ("select a.id from db.a cross join (select y from db.b limit 1) t", []),
    ("select a.id from db.a cross join (select y from db.b limit 2) t", [(CROSS, 1, 23)]),
    ("select a.id from db.a cross join (select y, max(id) m from db.b group by y) t", [(CROSS, 1, 23)]),
    ("select a.id from db.a cross join (values (1)) v(z)", []),
    ("select a.id from db.a cross join (values (1), (2)) v(z)", [(CROSS, 1, 23)]),
    ("select id from db.a where id in (select b.id from db.b, db.u)", [(CROSS, 1, 55)]),
    ("select /*+ broadcast(b), repartition(3) */ b.id from db.a join db.b on a.id = b.id", []),
    ("with __dbt__cte__e as (select x.* from raw.t x cross join raw.s) select y from __dbt__cte__e", []),
    ("with __dbt__cte__e as (select y from raw.t) select * from __dbt__cte__e", [(STAR, 1, 52)]),
    # order by
    ("select id from db.a order by id", [(ORDER, 1, 21)]),
    ("select id from db.a\norder by id\nlimit 10", []),
    ("with q as (select id from db.a order by id) select id from q", []),
    ("select row_number() over (order by id) as n from db.a", []),
    ("select id, rank() over (order by x) as n from db.a\norder by n", [(ORDER, 2, 1)]),
    ("select id from db.a sort by id", []),
    ("select id from db.a union all select id from db.b order by 1", [(ORDER, 1, 51)]),
    ("(select id from db.a order by id)", [(ORDER, 1, 22)]),
    # tables by name
    ("select id from other.tab", [(TABLE, 1, 16)]),
    ("select id\nfrom db.a\nwhere id in (select k from\n  raw.keys)", [(TABLE, 4, 3)]),
    ("with q as (select 1 as id) select id from q", []),
    ("with a as (select id from a) select id from a", [(TABLE, 1, 27)]),
    ("with recursive q as (select 1 as n union all select n + 1 from q) select n from q", []),
    ("select id from parquet.`s3://x/y`", [(TABLE, 1, 16)]),
    ("select id from range(3)", []),
    ("select id from DB.`A`", []),
    ("select x from db.a join (with z as (select 1 as id) select id from z) z2 using (id), z", [
        (CROSS, 1, 84), (TABLE, 1, 86),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "expected"), CASES, ids=[sql for sql, _ in CASES])
def test_smells_are_found_where_they_are(sql: str, expected: list[tuple[SmellKind, int, int]]) -> None:
    found = [(smell.kind, smell.line, smell.column) for smell in analyse(sql, TABLES).smells]
    assert found == expected


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [
        ("select id\nfrom db.a\nwhere (", 3, 7),
        ("select id from db.a\nwhere id = 'open", 2, 12),
        ("select a,\n  b c d from db.a", 2, 7),
        ("select 1;\nselect 2", 1, 1),
        ("", 1, 1),
    ],
)
def test_a_parse_error_has_its_place(sql: str, line: int, column: int) -> None:
    error = analyse(sql, TABLES).error
    assert error
    assert (error.line, error.column) == (line, column)
    assert "class" not in error.detail
