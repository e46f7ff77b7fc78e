"""Who owns a product: the first to register, until the owner or an administrator says otherwise."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_catalog import ABOUT, ELSEWHERE, HERE, PRODUCT, SqliteCatalog

from floe_core.findings import FloeError
from floe_core.identity import Actor, IdentityStatus, RegistrationStatus

OWNER = Actor(repository=HERE, user="ann")
STRANGER = Actor(repository=ELSEWHERE, user="bob")
MIRROR = {
    "floe.product.id": "sales.customer_360",
    "floe.product.name": "customer_360",
    "floe.product.domain": "sales",
    "floe.product.owner": "sales-analytics@acme.com",
    "floe.product.repo": "github.com/acme/sales-customer-360",
    "floe.product.path": ".",
    "floe.product.version": "1.2.3",
    "floe.product.registered_at": "2026-01-03T10:00:00Z",
}


def properties(catalog: SqliteCatalog, *namespace: str) -> dict[str, str]:
    with catalog.raw() as raw:
        return dict(raw.load_namespace_properties(namespace))


def test_the_first_to_register_owns_it_and_the_second_learns_who_does(catalog: SqliteCatalog) -> None:
    mine = catalog.register_product_identity(PRODUCT, HERE, "a@acme.com")
    again = catalog.register_product_identity(PRODUCT, f"https://{HERE}.git", "a@acme.com")
    theirs = catalog.register_product_identity(PRODUCT, ELSEWHERE, "b@acme.com")
    assert [mine.status, again.status, theirs.status] == ["created", "already_owned", "conflict"]
    assert mine.status is RegistrationStatus.SUCCESS
    assert (theirs.repository, theirs.existing_owner, theirs.owner) == (HERE, HERE, "a@acme.com")
    assert theirs.message == f"Namespace 'sales.customer_360' is owned by '{HERE}', not '{ELSEWHERE}'"
    assert catalog.get_namespace_owner(PRODUCT) == HERE


def test_who_insists_on_a_new_product_is_told_that_it_is_not(catalog: SqliteCatalog) -> None:
    assert catalog.register_product_identity(PRODUCT, HERE, "a", if_not_exists=False).status == "created"
    assert catalog.register_product_identity(PRODUCT, HERE, "a", if_not_exists=False).status == "conflict"


def test_the_namespace_says_what_the_specification_lists(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    assert properties(catalog, "sales", "customer_360") == MIRROR
    domain = {"floe.domain.name": "sales", "floe.domain.owner": "sales-platform@acme.com"}
    assert properties(catalog, "sales") == domain


def test_an_uncontended_claim_in_an_existing_domain_takes_three_calls(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace("sales.orders", replace(ABOUT, name="orders"))
    catalog.validate_product_identity(PRODUCT, HERE)
    catalog.calls.names.clear()
    assert catalog.register_product_namespace(PRODUCT, ABOUT).status == "created"
    assert catalog.calls.names == ["create_table", "create_namespace", "load_namespace_properties"]


def test_a_new_version_is_an_update_and_the_same_again_is_not(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    newer = replace(ABOUT, version="1.3.0")
    assert catalog.update_product_metadata(PRODUCT, newer).status == "updated"
    assert catalog.update_product_metadata(PRODUCT, newer).status == "already_owned"
    assert catalog.register_product_namespace(PRODUCT, replace(newer, owner="new@acme.com")).status == "updated"
    assert properties(catalog, "sales", "customer_360")["floe.product.version"] == "1.3.0"
    assert catalog.update_product_metadata(PRODUCT, replace(newer, repository=ELSEWHERE)).status == "conflict"
    assert catalog.update_product_metadata("sales.nothing", newer).status == "conflict"


def test_a_product_of_another_folder_of_the_same_repository_is_another_product(catalog: SqliteCatalog) -> None:
    catalog.register_product_identity(PRODUCT, HERE, "a", path="products/one")
    other = catalog.register_product_identity(PRODUCT, HERE, "a", path="products/two")
    assert other.status == "conflict"
    assert "products/one" in other.message
    assert catalog.register_product_identity(PRODUCT, HERE, "a").status == "already_owned"
    assert catalog.validate_product_identity(PRODUCT, HERE, "products/two").status is IdentityStatus.CONFLICT


def test_validation_says_whose_it_is_and_writes_nothing(catalog: SqliteCatalog) -> None:
    assert catalog.validate_product_identity(PRODUCT, HERE).status is IdentityStatus.AVAILABLE
    with catalog.raw() as raw:
        assert raw.list_namespaces() == []
    catalog.register_product_namespace(PRODUCT, ABOUT)
    valid = catalog.validate_product_identity(PRODUCT, HERE, "")
    assert (valid.status, valid.version, valid.disagreements) == ("valid", "1.2.3", ())
    conflict = catalog.validate_product_identity(PRODUCT, ELSEWHERE)
    assert (conflict.status, conflict.repository, conflict.owner) == ("conflict", HERE, ABOUT.owner)


def test_a_bare_namespace_is_adopted_with_what_is_in_it(catalog: SqliteCatalog) -> None:
    with catalog.raw() as raw:
        raw.create_namespace(("sales", "customer_360"), {"comment": "made by hand"})
    before = catalog.validate_product_identity(PRODUCT, HERE)
    assert (before.status, before.exists) == ("available", True)
    assert catalog.register_product_namespace(PRODUCT, ABOUT).status == "created"
    assert properties(catalog, "sales", "customer_360") == {"comment": "made by hand", **MIRROR}
    assert catalog.register_product_identity(PRODUCT, ELSEWHERE, "b").status == "conflict"


def test_the_owner_may_give_it_away_and_nobody_else(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    refused = catalog.transfer_product(PRODUCT, ELSEWHERE, "b@acme.com", by=STRANGER)
    assert (refused.status, refused.repository) == ("conflict", HERE)
    assert catalog.transfer_product(PRODUCT, ELSEWHERE, "b@acme.com", by=STRANGER, admin=True).status == "conflict"
    assert catalog.transfer_product(PRODUCT, ELSEWHERE, "b@acme.com", path="x", by=OWNER).status == "updated"
    assert catalog.get_namespace_owner(PRODUCT) == ELSEWHERE
    assert properties(catalog, "sales", "customer_360")["floe.product.repo"] == ELSEWHERE
    assert catalog.validate_product_identity(PRODUCT, HERE).status is IdentityStatus.CONFLICT


def test_an_administrator_may_with_a_reason_that_is_kept(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    moved = catalog.transfer_product(PRODUCT, ELSEWHERE, "b", reason="team dissolved", by=STRANGER, admin=True)
    assert moved.status == "updated"
    last = catalog.product_history(PRODUCT)[-1]
    assert (last.action, last.reason, last.by) == ("transfer", "team dissolved", STRANGER)
    assert last.before
    assert last.after
    assert (last.before["repository"], last.after["repository"]) == (HERE, ELSEWHERE)


def test_a_retired_product_keeps_its_name_until_it_is_transferred(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    assert catalog.retire_product(PRODUCT, by=STRANGER).status == "conflict"
    assert catalog.retire_product(PRODUCT, by=OWNER).status == "updated"
    assert catalog.retire_product(PRODUCT, by=OWNER).status == "already_owned"
    assert catalog.register_product_namespace(PRODUCT, ABOUT).status == "conflict"
    assert catalog.register_product_identity(PRODUCT, ELSEWHERE, "b").status == "conflict"
    found = catalog.validate_product_identity(PRODUCT, HERE)
    assert (found.status, found.retired) == ("conflict", True)
    assert properties(catalog, "sales", "customer_360")["floe.product.retired"] == "true"
    assert catalog.transfer_product(PRODUCT, HERE, "a", by=OWNER).status == "updated"
    assert catalog.validate_product_identity(PRODUCT, HERE).status is IdentityStatus.VALID
    assert "floe.product.retired" not in properties(catalog, "sales", "customer_360")


def test_two_domains_cannot_lead_two_products_to_one_namespace(catalog: SqliteCatalog) -> None:
    shared = replace(ABOUT, domain="retail", repository=ELSEWHERE, catalog_namespace="sales")
    assert catalog.register_product_namespace("retail.customer_360", shared).status == "created"
    assert properties(catalog, "sales", "customer_360")["floe.product.id"] == "retail.customer_360"
    refused = catalog.register_product_namespace(PRODUCT, ABOUT)
    assert (refused.status, refused.repository) == ("conflict", ELSEWHERE)
    assert catalog.validate_product_identity(PRODUCT, HERE).held_by == "retail.customer_360"
    assert catalog.get_product(PRODUCT) is None
    assert [product.id for product in catalog.list_products()] == ["retail.customer_360"]


def test_the_same_holds_in_the_other_order(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    shared = replace(ABOUT, domain="retail", repository=ELSEWHERE, catalog_namespace="sales")
    refused = catalog.register_product_namespace("retail.customer_360", shared)
    assert (refused.status, refused.repository) == ("conflict", HERE)
    assert properties(catalog, "sales", "customer_360") == MIRROR


def test_a_flat_catalog_joins_the_parts_and_keeps_the_domain_beside_the_product(tmp_path: Path) -> None:
    catalog = SqliteCatalog(tmp_path, nested_namespaces=False)
    catalog.register_product_namespace(PRODUCT, ABOUT)
    found = properties(catalog, "sales__customer_360")
    assert found == {**MIRROR, "floe.domain.name": "sales", "floe.domain.owner": "sales-platform@acme.com"}
    assert catalog.validate_product_identity(PRODUCT, HERE).disagreements == ()


def test_values_are_kept_within_what_the_catalog_holds(tmp_path: Path) -> None:
    catalog = SqliteCatalog(tmp_path, property_value_limit=20)
    catalog.register_product_namespace(PRODUCT, ABOUT)
    assert properties(catalog, "sales", "customer_360")["floe.product.repo"] == HERE[:20]
    assert catalog.get_namespace_owner(PRODUCT) == HERE
    assert catalog.verify_product(PRODUCT) == []


def test_products_are_listed_by_id_with_their_last_state(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    catalog.register_product_identity("finance.ledger", ELSEWHERE, "f")
    catalog.update_product_metadata(PRODUCT, replace(ABOUT, version="2.0.0"))
    listed = [(product.id, product.version, product.revision) for product in catalog.list_products()]
    assert listed == [("finance.ledger", "", 1), (PRODUCT, "2.0.0", 2)]


def test_a_long_history_is_found_without_reading_all_of_it(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    for number in range(9):
        catalog.update_product_metadata(PRODUCT, replace(ABOUT, version=f"2.{number}.0"))
    catalog.calls.names.clear()
    product = catalog.get_product(PRODUCT)
    assert product
    assert (product.version, product.revision) == ("2.8.0", 10)
    assert len(catalog.calls.names) <= 9


@pytest.mark.parametrize("written", ["sales", "sales.a.b", "sales.a b", "sales.a__b", ".a", "sales.", "sales.é"])
def test_what_is_no_product_id_is_refused(catalog: SqliteCatalog, written: str) -> None:
    with pytest.raises(FloeError) as caught:
        catalog.validate_product_identity(written, HERE)
    assert (caught.value.findings[0].code, caught.value.findings[0].row.exit) == ("FLOE-E631", 2)


def test_names_are_one_whether_written_with_dash_or_underscore(catalog: SqliteCatalog) -> None:
    catalog.register_product_identity("sales.customer-360", HERE, "a")
    assert catalog.get_namespace_owner("sales.customer_360") == HERE


def test_a_product_that_nobody_registered_cannot_be_verified(catalog: SqliteCatalog) -> None:
    with pytest.raises(FloeError) as caught:
        catalog.verify_product(PRODUCT)
    assert caught.value.findings[0].code == "FLOE-E630"
