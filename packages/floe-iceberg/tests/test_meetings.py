"""Two that change a product at once, one of them between any two calls of the other: the readable copy is right."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from sqlite_catalog import ABOUT, HERE, PRODUCT, SqliteCatalog

from floe_core.identity import Actor, ContractMetadata, RegistrationResult

OURS = Actor(HERE)
Change = Callable[[SqliteCatalog], RegistrationResult]


def promise(version: str) -> Change:
    about = ContractMetadata("a@acme.com", document_hash="d1", repository=HERE)
    return lambda catalog: catalog.register_contract(PRODUCT, "customers", version, "s1", about, by=OURS)


def update(version: str) -> Change:
    return lambda catalog: catalog.register_product_namespace(PRODUCT, replace(ABOUT, version=version), by=OURS)


FIRST: dict[str, Change] = {
    "update": update("2.0.0"),
    "transfer": lambda catalog: catalog.transfer_product(PRODUCT, HERE, "first@acme.com", by=OURS),
    "retire": lambda catalog: catalog.retire_product(PRODUCT, by=OURS),
    "register a contract": promise("1.1.0"),
    "retire a contract": lambda catalog: catalog.retire_contract(PRODUCT, "customers", "1.0.0", by=OURS),
}
SECOND: dict[str, Change] = {
    "update": update("3.0.0"),
    "retire": lambda catalog: catalog.retire_product(PRODUCT, by=OURS),
    "register a contract": promise("1.2.0"),
}


def meet(folder: Path, first: Change, second: Change, number: int) -> int:
    """Have the second change happen right before that call of the first: how many calls the first made."""
    catalog, other = SqliteCatalog(folder), SqliteCatalog(folder)

    def interrupt(name: str) -> None:
        del name
        if len(catalog.calls.names) == number:
            second(other)

    catalog.calls.before = interrupt
    with catalog.session(), other.session():
        first(catalog)
    return len(catalog.calls.names)


@pytest.mark.parametrize("second", SECOND)
@pytest.mark.parametrize("first", FIRST)
def test_what_is_shown_is_the_newest_entry(tmp_path: Path, first: str, second: str) -> None:
    start = tmp_path / "start"
    start.mkdir()
    prepared = SqliteCatalog(start)
    prepared.register_product_namespace(PRODUCT, ABOUT, by=OURS)
    promise("1.0.0")(prepared)
    for number in count(1):
        folder = shutil.copytree(start, tmp_path / str(number))
        catalog = SqliteCatalog(folder)
        calls = meet(folder, FIRST[first], SECOND[second], number)
        if calls < number:
            break
        assert catalog.verify_product(PRODUCT) == [], f"before call {number} of {calls}"
    assert number > 5


@pytest.mark.parametrize("is_bare", [False, True])
@pytest.mark.parametrize("second", ["update", "register a contract", "retire"])
def test_a_claim_that_others_go_on_from_is_not_shown_over_theirs(
    tmp_path: Path, second: str, is_bare: bool
) -> None:
    """One repository, two runs: the second goes on as soon as the first has its claim."""
    start = tmp_path / "start"
    start.mkdir()
    prepared = SqliteCatalog(start)
    prepared.register_product_namespace("sales.other", replace(ABOUT, name="other"))
    if is_bare:
        with prepared.raw() as raw:
            raw.create_namespace("sales.customer_360")

    def claim_and_go_on(other: SqliteCatalog) -> RegistrationResult:
        update("1.2.3")(other)
        return SECOND[second](other)

    for number in count(1):
        folder = shutil.copytree(start, tmp_path / str(number))
        catalog = SqliteCatalog(folder)
        calls = meet(folder, update("1.2.3"), claim_and_go_on, number)
        if calls < number:
            break
        assert catalog.verify_product(PRODUCT) == [], f"before call {number} of {calls}"
    assert number > 3
