"""A contract version is registered once and never changes; consumers are known by their ports."""

from __future__ import annotations

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Actor, RegistrationStatus
from floe_testing.conformance.catalog.conftest import NewProduct
from floe_testing.conformance.catalog.products import (
    ACTOR,
    DOCUMENT,
    OURS,
    OWNER,
    THEIRS,
    THEN,
    claimed,
    consumer,
    contract,
)


def register(catalog: CatalogPlugin, product: str, version: str = "1.0.0", **changes: str) -> RegistrationStatus:
    schema_hash = changes.pop("schema_hash", "s1")
    return catalog.register_contract(
        product, "customers", version, schema_hash, contract(**changes), by=ACTOR
    ).status


def test_a_version_is_created_once(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    assert [register(catalog, product), register(catalog, product)] == ["created", "already_owned"]


def test_a_version_with_another_content_is_in_conflict(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    register(catalog, product)
    assert register(catalog, product, document_hash="d2", document="other") == "conflict"
    assert register(catalog, product, document_hash="d2", schema_hash="s2") == "conflict"
    kept = catalog.get_registered_contract(product, "customers", "1.0.0")
    assert kept
    assert (kept.document_hash, kept.schema_hash, kept.document) == ("d1", "s1", DOCUMENT)


def test_a_contract_needs_a_product_of_the_one_who_registers_it(catalog: CatalogPlugin, product: str) -> None:
    assert register(catalog, product) == "conflict"
    claimed(catalog, product)
    assert register(catalog, product, repository=THEIRS) == "conflict"
    assert catalog.list_registered_contracts(product) == []


def test_what_was_registered_is_read_back_whole(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    document = f"name: customers\ndescription: |\n  Umlaute äöü, '\"quotes\"', \\, {{}} and 漢字\n{'x' * 20_000}\n"
    register(catalog, product, document=document)
    found = catalog.get_registered_contract(product, "customers", "1.0.0")
    assert found
    assert found.document == document
    assert (found.name, found.version, found.owner) == ("customers", "1.0.0", OWNER)
    assert (found.registered_at, found.retired) == (THEN, False)
    assert catalog.get_registered_contract(product, "customers", "1.0.1") is None


def test_versions_are_listed_in_their_order(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    for version in ("1.10.0", "1.2.0", "10.0.0", "2.0.0"):
        register(catalog, product, version)
    listed = [(found.name, found.version) for found in catalog.list_registered_contracts(product)]
    assert listed == [("customers", version) for version in ("1.2.0", "1.10.0", "2.0.0", "10.0.0")]


def test_products_do_not_see_each_others_contracts(catalog: CatalogPlugin, new_product: NewProduct) -> None:
    """One name is the beginning of the other's."""
    short, long = new_product(), f"{new_product()}_x"
    for product in (short, long):
        claimed(catalog, product)
    register(catalog, long)
    assert catalog.list_registered_contracts(short) == []
    assert len(catalog.list_registered_contracts(long)) == 1


def test_a_retired_version_stays_and_is_marked(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    register(catalog, product)
    ended = [catalog.retire_contract(product, "customers", "1.0.0", by=ACTOR).status for _ in range(2)]
    assert ended == ["updated", "already_owned"]
    assert catalog.retire_contract(product, "customers", "9.0.0", by=ACTOR).status == "conflict"
    [found] = catalog.list_registered_contracts(product)
    assert (found.retired, found.document_hash) == (True, "d1")
    assert register(catalog, product, document_hash="d2") == "conflict"


def test_a_version_is_retired_by_its_owner(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    register(catalog, product)
    stranger = Actor(repository=THEIRS, user="root")
    tries = [{}, {"admin": True}, {"reason": "because"}, {"admin": True, "reason": "broken by design"}]
    ended = [catalog.retire_contract(product, "customers", "1.0.0", by=stranger, **each).status for each in tries]  # type: ignore[arg-type]  # both kinds
    assert ended == ["conflict", "conflict", "conflict", "updated"]
    assert catalog.product_history(product)[-1].reason == "broken by design"


def test_consumers_are_recorded_changed_and_removed(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    reader = consumer("finance.report", repository=THEIRS, owner=OWNER)
    recorded = [catalog.register_consumer(product, reader, by=ACTOR).status for _ in range(2)]
    assert recorded == ["created", "already_owned"]
    assert catalog.list_consumers(product) == [reader]
    wider = consumer("finance.report", version="^2", repository=THEIRS, owner=OWNER)
    assert catalog.register_consumer(product, wider, by=ACTOR).status == "updated"
    assert catalog.list_consumers(product, "customers") == [wider]
    assert catalog.list_consumers(product, "orders") == []
    gone = [
        catalog.remove_consumer(product, "customers", "finance.report", "customers", by=ACTOR).status
        for _ in range(2)
    ]
    assert gone == ["updated", "already_owned"]
    assert catalog.list_consumers(product) == []
    assert catalog.register_consumer(product, reader, by=ACTOR).ok
    assert catalog.list_consumers(product) == [reader]


def test_two_ports_and_two_products_are_three_consumers(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    readers = [
        consumer("finance.report", port="a"),
        consumer("finance.report", port="b"),
        consumer("finance.forecast", port="a"),
    ]
    for reader in readers:
        assert catalog.register_consumer(product, reader, by=Actor(repository=OURS)).status == "created"
    found = catalog.list_consumers(product, "customers")
    assert {(reader.product, reader.port) for reader in found} == {(item.product, item.port) for item in readers}
