"""A corpus of Spark SQL, and where each column of the result comes from.

Expected is `name=origin+origin` per column; `#origin` is only counted. `!text` means not followed, for that reason.
"""

from __future__ import annotations

import pytest

from floe_core.sql.facts import OutputColumn, analyse, relation_key

TABLES = {
    "db.c": ("id", "email", "name", "s", "xs", "m"),
    "db.o": ("id", "cid", "amount", "at"),
    "lake.sales.gold.wide": ("a", "b"),
    "db.u": None,
    "db.v": None,
}

PLAIN = [
    ("select id, email from db.c", "id=c.id email=c.email"),
    ("SELECT ID, Email AS Mail FROM DB.C", "id=c.id mail=c.email"),
    ("select `id`, `db`.`c`.`email` from `db`.`c`", "id=c.id email=c.email"),
    ("select c.id, db.c.email from db.c", "id=c.id email=c.email"),
    ("select x.id, x.email e from db.c as x", "id=c.id e=c.email"),
    ("select a, wide.b from lake.sales.gold.wide", "a=wide.a b=wide.b"),
    ("select lake.sales.gold.wide.a, w.b from lake.sales.gold.wide, db.u w", "a=wide.a b=u.b"),
    ("select 1 as one, 'x' as x, null as n, current_date as d", "one= x= n= d="),
    ("select 1 as one from db.c where email = 'x'", "one="),
    ("select distinct email from db.c", "email=c.email"),
    ("select all email from db.c", "email=c.email"),
    ("select /*+ broadcast(c) */ email from db.c", "email=c.email"),
    ("select email from db.c -- ; drop\n", "email=c.email"),
    ("select email from db.c;", "email=c.email"),
    ("select email from db.c tablesample (10 percent)", "email=c.email"),
    ("select email from db.c timestamp as of '2024-01-01'", "email=c.email"),
    ("from db.c select email", "email=c.email"),
    ("(select email from db.c)", "email=c.email"),
    ("select x from db.u", "x=u.x"),
    ("select u.x, v.y from db.u join db.v on u.k = v.k", "x=u.x y=v.y"),
    ("select email, x from db.c, db.u", "email=c.email x=u.x"),
    ("select undeclared from db.c", "undeclared=c.undeclared"),
]

EXPRESSIONS = [
    ("select upper(email) || name as x from db.c", "x=c.email+c.name"),
    ("select sha2(email, 256) as h from db.c", "h=c.email"),
    ("select cast(id as string) as i, id::int j from db.c", "i=c.id j=c.id"),
    ("select case when amount > 1 then cid else id end as x from db.o", "x=o.amount+o.cid+o.id"),
    ("select if(amount > 1, cid, 0) as x, nullif(id, 0) y from db.o", "x=o.amount+o.cid y=o.id"),
    ("select s.a.b as x, s.city from db.c", "x=c.s city=c.s"),
    ("select c.s.city, db.c.s.zip from db.c", "city=c.s zip=c.s"),
    ("select m['k'] as x, xs[0].f as y from db.c", "x=c.m y=c.xs"),
    ("select named_struct('a', id, 'b', email) as st, array(id, name) as ar, map('k', email) as mp from db.c",
     "st=c.email+c.id ar=c.id+c.name mp=c.email"),
    ("select transform(xs, x -> x + id) as t from db.c", "t=c.id+c.xs"),
    ("select transform(xs, (email, i) -> email || i) as t from db.c", "t=c.xs"),
    ("select filter(xs, x -> x.f = name) as t, exists(xs, x -> x > 1) as e from db.c", "t=c.name+c.xs e=c.xs"),
    ("select aggregate(xs, 0, (acc, x) -> acc + x, acc -> acc * id) as t from db.c", "t=c.id+c.xs"),
    ("select datediff(day, at, current_date) as d, date_add(at, 1) as e, extract(year from at) as y from db.o",
     "d=o.at e=o.at y=o.at"),
    ("select interval 1 day as i, at + interval 2 hours as j, timestampadd(HOUR, 1, at) k from db.o",
     "i= j=o.at k=o.at"),
    ("select email like '%x' as l, email in ('a', name) as i from db.c", "l=c.email i=c.email+c.name"),
    ("select amount between 1 and cid as b from db.o", "b=o.amount+o.cid"),
    ("select id as a, a + 1 as b from db.c", "a=c.id b=c.id"),
    ("select id as name, name as x from db.c", "name=c.id x=c.name"),
    ("select x as y, y as z from db.u", "y=u.x z=u.x+u.y"),
    ("select get_json_object(s, '$.x') as j, from_json(s, 'a int') as l from db.c", "j=c.s l=c.s"),
    ("select email is null as missing, email is not null as there from db.c", "missing=#c.email there=#c.email"),
    ("select transform(xs, s -> s.id) as t, struct(id, email).id as u, (s).city as v from db.c",
     "t=c.xs u=c.email+c.id v=c.s"),
    ("select my_udf(email, id) as x from db.c", "x=c.email+c.id"),
]  # fmt: skip

AGGREGATES = [
    ("select max(email) as e, collect_list(name) as n, first(id) as i from db.c", "e=c.email n=c.name i=c.id"),
    ("select count(*) as n, count(1) as o from db.c", "n= o="),
    ("select count(email) as n, count(distinct id, name) as d from db.c", "n=#c.email d=#c.id+#c.name"),
    ("select approx_count_distinct(email) as n, count_if(amount > 1) as i from db.c join db.o using (id)",
     "n=#c.email i=#o.amount"),
    ("select sum(amount) / count(id) as x from db.o", "x=o.amount+#o.id"),
    ("select sum(amount) filter (where cid > 0) as x from db.o", "x=o.amount+o.cid"),
    ("select cid as k, sum(amount) as t from db.o group by k having t > 1", "k=o.cid t=o.amount"),
    ("select cid, sum(amount) t from db.o group by 1", "cid=o.cid t=o.amount"),
    ("select cid, id, sum(amount) as t from db.o group by cube(cid, id)", "cid=o.cid id=o.id t=o.amount"),
    ("select cid, grouping(cid) as g from db.o group by rollup(cid)", "cid=o.cid g=#o.cid"),
    ("select percentile_approx(amount, 0.5) as p from db.o", "p=o.amount"),
    ("select percentile_cont(0.5) within group (order by amount) as p from db.o", "p=o.amount"),
    ("select row_number() over (partition by cid order by at) as rn from db.o", "rn=#o.at+#o.cid"),
    ("select sum(amount) over (partition by cid) as t, lag(amount, 1) over (order by at) as l from db.o",
     "t=o.amount+#o.cid l=o.amount+#o.at"),
    ("select max(at) over w as x from db.o window w as (partition by cid order by id)", "x=o.at+#o.cid+#o.id"),
    ("select id from (select id, row_number() over (partition by cid order by at) rn from db.o) where rn = 1",
     "id=o.id"),
]  # fmt: skip

STARS = [
    ("select * from db.o", "id=o.id cid=o.cid amount=o.amount at=o.at"),
    ("select o.*, 1 as x from db.o o", "id=o.id cid=o.cid amount=o.amount at=o.at x="),
    ("select db.o.* from db.o", "id=o.id cid=o.cid amount=o.amount at=o.at"),
    ("select lake.sales.gold.wide.* from lake.sales.gold.wide", "a=wide.a b=wide.b"),
    ("select * except (amount, at) from db.o", "id=o.id cid=o.cid"),
    ("select o.* except (amount), c.email from db.o join db.c on o.cid = c.id",
     "id=o.id cid=o.cid at=o.at email=c.email"),
    ("select * from db.o join lake.sales.gold.wide w on w.a = o.id",
     "id=o.id cid=o.cid amount=o.amount at=o.at a=wide.a b=wide.b"),
    ("select w.* from (select * from db.o) q join lake.sales.gold.wide w on w.a = q.id", "a=wide.a b=wide.b"),
    ("select * from db.u", "!columns of db.u are not known"),
    ("select u.*, email from db.c join db.u on true", "!columns of db.u are not known"),
    ("select s.* from db.c", "!s.* is not the columns of an input"),
    ("select count(c.*) as n from db.c", "n=#c.email+#c.id+#c.m+#c.name+#c.s+#c.xs"),
]  # fmt: skip

JOINS = [
    ("select o.id, email from db.o join db.c on o.cid = c.id", "id=o.id email=c.email"),
    ("select id, email, amount from db.c join db.o using (id)", "id=c.id+o.id email=c.email amount=o.amount"),
    ("select * from lake.sales.gold.wide w join (select b, id from db.o join (select 1 as b) z) q using (b)",
     "b=wide.b a=wide.a id=o.id"),
    ("select o.id, c.id as cid2 from db.o full outer join db.c using (id)", "id=o.id cid2=c.id"),
    ("select * from db.o left semi join db.c on c.id = o.cid", "id=o.id cid=o.cid amount=o.amount at=o.at"),
    ("select * from lake.sales.gold.wide left anti join db.c on c.id = a", "a=wide.a b=wide.b"),
    ("select * from lake.sales.gold.wide natural join (select a, 1 as z from lake.sales.gold.wide) q",
     "a=wide.a b=wide.b z="),
    ("select a.id, b.id as bid from db.c a, db.c b where a.id = b.id", "id=c.id bid=c.id"),
    ("select x from db.u join db.v on u.k = v.k", "!x may be a column of db.u or db.v"),
    ("select email from db.c join db.u using (id)", "email=c.email"),
    ("select id from db.c join db.u using (id)", "id=c.id+u.id"),
    ("select nowhere from db.c join db.o on c.id = o.cid", "!no input is known to have a column nowhere"),
    ("select q.a from (lake.sales.gold.wide q join db.c on c.id = q.a)", "a=wide.a"),
]  # fmt: skip

QUERIES = [
    ("with q as (select id, email as e from db.c) select e from q", "e=c.email"),
    ("with q(i, e) as (select id, email from db.c) select e, i from q", "e=c.email i=c.id"),
    ("with a as (select email from db.c), b as (select upper(email) x from a) select * from b", "x=c.email"),
    ("with c as (select email as id from db.c) select id from c", "id=c.email"),
    ("with o as (select * from db.o), final as (select o.*, amount * 2 as dbl from o) select * from final",
     "id=o.id cid=o.cid amount=o.amount at=o.at dbl=o.amount"),
    ("with a as (select 1 x), q as (with a as (select id x from db.c) select x from a) select q.x, a.x y from q, a",
     "x=c.id y="),
    ("with unused as (select * from db.u pivot (sum(a) for b in (1))) select email from db.c", "email=c.email"),
    ("select q.e from (select email as e from db.c) q", "e=c.email"),
    ("select e from (select email as e from db.c)", "e=c.email"),
    ("select t.x, t.y from (select id, email from db.c) as t(x, y)", "x=c.id y=c.email"),
    ("select x from db.c as t(x, b, d, e, f, g)", "x=c.id"),
    ("select (select max(amount) from db.o where o.cid = c.id) as top from db.c", "top=o.amount"),
    ("select (select max(amount + c.id) from db.o) as top from db.c", "top=c.id+o.amount"),
    ("select (select max(email) from db.o) as e from db.c", "e=c.email"),
    ("select exists (select email from db.c) as x, id in (select cid from db.o) as y from db.c",
     "x= y=c.id+#o.cid"),
    ("select id from db.c where email in (select x from db.u)", "id=c.id"),
    ("select email from db.c union all select name from db.c", "email=c.email+c.name"),
    ("select id, email from db.c union select id, 'x' from db.o", "id=c.id+o.id email=c.email"),
    ("select id from db.c union all select cid from db.o union all select x from db.u", "id=c.id+o.cid+u.x"),
    ("select id a, email b from db.c union by name select cid b, id a from db.o", "a=c.id+o.id b=c.email+o.cid"),
    ("select id from db.c except select cid from db.o", "id=c.id"),
    ("select id from db.c intersect select cid from db.o", "id=c.id+o.cid"),
    ("select id, email from db.c union all select id from db.o", "!2 and 1 columns"),
    ("with q as (select id from db.c union all select cid from db.o) select * from q order by id limit 3",
     "id=c.id+o.cid"),
    ("with recursive r as (select 1 as n union all select n + 1 from r where n < 9) select n from r", "!recursive"),
]  # fmt: skip

ROWS = [
    ("select id, x from db.c lateral view explode(xs) t as x", "id=c.id x=c.xs"),
    ("select k, v from db.c lateral view outer explode(m) t as k, v", "k=c.m v=c.m"),
    ("select a.x, b.y from db.c lateral view explode(xs) a as x lateral view explode(a.x.ys) b as y",
     "x=c.xs y=c.xs"),
    ("select t.p, t.x from db.c lateral view posexplode(xs) t as p, x", "p=c.xs x=c.xs"),
    ("select id, col from db.c lateral view explode(xs)", "id=c.id col=c.xs"),
    ("select id, explode(xs) as x from db.c", "id=c.id x=c.xs"),
    ("select posexplode(xs) as (p, x) from db.c", "p=c.xs x=c.xs"),
    ("select explode(m) from db.c", "!no names"),
    ("select inline(xs) from db.c", "!no names"),
    ("select json_tuple(s, 'a', 'b') as (a, b) from db.c", "a=c.s b=c.s"),
    ("select stack(2, id, email) as (x) from db.c", "x=c.email+c.id"),
    ("select c.id, q.t from db.c, lateral (select max(amount) as t from db.o where cid = c.id) q",
     "id=c.id t=o.amount"),
    ("select q.e from db.c cross join lateral (select c.email as e) q", "e=c.email"),
    ("select e.x from db.c, lateral explode(xs) as e(x)", "x=c.xs"),
    ("select a, b from values (1, 'x'), (2, 'y') as v(a, b)", "a= b="),
    ("select * from (values (1, 2))", "col1= col2="),
    ("select id from range(10)", "id="),
    ("select r.id from range(10) r(id) join db.c on c.id = r.id", "id="),
    ("select * from db.o pivot (sum(amount) for cid in (1, 2))", "!PIVOT"),
    ("select * from db.o unpivot (v for k in (amount, cid))", "!PIVOT"),
    ("select transform(id, email) using 'cat' as (x, y) from db.c", "x=c.email+c.id y=c.email+c.id"),
]  # fmt: skip

UNDECLARED = [
    ("with s as (select * from db.u) select x as y from s", "y=u.x"),
    ("with s as (select * from db.u), r as (select x as y, upper(z) as z from s) select * from r", "y=u.x z=u.z"),
    ("with s as (select * from db.u), t as (select * from s) select t.x, s.y from t, s where t.k = s.k",
     "x=u.x y=u.y"),
    ("with s as (select *, row_number() over (partition by k order by t) as rn from db.u) select x, rn from s",
     "x=u.x rn=#u.k+#u.t"),
    ("with s as (select u.*, v.y from db.u join db.v on u.k = v.k) select x, y from s", "x=u.x y=v.y"),
    ("with s as (select * from db.c) select undeclared, email from s", "undeclared=c.undeclared email=c.email"),
    ("select q.x, q.s.f from (select * from db.u) q", "x=u.x f=u.s"),
    ("with s as (select * except (x) from db.u) select y from s", "y=u.y"),
    ("with s as (select * except (x) from db.u) select x from s", "!no input is known to have a column x"),
    ("with s as (select * from db.u join db.v on u.k = v.k) select x from s", "!x may be a column of db.u or db.v"),
    ("with s as (select * from db.u join db.v using (k)) select k from s", "k=u.k+v.k"),
    ("with s as (select * from db.u) select * from s", "!columns of db.u are not known"),
    ("with s as (select * from db.u union all select * from db.v) select x from s", "!columns of db.u are"),
    ("select (select max(zz) from db.u) as m from db.c", "m=u.zz"),
    ("select (select max(email) from db.u) as m from db.c", "m=c.email+u.email"),
]  # fmt: skip

OTHER = [
    ("insert into db.o select * from db.c", "!INSERT is not a query"),
    ("create table x as select 1", "!CREATE is not a query"),
    ("select id from db.c; select id from db.o", "!more than one statement"),
    ("merge into db.o using db.c on o.id = c.id when matched then delete", "!MERGE is not a query"),
    ("select from where", "!does not parse"),
    ("", "!no query"),
    ("-- nothing but a comment", "!no query"),
]

CORPUS = [*PLAIN, *EXPRESSIONS, *AGGREGATES, *STARS, *JOINS, *QUERIES, *ROWS, *UNDECLARED, *OTHER]


def shown(column: OutputColumn) -> str:
    names = [f"{one.relation.split('.')[-1]}.{one.column}" for one in column.origins]
    counted = [f"#{one.relation.split('.')[-1]}.{one.column}" for one in column.counted]
    return f"{column.name}={'+'.join(names + counted)}"


@pytest.mark.parametrize(("sql", "expected"), CORPUS, ids=[sql for sql, _ in CORPUS])
def test_every_column_comes_from_where_it_comes_from(sql: str, expected: str) -> None:
    facts = analyse(sql, TABLES)
    if facts.columns is None:
        assert expected.startswith("!"), facts.not_followed
        assert expected[1:] in facts.not_followed
    else:
        assert " ".join(shown(column) for column in facts.columns) == expected
        assert facts.not_followed == ""


def test_the_corpus_is_large_and_says_nothing_twice() -> None:
    assert len(CORPUS) == len({sql for sql, _ in CORPUS})
    assert len(CORPUS) > 120


def test_an_ephemeral_model_is_an_input_when_it_is_known_as_one() -> None:
    sql = "with __dbt__cte__e as (select email as x from db.c) select x from __dbt__cte__e"
    inside = analyse(sql, TABLES).columns
    outside = analyse(sql, {**TABLES, "__dbt__cte__e": ("x",)}).columns
    assert inside is not None
    assert outside is not None
    assert [shown(column) for column in inside] == ["x=c.email"]
    assert [shown(column) for column in outside] == ["x=__dbt__cte__e.x"]


def test_relations_are_looked_up_without_backticks_and_case() -> None:
    assert relation_key("`Sales`.`Gold`.Customers") == "sales.gold.customers"
