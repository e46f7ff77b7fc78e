"""A service that is reached over HTTP: its answers get lost, and what it did is known all the same."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_testing.conformance.catalog.conftest import NewProduct
from floe_testing.conformance.catalog.products import ACTOR, OURS, OWNER, THEIRS, claimed, contract
from floe_testing.conformance.catalog.subject import Subject
from floe_testing.services.proxy import Fault, Proxy, every, nth_write, writes

AFTER = [Fault.LOSE, Fault.FAIL_AFTER]
BEFORE = [Fault.CUT, Fault.FAIL]


def is_done(proxy: Proxy, number: int) -> bool:
    """Whether the operation had fewer writes than that: the fault did not happen any more."""
    return sum(request.writes for request in proxy.requests) < number


@pytest.mark.parametrize("fault", [*AFTER, *BEFORE])
def test_a_claim_survives_it_at_every_write(
    catalog: CatalogPlugin, subject: Subject, proxy: Proxy, new_product: NewProduct, fault: Fault
) -> None:
    remote = subject.at(uri=proxy.uri).make()
    for number in count(1):
        product = new_product()
        proxy.apply(nth_write(number, fault))
        assert remote.register_product_identity(product, OURS, OWNER).status == "created"
        assert catalog.get_namespace_owner(product) == OURS
        assert catalog.register_product_identity(product, THEIRS, OWNER).status == "conflict"
        assert catalog.verify_product(product) == []
        if is_done(proxy, number):
            break
    assert number > 1


@pytest.mark.parametrize("fault", [*AFTER, *BEFORE])
def test_a_contract_survives_it_at_every_write(
    catalog: CatalogPlugin, subject: Subject, proxy: Proxy, new_product: NewProduct, fault: Fault
) -> None:
    remote = subject.at(uri=proxy.uri).make()
    for number in count(1):
        claimed(catalog, product := new_product())
        proxy.apply(nth_write(number, fault))
        made = remote.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
        assert made.status == "created"
        assert [found.document_hash for found in catalog.list_registered_contracts(product)] == ["d1"]
        assert catalog.verify_product(product) == []
        if is_done(proxy, number):
            break
    assert number > 1


def test_somebody_elses_success_is_not_taken_for_ours(
    catalog: CatalogPlugin, subject: Subject, proxy: Proxy, product: str
) -> None:
    """The claim comes too late and its refusal is lost: what is read back is the other's."""
    claimed(catalog, product, THEIRS)
    proxy.apply(writes(Fault.LOSE))
    refused = subject.at(uri=proxy.uri).make().register_product_identity(product, OURS, OWNER)
    assert (refused.status, refused.existing_owner) == ("conflict", THEIRS)


def test_an_operation_that_was_given_up_can_be_repeated(
    catalog: CatalogPlugin, subject: Subject, proxy: Proxy, new_product: NewProduct
) -> None:
    remote = subject.at(uri=proxy.uri).make()
    for fault, expected in ((Fault.CUT, "created"), (Fault.FAIL, "created")):
        product = new_product()
        proxy.apply(writes(fault))
        with pytest.raises(FloeError) as caught:
            remote.register_product_identity(product, OURS, OWNER)
        assert caught.value.findings[0].code == "FLOE-E807"
        proxy.reset()
        assert catalog.get_namespace_owner(product) is None
        assert remote.register_product_identity(product, OURS, OWNER).status == expected


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.FAIL, Fault.DENY])
def test_a_service_that_refuses_is_never_a_verdict(
    catalog: CatalogPlugin, subject: Subject, proxy: Proxy, product: str, fault: Fault
) -> None:
    claimed(catalog, product)
    remote = subject.at(uri=proxy.uri).make()
    proxy.apply(every(fault))
    for look in (
        lambda: remote.validate_product_identity(product, OURS),
        lambda: remote.get_namespace_owner(product),
        remote.list_products,
    ):
        check_unknown(look)


def test_a_service_that_is_silent_is_given_up(subject: Subject, proxy: Proxy, product: str) -> None:
    """A client without a timeout hangs here for good."""
    proxy.apply(every(Fault.SWALLOW))
    check_unknown(lambda: subject.at(uri=proxy.uri).make().validate_product_identity(product, OURS))


def check_unknown(look: Callable[[], object]) -> None:
    with pytest.raises(FloeError) as caught:
        look()
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E807", 3)
