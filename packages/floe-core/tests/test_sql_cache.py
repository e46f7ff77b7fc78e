"""Facts are read once per content, and a cache that cannot be used is no cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from floe_core.project import Column, DependsOn, RawNode, RawSource
from floe_core.sql.cache import FactsCache, content_key
from floe_core.sql.facts import Origin, OutputColumn, SqlFacts, analyse
from floe_core.sql.lineage import PYTHON, SNAPSHOT, UNCOMPILED, Readable, derive, from_manifest

SQL = "select email, count(id) as n from db.c cross join db.o order by 1"
TABLES = {"db.c": ("id", "email"), "db.o": ("k",)}


def test_facts_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "facts.json"
    first = FactsCache(path)
    texts = [SQL, "select * from db.u", "select ("]
    made = [first.analyse(sql, TABLES) for sql in texts]
    first.save()
    second = FactsCache(path)
    assert [second.analyse(sql, TABLES) for sql in texts] == made == [analyse(sql, TABLES) for sql in texts]
    assert (first.hits, first.misses, second.hits, second.misses) == (0, 3, 3, 0)


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        (SQL + " ", TABLES),
        (SQL, {**TABLES, "db.c": ("id", "email", "x")}),
        (SQL, {**TABLES, "db.c": None}),
        (SQL, {**TABLES, "db.x": None}),
    ],
)
def test_whatever_facts_depend_on_is_in_the_key(sql: str, tables: dict[str, tuple[str, ...] | None]) -> None:
    assert content_key(sql, tables) != content_key(SQL, TABLES)


def test_the_order_of_tables_is_not_in_the_key() -> None:
    assert content_key(SQL, TABLES) == content_key(SQL, dict(reversed(TABLES.items())))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\x00", b"[]", b'{"stamp": "other", "facts": {}}', b'{"stamp": 1}', b"[" * 100_000],
)
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "facts.json"
    path.write_bytes(content)
    cache = FactsCache(path)
    assert cache.analyse(SQL, TABLES) == analyse(SQL, TABLES)
    cache.save()
    again = FactsCache(path)
    again.analyse(SQL, TABLES)
    assert again.hits == 1


def test_it_keeps_what_was_used_last_and_no_more_than_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    for start in (0, 3):
        cache = FactsCache(path, limit=4)
        for number in range(start, start + 3):
            cache.analyse(f"select {number} as x", {})
        cache.save()
    last = FactsCache(path, limit=4)
    for number in range(6):
        last.analyse(f"select {number} as x", {})
    assert (last.hits, last.misses) == (4, 2)


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = FactsCache(tmp_path / "file" / "facts.json")
    cache.analyse(SQL, TABLES)
    cache.save()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_project_is_read_from_its_sources_on() -> None:
    nodes = [
        Readable("source.c", "c", "raw.c", ("id", "email"), is_table=True),
        Readable("source.u", "u", "raw.u", is_table=True),
        Readable("model.a", "a", "db.a", reads=("source.c",), sql="select * from raw.c"),
        Readable("model.e", "e", "", reads=("model.a",), sql="select email as mail from db.a"),
        Readable(
            "model.b",
            "b",
            "db.b",
            reads=("model.e",),
            sql="with __dbt__cte__e as (select email as mail from db.a) select * from __dbt__cte__e",
        ),
        Readable("model.p", "p", "db.p", reads=("model.b",), sql="x = 1", language="python"),
        Readable("model.q", "q", "db.q", reads=("model.p",), sql="select * from db.p"),
        Readable("snapshot.h", "h", "db.h", reads=("model.a",), sql="select id from db.a", added=SNAPSHOT),
        Readable("model.i", "i", "db.i", reads=("snapshot.h",), sql="select * from db.h"),
        Readable("model.n", "n", "db.n", reads=("model.b",)),
        Readable("model.s", "s", "db.s", reads=("source.u",), sql="select * from raw.u join db.s on true"),
    ]
    facts = derive(nodes, FactsCache())
    assert facts["model.a"].names == ("id", "email")
    assert facts["model.b"].columns == (OutputColumn("mail", (Origin("__dbt__cte__e", "mail"),)),)
    assert facts["snapshot.h"].names == ("id",)
    assert facts["model.i"].names == ("id", *SNAPSHOT)
    assert facts["model.p"] == PYTHON
    assert facts["model.n"] == UNCOMPILED
    assert facts["model.q"].not_followed == "the columns of db.p are not known, and * reads them"
    assert facts["model.s"].columns is None
    assert set(facts) == {node.id for node in nodes if not node.is_table}


def test_a_manifest_says_what_is_to_be_read() -> None:
    source = RawSource("source.c", "c", "crm", "p", "s.yml", "`raw`.`C`", columns={"Id": Column("`Id`")})
    seed = RawNode("seed.s", "s", "seed", "p", "s.csv", relation_name="db.s")
    model = RawNode(
        "model.a",
        "a",
        "model",
        "p",
        "a.sql",
        relation_name="db.a",
        compiled_code="select id from raw.c",
        depends_on=DependsOn(["source.c"]),
    )
    snapshot = RawNode("snapshot.h", "h", "snapshot", "p", "h.sql", compiled_code="select 1 as x")
    nodes = list(from_manifest([source], [seed, model, snapshot]))
    assert [(node.relation, node.columns, node.is_table, node.added) for node in nodes] == [
        ("raw.c", ("id",), True, ()),
        ("db.s", (), True, ()),
        ("db.a", (), False, ()),
        ("", (), False, SNAPSHOT),
    ]
    assert derive(nodes, FactsCache())["model.a"].columns == (OutputColumn("id", (Origin("raw.c", "id"),)),)


def test_facts_are_plain_values() -> None:
    assert hash(SqlFacts(columns=(OutputColumn("a", (Origin("t", "a"),)),)))
