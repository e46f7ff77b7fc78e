"""What is promised stays as it was promised; who relies on it is known."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_catalog import ABOUT, AT, ELSEWHERE, HERE, PRODUCT, SqliteCatalog

from floe_core.identity import Action, Actor, Consumer, ContractMetadata
from floe_iceberg.mirror import contract_properties

PROMISE = ContractMetadata("a@acme.com", "Customers", AT, '{"id": "x"}', "d1", HERE)
READER = Consumer("finance.reports", "customers", "^1", "crm", ELSEWHERE, "f@acme.com", AT)


@pytest.fixture
def registered(catalog: SqliteCatalog) -> SqliteCatalog:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    return catalog


def mirrored(catalog: SqliteCatalog) -> str | None:
    with catalog.raw() as raw:
        found = raw.load_namespace_properties(("sales", "customer_360"))
    return found.get("floe.contracts")


def test_a_version_is_registered_once_with_its_document(registered: SqliteCatalog) -> None:
    first = registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", PROMISE)
    again = registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", PROMISE)
    assert [first.status, again.status] == ["created", "already_owned"]
    [contract] = registered.list_registered_contracts(PRODUCT)
    assert contract == registered.get_registered_contract(PRODUCT, "customers", "1.0.0")
    assert (contract.id(PRODUCT), contract.document) == ("sales.customer_360/customers:1.0.0", '{"id": "x"}')
    assert mirrored(registered) == '["customers:1.0.0"]'


@pytest.mark.parametrize(("schema_hash", "document_hash"), [("s2", "d1"), ("s1", "d2")])
def test_other_content_under_the_same_version_is_a_conflict(
    registered: SqliteCatalog, schema_hash: str, document_hash: str
) -> None:
    registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", PROMISE)
    changed = replace(PROMISE, document_hash=document_hash)
    refused = registered.register_contract(PRODUCT, "customers", "1.0.0", schema_hash, changed)
    assert refused.status == "conflict"
    assert "2026-01-03 with other content" in refused.message
    assert registered.list_registered_contracts(PRODUCT)[0].schema_hash == "s1"


def test_only_the_owner_of_a_registered_product_promises(registered: SqliteCatalog) -> None:
    stranger = replace(PROMISE, repository=ELSEWHERE)
    refused = registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", stranger)
    assert (refused.status, refused.repository) == ("conflict", HERE)
    assert registered.register_contract("sales.nothing", "customers", "1.0.0", "s1", PROMISE).status == "conflict"
    registered.retire_product(PRODUCT, by=Actor(HERE))
    assert registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", PROMISE).status == "conflict"
    assert registered.list_registered_contracts(PRODUCT) == []


def test_versions_come_in_their_own_order_and_the_newest_living_one_is_shown(registered: SqliteCatalog) -> None:
    for version in ("1.10.0", "1.9.0", "2.0.0"):
        registered.register_contract(PRODUCT, "customers", version, "s", PROMISE)
    registered.register_contract(PRODUCT, "order-lines", "1.0.0", "s", PROMISE)
    listed = [f"{item.name}:{item.version}" for item in registered.list_registered_contracts(PRODUCT)]
    assert listed == ["customers:1.9.0", "customers:1.10.0", "customers:2.0.0", "order-lines:1.0.0"]
    assert mirrored(registered) == '["customers:2.0.0", "order-lines:1.0.0"]'
    ours = Actor(HERE)
    assert registered.retire_contract(PRODUCT, "customers", "2.0.0", reason="wrong", by=ours).status == "updated"
    assert registered.retire_contract(PRODUCT, "customers", "2.0.0", by=ours).status == "already_owned"
    assert registered.retire_contract(PRODUCT, "customers", "3.0.0", by=ours).status == "conflict"
    assert mirrored(registered) == '["customers:1.10.0", "order-lines:1.0.0"]'
    assert [item.retired for item in registered.list_registered_contracts(PRODUCT)] == [False, False, True, False]


def test_as_many_contracts_are_shown_as_fit_and_the_rest_is_counted() -> None:
    many = [(f"contract_{number:02}", "1.0.0") for number in range(40)]
    shown = contract_properties(many, 100)
    assert shown == {
        "floe.contracts": '["contract_00:1.0.0", "contract_01:1.0.0", "contract_02:1.0.0", "contract_03:1.0.0"]',
        "floe.contracts.more": "36",
    }
    assert contract_properties(many, None)["floe.contracts.more"] == ""


def test_products_whose_names_begin_alike_keep_their_own(registered: SqliteCatalog) -> None:
    registered.register_product_namespace("sales.customer", replace(ABOUT, name="customer"))
    registered.register_contract(PRODUCT, "customers", "1.0.0", "s", PROMISE)
    assert registered.list_registered_contracts("sales.customer") == []


def test_thirty_two_registrations_at_once_are_all_there(tmp_path: Path) -> None:
    SqliteCatalog(tmp_path).register_product_namespace(PRODUCT, ABOUT)
    catalog = SqliteCatalog(tmp_path)

    def register(number: int) -> str:
        return catalog.register_contract(PRODUCT, f"contract_{number:02}", "1.0.0", "s", PROMISE).status

    with ThreadPoolExecutor(32) as pool:
        assert set(pool.map(register, range(32))) == {"created"}
    listed = [item.name for item in catalog.list_registered_contracts(PRODUCT)]
    assert listed == [f"contract_{number:02}" for number in range(32)]
    assert catalog.verify_product(PRODUCT) == []


def test_consumers_are_recorded_changed_and_gone(registered: SqliteCatalog) -> None:
    assert registered.register_consumer(PRODUCT, READER).status == "created"
    assert registered.register_consumer(PRODUCT, READER).status == "already_owned"
    assert registered.register_consumer(PRODUCT, replace(READER, version="^2")).status == "updated"
    other = replace(READER, contract="orders", product="hr.people")
    registered.register_consumer(PRODUCT, other)
    assert registered.list_consumers(PRODUCT) == [replace(READER, version="^2"), other]
    assert registered.list_consumers(PRODUCT, "orders") == [other]
    assert registered.remove_consumer(PRODUCT, "orders", "hr.people", "crm").status == "updated"
    assert registered.remove_consumer(PRODUCT, "orders", "hr.people", "crm").status == "already_owned"
    assert registered.list_consumers(PRODUCT, "orders") == []
    assert registered.register_consumer(PRODUCT, other).status == "created"


def test_the_history_tells_everything_in_its_order(registered: SqliteCatalog) -> None:
    registered.register_contract(PRODUCT, "customers", "1.0.0", "s1", PROMISE, by=Actor(HERE, "run/7", "ann", "c0"))
    registered.register_consumer(PRODUCT, READER)
    registered.update_product_metadata(PRODUCT, replace(ABOUT, version="2.0.0"))
    lines = registered.product_history(PRODUCT)
    assert [(line.action, line.subject) for line in lines] == [
        (Action.CLAIM, PRODUCT),
        (Action.REGISTER_CONTRACT, "sales.customer_360/customers:1.0.0"),
        (Action.REGISTER_CONSUMER, "finance.reports → sales.customer_360/customers"),
        (Action.UPDATE, PRODUCT),
    ]
    assert lines[1].by == Actor(HERE, "run/7", "ann", "c0")
    assert lines[3].before
    assert lines[3].after
    assert (lines[3].before["version"], lines[3].after["version"]) == ("1.2.3", "2.0.0")
