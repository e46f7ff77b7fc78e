"""Every change leaves one line, and no line ever goes away."""

from __future__ import annotations

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Action, Actor
from floe_testing.conformance.catalog.products import ACTOR, OURS, OWNER, THEIRS, consumer, contract, metadata


def test_every_change_is_one_line(catalog: CatalogPlugin, product: str) -> None:
    catalog.register_product_namespace(product, metadata(product), by=ACTOR)
    catalog.register_product_namespace(product, metadata(product), by=ACTOR)  # changes nothing
    catalog.register_product_namespace(product, metadata(product, version="1.1.0"), by=ACTOR)
    catalog.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
    catalog.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
    catalog.register_consumer(product, consumer("finance.report"), by=ACTOR)
    catalog.transfer_product(product, THEIRS, OWNER, by=ACTOR, reason="moved")
    catalog.register_product_identity(product, OURS, OWNER, by=ACTOR)  # a conflict changes nothing
    catalog.retire_contract(product, "customers", "1.0.0", by=ACTOR)  # not theirs any more
    catalog.retire_contract(product, "customers", "1.0.0", by=Actor(repository=THEIRS))
    catalog.retire_product(product, by=Actor(repository=THEIRS), reason="done")
    lines = catalog.product_history(product)
    assert sorted(line.action for line in lines) == sorted(
        [
            Action.CLAIM,
            Action.UPDATE,
            Action.REGISTER_CONTRACT,
            Action.REGISTER_CONSUMER,
            Action.TRANSFER,
            Action.RETIRE_CONTRACT,
            Action.RETIRE,
        ]
    )
    assert [line.at for line in lines] == sorted(line.at for line in lines)
    assert {line.product for line in lines} == {product}


def test_a_line_says_who_what_before_after_and_why(catalog: CatalogPlugin, product: str) -> None:
    catalog.register_product_namespace(product, metadata(product), by=ACTOR)
    catalog.transfer_product(product, THEIRS, "they@acme.com", by=ACTOR, reason="reorganised")
    claim, transfer = catalog.product_history(product)
    assert (claim.action, claim.before, claim.by, claim.subject) == (Action.CLAIM, None, ACTOR, product)
    assert (transfer.action, transfer.by, transfer.reason) == (Action.TRANSFER, ACTOR, "reorganised")
    assert transfer.before
    assert transfer.after
    assert (transfer.before["repository"], transfer.after["repository"]) == (OURS, THEIRS)
    assert (transfer.before["owner"], transfer.after["owner"]) == (OWNER, "they@acme.com")


def test_a_line_once_written_stays_as_it_is(catalog: CatalogPlugin, product: str) -> None:
    catalog.register_product_namespace(product, metadata(product), by=ACTOR)
    seen = catalog.product_history(product)
    for number in range(1, 6):
        newer = metadata(product, version=f"1.{number}.0")
        assert catalog.register_product_namespace(product, newer, by=ACTOR).status == "updated"
        now = catalog.product_history(product)
        assert now[: len(seen)] == seen
        assert len(now) == len(seen) + 1
        seen = now
    found = catalog.get_product(product)
    assert found
    assert (found.version, found.revision) == ("1.5.0", 6)
