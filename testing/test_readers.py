"""What consumers see of runs, and what never: a reader polls the real catalog through all that happens."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from testing.watched import (
    EACH,
    LOG,
    Json,
    World,
    on_rest,
    on_sqlite,
    reading,
    variables,
    wait_for_line,
)

from floe_core.findings import FloeError
from floe_spark.jars import JARS, ensure_jars
from floe_testing.services.proxy import Fault

pytestmark = pytest.mark.service
OLD = ({"run": "int", "id": "long"}, {"run": "int", "id": "long", "level": "int"})
NEW = (OLD[0] | {"label": "string"}, {"run": "int", "id": "long", "label": "string", "level": "int"})


@pytest.fixture(autouse=True)
def jars() -> None:
    try:
        ensure_jars(JARS)
    except FloeError as exc:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"Spark's jars cannot be had: {exc}")


def run_of(look: Json) -> list[int | None]:
    """Which run each of the three is of; None where it is not there."""
    log, state, view = look["seen"]
    return [
        max(run for run, _ in log["runs"]) if log else None,
        state["runs"][0][0] if state else None,
        view["runs"][0] if view else None,
    ]


def settled(looks: Sequence[Json], run: int | None) -> None:
    """The chapter has ended with all three at this run."""
    assert run_of(looks[-1]) == [run] * 3
    assert looks[-1]["together"]


def unmoved(looks: Sequence[Json], run: int | None) -> None:
    """Nothing else was seen in the whole chapter."""
    assert [run_of(look) for look in looks] == [[run] * 3] * len(looks)


def kill_in_dbt(world: World, number: int) -> None:
    with world.started(*variables(number)) as process:
        wait_for_line(process, "gold_log")
        process.kill()


def conflict(world: World, number: int) -> Json:
    """Another writer comes while the run stands still; its record."""
    with world.started(*variables(number)) as process:
        wait_for_line(process, "gold_log")
        process.send_signal(signal.SIGSTOP)
        try:
            world.append()
        finally:
            process.send_signal(signal.SIGCONT)
        process.communicate()
    assert process.returncode == 3
    return world.record


def refused_for(record: Json) -> str:
    """A conflict: nothing is published, and the message names the table."""
    [finding] = record["errors"]
    assert (finding["code"], record["publication"]["status"]) == ("FLOE-E730", "withheld")
    assert record["publication"]["relations"] == []
    message: str = finding["message"]
    assert LOG in message
    return message


def demand_steady(log: Sequence[Json], published: Sequence[int]) -> None:
    """Whatever the catalog: never fewer rows, half a schema, another table, or what was not published."""
    for place in (0, 1):
        seen = [look["seen"][place] for look in log]
        there = [item for item in seen if item]
        assert seen[-len(there) :] == there, "once there, always there"
        assert all(item["rows"] == item["counted"] for item in there)
        rows = [item["rows"] for item in there]
        assert rows == sorted(rows)
        assert len({item["uuid"] for item in there}) == 1
        wide = [item["schema"] == NEW[place] for item in there]
        assert wide == sorted(wide)
        assert all(item["schema"] in (OLD[place], NEW[place]) for item in there)
        runs = list(dict.fromkeys(run for item in there for run, _ in item["runs"] if run))
        assert runs == list(published)
    assert {run for look in log for run in run_of(look)} == {None, *published}
    for look in log:
        log_table, state, _ = look["seen"]
        if log_table:
            assert all(count == EACH for run, count in log_table["runs"] if run)
        if state:
            assert (len(state["runs"]), state["least"]) == (1, 1)


def demand_whole(looks: Sequence[Json]) -> None:
    """Never a mix of two runs, of tables or of schemas."""
    for look in looks:
        if look["together"]:
            assert len(set(run_of(look))) == 1, look
            if look["seen"][0]:
                assert [item["schema"] for item in look["seen"][:2]] in (list(OLD), list(NEW))


def is_step(seen: Sequence[int | None], published: Sequence[int | None]) -> bool:
    """One run, or one and the next: never a view before the tables that it reads."""
    log, state, view = map(published.index, seen)
    return max(log, state) - min(log, state) <= 1 and min(log, state) - view in (0, 1)


def test_readers_on_sqlite_see_whole_runs_or_nothing_of_them(tmp_path: Path) -> None:
    with on_sqlite(tmp_path) as world, reading(world.client, tmp_path / "reader.log") as reader:
        assert world.run(1, level=-1) == 1
        unmoved(reader.mark("a first build that breaks its contract"), None)

        assert world.run(2) == 0
        settled(reader.mark("a good build"), 2)

        assert world.run(3, level=-1) == 1
        unmoved(reader.mark("a blocked rerun"), 2)

        kill_in_dbt(world, 4)
        unmoved(reader.mark("kill -9 while dbt builds"), 2)

        with world.started(*variables(5)) as process:
            wait_for_line(process, "Checking")
            with closing(sqlite3.connect(tmp_path / ".floe" / "catalog.db", isolation_level=None)) as database:
                database.execute("BEGIN IMMEDIATE")  # no transaction comes through
                wait_for_line(process, "Publishing")
                process.kill()
                process.wait()
        unmoved(reader.mark("kill -9 while it publishes"), 2)

        assert "append" in refused_for(conflict(world, 6))
        looks = reader.mark("a conflict")
        settled(looks, 2)
        assert looks[-1]["seen"][0]["rows"] == EACH + 1

        world.widen()
        assert world.run(7) == 0
        settled(reader.mark("the next run, with another schema"), 7)
        world.sweep()
        unmoved(reader.mark("a sweep"), 7)
    demand_steady(reader.log, [2, 7])
    demand_whole(reader.log)


def test_readers_on_rest_see_checked_tables_only(tmp_path: Path) -> None:
    """New tables, the tables of one transaction, views: moments apart, each of them as it was checked."""
    with on_rest(tmp_path) as world, reading(world.client, tmp_path / "reader.log") as reader:
        proxy = world.proxy
        assert proxy
        assert world.run(1, level=-1) == 1
        unmoved(reader.mark("a first build that breaks its contract"), None)

        assert world.run(2) == 0
        settled(reader.mark("a good build"), 2)

        assert world.run(3, level=-1) == 1
        unmoved(reader.mark("a blocked rerun"), 2)

        kill_in_dbt(world, 4)
        unmoved(reader.mark("kill -9 while dbt builds"), 2)

        proxy.apply(lambda request: Fault.HOLD if request.path.endswith("transactions/commit") else None)
        with world.started(*variables(5)) as process:
            wait_for_line(process, "Publishing")
            reader.wait_for(lambda look: run_of(look)[:2] == [5, 5])
            process.kill()
        proxy.reset()
        proxy.release()
        assert run_of(reader.mark("kill -9 between tables and views")[-1]) == [5, 5, 2]

        assert "append" in refused_for(conflict(world, 6))
        looks = reader.mark("a conflict, after the other publication was finished")
        settled(looks, 5)
        assert looks[-1]["seen"][0]["rows"] == 2 * EACH + 1

        world.widen()
        assert world.run(7) == 0
        settled(reader.mark("the next run, with another schema"), 7)
        world.sweep()
        unmoved(reader.mark("a sweep"), 7)
    demand_steady(reader.log, [2, 5, 7])
    assert all(is_step(run_of(look), [None, 2, 5, 7]) for look in reader.log if look["together"])
