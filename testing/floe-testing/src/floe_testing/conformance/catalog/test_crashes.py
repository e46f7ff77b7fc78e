"""A process that dies or stops between any two calls of its client leaves nothing that cannot be gone on with."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import count

import pytest

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Action
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.processes import DiedError, Done, Process, Sprung, process
from floe_testing.conformance.catalog.products import ACTOR, OURS, OWNER, THEIRS, claimed, contract, metadata
from floe_testing.conformance.catalog.subject import Subject

pytestmark = pytest.mark.usefixtures("client")  # where a client cannot be seen, its calls cannot be counted


def crash_points(subject: Subject) -> Iterator[tuple[int, Process]]:
    """A process to be killed before its first call, one before its second … the caller ends it."""
    for number in count(1):
        with process(subject) as victim:
            yield number, victim


def dies(victim: Process, number: int, method: str, *args: object) -> bool:
    """Whether the call was killed on its way; False: it has fewer calls than that, and is done."""
    victim.send(method, *args, trap=number, signal=signal.SIGKILL)
    try:
        answer = victim.receive()
    except DiedError:
        return True
    assert isinstance(answer, Done), answer
    assert len(answer.calls) < number
    return False


def claims(catalog: CatalogPlugin, product: str) -> list[Action]:
    return [line.action for line in catalog.product_history(product)]


def test_a_claim_that_was_killed_is_taken_up_again(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct
) -> None:
    landed = []
    for number, victim in crash_points(subject):
        product = new_product()
        if not dies(victim, number, "register_product_identity", product, OURS, OWNER):
            break
        owner = catalog.get_namespace_owner(product)
        assert owner in (None, OURS)
        landed.append(owner is not None)
        again = catalog.register_product_identity(product, OURS, OWNER, by=ACTOR)
        assert again.status == ("already_owned" if owner else "created")
        assert catalog.validate_product_identity(product, OURS).status == "valid"
        assert catalog.verify_product(product) == []
        assert claims(catalog, product) == [Action.CLAIM]
    assert landed == sorted(landed)  # not ours until one call, ours from then on
    assert set(landed) == {False, True}


def test_a_killed_claim_belongs_to_one_repository(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct
) -> None:
    for number, victim in crash_points(subject):
        product = new_product()
        if not dies(victim, number, "register_product_identity", product, OURS, OWNER):
            break
        first = catalog.register_product_identity(product, THEIRS, OWNER).status
        second = catalog.register_product_identity(product, OURS, OWNER).status
        assert (first, second) in (("created", "conflict"), ("conflict", "already_owned"))


def test_a_contract_that_was_killed_is_taken_up_again(
    catalog: CatalogPlugin, subject: Subject, product: str
) -> None:
    claimed(catalog, product)
    for number, victim in crash_points(subject):
        version = f"1.{number}.0"
        if not dies(victim, number, "register_contract", product, "customers", version, "s1", contract()):
            break
        before = catalog.get_registered_contract(product, "customers", version)
        again = catalog.register_contract(product, "customers", version, "s1", contract(), by=ACTOR)
        assert again.status == ("already_owned" if before else "created")
        assert catalog.verify_product(product) == []
    versions = [found.version for found in catalog.list_registered_contracts(product)]
    assert versions == [f"1.{each}.0" for each in range(1, number + 1)]
    assert claims(catalog, product) == [Action.CLAIM, *[Action.REGISTER_CONTRACT] * number]


def test_a_transfer_that_was_killed_is_taken_up_again(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct
) -> None:
    for number, victim in crash_points(subject):
        claimed(catalog, product := new_product())
        victim.send("transfer_product", product, THEIRS, OWNER, by=ACTOR, trap=number, signal=signal.SIGKILL)
        try:
            assert victim.receive().value.status == "updated"
            break
        except DiedError:
            owner = catalog.get_namespace_owner(product)
        assert owner in (OURS, THEIRS)
        again = catalog.transfer_product(product, THEIRS, OWNER, by=ACTOR)
        assert again.status == ("already_owned" if owner == THEIRS else "updated")
        assert catalog.verify_product(product) == []
        assert claims(catalog, product) == [Action.CLAIM, Action.TRANSFER]


def stopped(victim: Process, number: int, method: str, *args: object) -> bool:
    """Whether the process now stands still before that call; False: it was done before."""
    victim.send(method, *args, trap=number, signal=signal.SIGSTOP)
    answer = victim.receive()
    if isinstance(answer, Sprung):
        victim.wait_until_stopped()
        return True
    assert isinstance(answer, Done), answer
    return False


def test_a_claimant_that_slept_learns_who_won(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct
) -> None:
    """Whatever it believed when it fell asleep, a lock or a lease say, is over when it wakes up."""
    for number in count(1):
        product = new_product()
        with process(subject) as sleeper:
            if not stopped(sleeper, number, "register_product_identity", product, OURS, OWNER):
                break
            rival = catalog.register_product_identity(product, THEIRS, OWNER)
            sleeper.resume()
            woken = sleeper.receive().value
        assert {rival.status, woken.status} == {"created", "conflict"}
        winner = OURS if woken.status == "created" else THEIRS
        assert catalog.get_namespace_owner(product) == winner
        assert catalog.verify_product(product) == []


def test_a_contract_whose_author_slept_has_one_content(
    catalog: CatalogPlugin, subject: Subject, product: str
) -> None:
    claimed(catalog, product)
    other = contract(document="other", document_hash="d2")
    for number in count(1):
        version = f"1.{number}.0"
        with process(subject) as sleeper:
            if not stopped(sleeper, number, "register_contract", product, "customers", version, "s1", contract()):
                break
            rival = catalog.register_contract(product, "customers", version, "s1", other)
            sleeper.resume()
            woken = sleeper.receive().value
        assert {rival.status, woken.status} == {"created", "conflict"}
        kept = catalog.get_registered_contract(product, "customers", version)
        assert kept
        assert kept.document_hash == ("d1" if woken.status == "created" else "d2")
    assert catalog.verify_product(product) == []


def test_what_a_sleeper_writes_late_is_put_right_again(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct
) -> None:
    """It wakes up with an older entry in its hands than the one that the properties show by now."""
    for number in count(1):
        claimed(catalog, product := new_product())
        with process(subject) as sleeper:
            older = metadata(product, version="2.0.0")
            if not stopped(sleeper, number, "update_product_metadata", product, older):
                break
            newer = metadata(product, version="3.0.0")
            assert catalog.update_product_metadata(product, newer, by=ACTOR).status == "updated"
            catalog.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
            sleeper.resume()
            assert sleeper.receive().value.status == "updated"
        assert catalog.verify_product(product) == []
    assert number > 1


def test_calls_are_seen(client: Open, subject: Subject, product: str) -> None:
    """Otherwise the tests above would pass without a single crash."""
    del client
    with process(subject) as one:
        one.send("register_product_identity", product, OURS, OWNER)
        assert "create_table" in one.receive().calls
