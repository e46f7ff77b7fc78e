"""Whoever may write to the catalog can change what floe wrote: it is seen, told, and repaired from the registry."""

from __future__ import annotations

import pytest
from sqlite_catalog import ABOUT, ELSEWHERE, HERE, PRODUCT, SqliteCatalog

from floe_core.identity import Disagreement
from floe_iceberg.registry import NAMESPACE

OWN = ("sales", "customer_360")


def rewrite(catalog: SqliteCatalog, namespace: tuple[str, ...], **changes: str | None) -> None:
    """Change properties behind floe's back."""
    keys = {name.replace("_", ".", 2): value for name, value in changes.items()}
    with catalog.raw() as raw:
        raw.update_namespace_properties(
            namespace,
            {key for key, value in keys.items() if value is None},
            {key: value for key, value in keys.items() if value is not None},
        )


@pytest.fixture
def registered(catalog: SqliteCatalog) -> SqliteCatalog:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    return catalog


def test_a_stolen_namespace_is_still_its_owners(registered: SqliteCatalog) -> None:
    rewrite(registered, OWN, floe_product_repo=ELSEWHERE)
    assert registered.get_namespace_owner(PRODUCT) == HERE
    assert registered.register_product_identity(PRODUCT, ELSEWHERE, "b").status == "conflict"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"floe_product_repo": ELSEWHERE}, Disagreement("floe.product.repo", HERE, ELSEWHERE, OWN)),
        ({"floe_product_owner": None}, Disagreement("floe.product.owner", ABOUT.owner, None, OWN)),
        ({"floe_product_retired": "true"}, Disagreement("floe.product.retired", None, "true", OWN)),
        ({"floe_contracts": '["a:1.0.0"]'}, Disagreement("floe.contracts", None, '["a:1.0.0"]', OWN)),
    ],
)
def test_a_changed_property_is_reported_and_repaired(
    registered: SqliteCatalog, change: dict[str, str | None], found: Disagreement
) -> None:
    rewrite(registered, OWN, **change)
    assert registered.verify_product(PRODUCT) == [found]
    assert found.is_tampering == (found.actual is not None)
    assert registered.repair_product(PRODUCT) == [found]
    assert registered.verify_product(PRODUCT) == []


def test_the_domains_name_is_repaired_too(registered: SqliteCatalog) -> None:
    rewrite(registered, ("sales",), floe_domain_name="retail")
    assert [item.key for item in registered.repair_product(PRODUCT)] == ["floe.domain.name"]
    assert registered.verify_product(PRODUCT) == []


def test_properties_of_others_are_left_alone(registered: SqliteCatalog) -> None:
    with registered.raw() as raw:
        raw.update_namespace_properties(OWN, None, {"owner": "somebody", "floe.else": "x"})
    assert registered.verify_product(PRODUCT) == []


def test_the_check_at_compile_sees_it(registered: SqliteCatalog) -> None:
    rewrite(registered, OWN, floe_product_repo=ELSEWHERE)
    found = registered.validate_product_identity(PRODUCT, HERE)
    assert (found.status, [item.key for item in found.disagreements]) == ("valid", ["floe.product.repo"])


def test_the_next_registration_repairs_it(registered: SqliteCatalog) -> None:
    rewrite(registered, OWN, floe_product_repo=ELSEWHERE)
    assert registered.update_product_metadata(PRODUCT, ABOUT).status == "already_owned"
    assert registered.verify_product(PRODUCT) == []


def test_an_entry_that_was_written_again_is_told(registered: SqliteCatalog) -> None:
    with registered.raw() as raw:
        table = raw.load_table((*NAMESPACE, "product__sales__customer_360__1"))
        with table.transaction() as transaction:
            transaction.set_properties({"comment": "touched"})
    entry = Disagreement("product__sales__customer_360__1", "written once", "rewritten", NAMESPACE)
    assert registered.validate_product_identity(PRODUCT, HERE).disagreements == (entry,)
    assert registered.repair_product(PRODUCT) == [entry]
    assert registered.verify_product(PRODUCT) == [entry]


def test_an_entry_that_was_dropped_leaves_a_gap_that_is_told(registered: SqliteCatalog) -> None:
    for owner in ("b", "c"):
        registered.transfer_product(PRODUCT, HERE, owner, reason="x", admin=True)
    with registered.raw() as raw:
        raw.drop_table((*NAMESPACE, "product__sales__customer_360__2"))
    assert Disagreement(
        "product__sales__customer_360__2", "an entry", "dropped", NAMESPACE
    ) in registered.verify_product(PRODUCT)


def test_properties_without_any_registration_are_told_and_can_be_cleared(catalog: SqliteCatalog) -> None:
    with catalog.raw() as raw:
        raw.create_namespace(OWN, {"floe.product.repo": ELSEWHERE, "comment": "mine"})
    found = catalog.validate_product_identity(PRODUCT, HERE)
    assert (found.status, len(found.disagreements)) == ("available", 1)
    catalog.repair_product(PRODUCT)
    with catalog.raw() as raw:
        assert raw.load_namespace_properties(OWN) == {"comment": "mine"}
