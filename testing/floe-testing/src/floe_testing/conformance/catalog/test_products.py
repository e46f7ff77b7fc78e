"""The first repository that registers a product owns it, and everybody is told the same."""

from __future__ import annotations

import pytest

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_core.identity import Actor
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.products import (
    ACTOR,
    OURS,
    OWNER,
    THEIRS,
    THEN,
    claimed,
    metadata,
    namespace_of,
)


def test_an_unknown_product_is_available(catalog: CatalogPlugin, product: str) -> None:
    found = catalog.validate_product_identity(product, OURS)
    assert (found.status, found.repository, found.exists) == ("available", None, False)
    assert (catalog.get_namespace_owner(product), catalog.get_product(product)) == (None, None)


def test_looking_registers_nothing(catalog: CatalogPlugin, product: str) -> None:
    for _ in range(2):
        assert catalog.validate_product_identity(product, OURS).status == "available"
    assert product not in [found.id for found in catalog.list_products()]


def test_the_first_claim_creates_and_the_same_again_owns(catalog: CatalogPlugin, product: str) -> None:
    first = catalog.register_product_identity(product, OURS, OWNER, by=ACTOR)
    second = catalog.register_product_identity(product, OURS, OWNER, by=ACTOR)
    assert [first.status, second.status] == ["created", "already_owned"]
    assert (second.repository, second.owner, second.existing_owner) == (OURS, OWNER, None)
    assert catalog.get_namespace_owner(product) == OURS
    assert catalog.validate_product_identity(product, OURS).status == "valid"


def test_another_repository_is_in_conflict_and_learns_with_whom(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    refused = catalog.register_product_identity(product, THEIRS, "they@acme.com", by=Actor(repository=THEIRS))
    assert (refused.status, refused.existing_owner, refused.owner) == ("conflict", OURS, OWNER)
    seen = catalog.validate_product_identity(product, THEIRS)
    assert (seen.status, seen.repository, seen.owner) == ("conflict", OURS, OWNER)
    assert catalog.get_namespace_owner(product) == OURS


def test_if_not_exists_false_refuses_what_is_ours_already(catalog: CatalogPlugin, product: str) -> None:
    assert catalog.register_product_identity(product, OURS, OWNER, if_not_exists=False).status == "created"
    again = catalog.register_product_identity(product, OURS, OWNER, if_not_exists=False)
    assert (again.status, again.existing_owner) == ("conflict", OURS)


def test_two_folders_of_one_repository_are_two_products(catalog: CatalogPlugin, product: str) -> None:
    assert catalog.register_product_identity(product, OURS, OWNER, path="a").status == "created"
    assert catalog.register_product_identity(product, OURS, OWNER, path="a").status == "already_owned"
    assert catalog.register_product_identity(product, OURS, OWNER, path="b").status == "conflict"
    assert catalog.validate_product_identity(product, OURS, path="b").status == "conflict"
    assert catalog.validate_product_identity(product, OURS, path="a").status == "valid"


def test_repositories_are_compared_as_addresses(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    for spelling in ("https://github.com/acme/ours.git", "git@github.com:acme/ours.git"):
        assert catalog.validate_product_identity(product, spelling).status == "valid", spelling


def test_metadata_is_kept_and_brought_up_to_date(catalog: CatalogPlugin, product: str) -> None:
    created = catalog.register_product_namespace(product, metadata(product), by=ACTOR)
    same = catalog.register_product_namespace(product, metadata(product), by=ACTOR)
    newer = catalog.register_product_namespace(product, metadata(product, version="1.1.0"), by=ACTOR)
    assert [created.status, same.status, newer.status] == ["created", "already_owned", "updated"]
    found = catalog.get_product(product)
    assert found
    assert (found.id, found.version, found.owner, found.registered_at) == (product, "1.1.0", OWNER, THEN)


def test_update_needs_a_product_of_ours(catalog: CatalogPlugin, product: str) -> None:
    newer = metadata(product, version="2.0.0")
    assert catalog.update_product_metadata(product, newer, by=ACTOR).status == "conflict"
    claimed(catalog, product, THEIRS)
    assert catalog.update_product_metadata(product, newer, by=ACTOR).status == "conflict"
    assert catalog.update_product_metadata(product, metadata(product, repository=THEIRS)).status == "updated"
    assert catalog.get_namespace_owner(product) == THEIRS


def test_a_bare_namespace_is_adopted(catalog: CatalogPlugin, product: str, client: Open) -> None:
    """Namespaces were there before floe was."""
    namespace = namespace_of(catalog, product).parts
    with client() as raw:
        raw.create_namespace(namespace, {"made.by": "somebody"})
    seen = catalog.validate_product_identity(product, OURS)
    assert (seen.status, seen.exists) == ("available", True)
    claimed(catalog, product)
    assert catalog.register_product_identity(product, THEIRS, OWNER).status == "conflict"
    with client() as raw:
        properties = raw.load_namespace_properties(namespace)
    assert properties["made.by"] == "somebody"
    assert properties["floe.product.repo"] == OURS


def test_a_product_is_given_away_by_its_owner(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    stranger = Actor(repository=THEIRS)
    assert catalog.transfer_product(product, THEIRS, "they@acme.com", by=stranger).status == "conflict"
    assert catalog.get_namespace_owner(product) == OURS
    assert catalog.transfer_product(product, THEIRS, "they@acme.com", by=ACTOR).status == "updated"
    assert catalog.validate_product_identity(product, OURS).status == "conflict"
    assert catalog.validate_product_identity(product, THEIRS).status == "valid"
    assert catalog.transfer_product(product, THEIRS, "they@acme.com", by=ACTOR).status == "already_owned"
    assert catalog.transfer_product(product, OURS, OWNER, by=ACTOR).status == "conflict"


def test_an_administrator_must_say_why(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    stranger = Actor(repository=THEIRS, user="root")
    for reason in ("", "  "):
        refused = catalog.transfer_product(product, THEIRS, OWNER, by=stranger, admin=True, reason=reason)
        assert refused.status == "conflict"
    given = catalog.transfer_product(product, THEIRS, OWNER, by=stranger, admin=True, reason="team is gone")
    assert given.status == "updated"
    assert catalog.product_history(product)[-1].reason == "team is gone"


def test_a_retired_product_keeps_its_name(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    assert catalog.retire_product(product, by=Actor(repository=THEIRS)).status == "conflict"
    assert catalog.retire_product(product, by=ACTOR, reason="replaced").status == "updated"
    assert catalog.retire_product(product, by=ACTOR).status == "already_owned"
    for repository in (OURS, THEIRS):
        seen = catalog.validate_product_identity(product, repository)
        assert (seen.status, seen.retired) == ("conflict", True)
        assert catalog.register_product_identity(product, repository, OWNER).status == "conflict"
    assert [found.retired for found in catalog.list_products() if found.id == product] == [True]


def test_a_transfer_brings_a_retired_product_back(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    catalog.retire_product(product, by=ACTOR)
    assert catalog.transfer_product(product, OURS, OWNER, by=ACTOR).status == "updated"
    assert catalog.validate_product_identity(product, OURS).status == "valid"


def test_every_product_is_listed_once_and_floes_own_namespace_never(
    catalog: CatalogPlugin, new_product: NewProduct, domain: str
) -> None:
    made = [new_product() for _ in range(3)]
    for name in made:
        claimed(catalog, name)
        catalog.register_product_namespace(name, metadata(name, version="3.0.0"))
    listed = [found.id for found in catalog.list_products()]
    assert listed == sorted(listed)
    assert [name for name in listed if name in made] == sorted(made)
    assert not [name for name in listed if name.startswith("floe__")]
    assert {name.partition(".")[0] for name in made} == {domain}


def test_the_registry_is_made_once(catalog: CatalogPlugin) -> None:
    assert catalog.init_registry() is False


@pytest.mark.parametrize("name", ["", "sales", "sales.", ".a", "sales.a.b", "sales.a b", "sales.ü", "floe__x.a"])
def test_what_is_no_product_id_is_refused(catalog: CatalogPlugin, name: str) -> None:
    with pytest.raises(FloeError) as caught:
        catalog.register_product_identity(name, OURS, OWNER)
    assert caught.value.findings[0].code == "FLOE-E631"
