"""Many processes at once, and processes that die: one owner, nothing lost, the next run completes.

FLOE_ROUNDS is how often each race is run; `make attack` runs 500.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from racers import WORK, claim, killed, processes, tell_one_another
from sqlite_catalog import ABOUT, SqliteCatalog

ROUNDS = int(os.environ.get("FLOE_ROUNDS", "3"))
RACERS = 16


def test_of_sixteen_processes_one_owns_it_and_all_agree_which(tmp_path: Path) -> None:
    with processes(RACERS) as pool:
        told = pool.starmap(claim, [(tmp_path, racer, ROUNDS) for racer in range(RACERS)], chunksize=1)
    catalog = SqliteCatalog(tmp_path)
    for number, answers in enumerate(zip(*told, strict=True)):
        owner = catalog.get_namespace_owner(f"race.p{number}")
        assert Counter(answers) == {f"created {owner}": 1, f"conflict {owner}": RACERS - 1}
        assert answers.index(f"created {owner}") == int(str(owner).removeprefix("github.com/acme/r"))
        assert catalog.verify_product(f"race.p{number}") == []


def test_changes_at_the_same_time_are_all_in_the_history(tmp_path: Path) -> None:
    catalog = SqliteCatalog(tmp_path)
    catalog.register_product_identity("race.shared", "github.com/acme/r", "o")
    racers = 6
    with processes(racers) as pool:
        told = pool.starmap(tell_one_another, [(tmp_path, racer, 2) for racer in range(racers)], chunksize=1)
    assert Counter(status for answers in told for status in answers) == {"updated": racers * 2}
    owners = [line.after["owner"] for line in catalog.product_history("race.shared") if line.after]
    assert sorted(owners) == sorted(
        ["o", *(f"o{racer}-{number}" for racer in range(racers) for number in range(2))]
    )
    assert catalog.verify_product("race.shared") == []


@pytest.mark.parametrize("work", WORK if ROUNDS > 3 else ["claim", "transfer", "contract", "consumer"])
def test_a_process_that_is_killed_anywhere_leaves_what_the_next_run_completes(tmp_path: Path, work: str) -> None:
    start = tmp_path / "start"
    start.mkdir()
    prepared = SqliteCatalog(start)
    prepared.register_product_namespace("sales.orders", replace(ABOUT, name="orders"))
    counted = SqliteCatalog(shutil.copytree(start, tmp_path / "count"))
    WORK[work](counted)
    for number in range(1, len(counted.calls.names) + 1):
        home = tmp_path / f"killed-{number}"
        shutil.copytree(start, home)
        assert killed(home, work, number)
        catalog = SqliteCatalog(home)
        WORK[work](catalog)
        products = [product.id for product in catalog.list_products()]
        assert {product.id for product in counted.list_products()} == set(products)
        assert [catalog.verify_product(product) for product in products] == [[] for _ in products]
        assert state(catalog) == state(counted)


def state(catalog: SqliteCatalog) -> list[object]:
    """Everything the registry knows now; not how often it was said."""
    products = [replace(product, revision=0) for product in catalog.list_products()]
    return [
        products,
        *(catalog.list_registered_contracts(product.id) for product in products),
        *(catalog.list_consumers(product.id) for product in products),
    ]
