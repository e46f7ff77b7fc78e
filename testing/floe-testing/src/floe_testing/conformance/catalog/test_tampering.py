"""Whoever may write to the catalog can change what stands there: it is noticed, and decides nothing."""

from __future__ import annotations

from typing import Any

import pytest

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_testing.conformance.catalog.conftest import Open
from floe_testing.conformance.catalog.products import ACTOR, OURS, OWNER, THEIRS, claimed, contract, namespace_of

REGISTRY = ("floe__registry",)
REPOSITORY = "floe.product.repo"


def entries(raw: Any, product: str) -> list[Any]:
    """The tables of the registry that are about a product."""
    name = product.partition(".")[2]
    found = [identifier for identifier in raw.list_tables(REGISTRY) if name in identifier[-1].split("__")]
    assert found
    return found


@pytest.fixture
def registered(catalog: CatalogPlugin, product: str) -> str:
    claimed(catalog, product)
    catalog.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
    assert catalog.verify_product(product) == []
    return product


def test_a_property_that_says_something_else_is_noticed(
    catalog: CatalogPlugin, registered: str, client: Open
) -> None:
    namespace = namespace_of(catalog, registered).parts
    with client() as raw:
        raw.update_namespace_properties(namespace, None, {REPOSITORY: THEIRS, "floe.contracts": "[]"})
    assert catalog.get_namespace_owner(registered) == OURS
    assert catalog.validate_product_identity(registered, THEIRS).status == "conflict"
    seen = catalog.validate_product_identity(registered, OURS)
    assert seen.status == "valid"
    assert [(item.key, item.is_tampering) for item in seen.disagreements] == [(REPOSITORY, True)]
    wrong = {(item.key, item.actual) for item in catalog.verify_product(registered)}
    assert wrong == {(REPOSITORY, THEIRS), ("floe.contracts", "[]")}
    assert {item.key for item in catalog.repair_product(registered)} == {REPOSITORY, "floe.contracts"}
    assert catalog.verify_product(registered) == []
    with client() as raw:
        assert raw.load_namespace_properties(namespace)[REPOSITORY] == OURS


def test_a_missing_property_is_noticed_and_is_not_called_tampering(
    catalog: CatalogPlugin, registered: str, client: Open
) -> None:
    with client() as raw:
        raw.update_namespace_properties(namespace_of(catalog, registered).parts, {REPOSITORY}, {})
    [item] = catalog.verify_product(registered)
    assert (item.key, item.is_tampering) == (REPOSITORY, False)
    assert catalog.register_product_identity(registered, OURS, OWNER).status == "already_owned"
    assert catalog.verify_product(registered) == []


def test_a_property_too_many_is_noticed(catalog: CatalogPlugin, registered: str, client: Open) -> None:
    with client() as raw:
        raw.update_namespace_properties(
            namespace_of(catalog, registered).parts, None, {"floe.product.retired": "true"}
        )
    assert catalog.validate_product_identity(registered, OURS).status == "valid"
    catalog.repair_product(registered)
    assert catalog.verify_product(registered) == []


def test_properties_alone_make_nobody_an_owner(catalog: CatalogPlugin, product: str, client: Open) -> None:
    with client() as raw:
        raw.create_namespace(namespace_of(catalog, product).parts, {REPOSITORY: THEIRS})
    for repository in (OURS, THEIRS):
        seen = catalog.validate_product_identity(product, repository)
        assert (seen.status, [item.key for item in seen.disagreements]) == ("available", [REPOSITORY])
    claimed(catalog, product)
    assert catalog.get_namespace_owner(product) == OURS


def test_a_namespace_that_was_dropped_is_noticed_and_made_again(
    catalog: CatalogPlugin, registered: str, client: Open
) -> None:
    namespace = namespace_of(catalog, registered).parts
    with client() as raw:
        raw.drop_namespace(namespace)
    assert catalog.get_namespace_owner(registered) == OURS
    assert catalog.verify_product(registered)
    catalog.repair_product(registered)
    assert catalog.verify_product(registered) == []
    with client() as raw:
        assert raw.load_namespace_properties(namespace)[REPOSITORY] == OURS


def test_a_rewritten_entry_is_never_believed(catalog: CatalogPlugin, registered: str, client: Open) -> None:
    """The attacker writes another repository wherever the owner's stands."""
    with client() as raw:
        for identifier in entries(raw, registered):
            table = raw.load_table(identifier)
            forged = {key: value.replace(OURS, THEIRS) for key, value in table.properties.items()}
            with table.transaction() as change:
                change.set_properties(forged)
    for repository in (OURS, THEIRS):
        with pytest.raises(FloeError) as caught:
            catalog.validate_product_identity(registered, repository)
        assert caught.value.findings[0].code == "FLOE-E622"
    with pytest.raises(FloeError):
        catalog.register_product_identity(registered, THEIRS, OWNER)


def test_an_entry_that_was_written_twice_is_noticed(catalog: CatalogPlugin, registered: str, client: Open) -> None:
    """Also when its content looks right."""
    with client() as raw:
        for identifier in entries(raw, registered):
            with raw.load_table(identifier).transaction() as change:
                change.set_properties({"touched": "yes"})
    seen = catalog.validate_product_identity(registered, OURS)
    assert [item.actual for item in seen.disagreements] == ["rewritten"]
    assert {item.actual for item in catalog.verify_product(registered)} == {"rewritten"}


def test_a_product_whose_entries_were_dropped_is_not_simply_free(
    catalog: CatalogPlugin, registered: str, client: Open
) -> None:
    with client() as raw:
        for identifier in entries(raw, registered):
            raw.drop_table(identifier)
    seen = catalog.validate_product_identity(registered, THEIRS)
    assert seen.status == "available"
    assert REPOSITORY in {item.key for item in seen.disagreements}
    assert all(item.is_tampering for item in seen.disagreements)
