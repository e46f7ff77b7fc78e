"""Names, case, levels and lengths: what the catalog makes of them never changes who owns what."""

from __future__ import annotations

from floe_core.catalog import CatalogPlugin
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.products import (
    ACTOR,
    OURS,
    OWNER,
    THEIRS,
    claimed,
    contract,
    metadata,
    namespace_of,
)


def test_case_hyphen_and_underscore_are_one_name(catalog: CatalogPlugin, product: str) -> None:
    claimed(catalog, product)
    domain, _, name = product.partition(".")
    for spelling in (f"{domain}.{name.replace('_', '-')}", f"{domain.upper()}.{name.upper()}"):
        assert catalog.register_product_identity(spelling, THEIRS, OWNER).status == "conflict", spelling
        assert catalog.get_namespace_owner(spelling) == OURS, spelling


def test_names_that_only_look_alike_are_two(catalog: CatalogPlugin, new_product: NewProduct) -> None:
    """A flat catalog joins parts with __, and an underscore is a wildcard in SQL."""
    domain, _, name = new_product().partition(".")
    for other in (name, name.replace("_", ""), name.replace("_", "x"), f"{name}_1", f"a_{name}"):
        assert catalog.register_product_identity(f"{domain}.{other}", OURS, OWNER).status == "created", other
    for other in (f"{domain}_a.b", f"{domain}.a_b"):
        assert catalog.register_product_identity(other, OURS, OWNER).status == "created", other


def test_a_long_name_is_as_good_as_a_short_one(catalog: CatalogPlugin, domain: str) -> None:
    """Longer than what any catalog keeps in one marker's name; the two differ in the last letter only."""
    one, two = f"{domain}.{'long_' * 8}{'x' * 20}a", f"{domain}.{'long_' * 8}{'x' * 20}b"
    assert catalog.register_product_identity(one, OURS, OWNER).status == "created"
    assert catalog.register_product_identity(two, THEIRS, OWNER).status == "created"
    assert [catalog.get_namespace_owner(name) for name in (one, two)] == [OURS, THEIRS]
    assert catalog.register_contract(one, "c" * 60, "1.0.0", "s1", contract(), by=ACTOR).status == "created"
    [found] = catalog.list_registered_contracts(one)
    assert found.name == "c" * 60
    assert {one, two} <= {found.id for found in catalog.list_products()}


def test_the_namespace_has_the_levels_that_are_declared(catalog: CatalogPlugin, product: str, client: Open) -> None:
    claimed(catalog, product)
    found = catalog.get_product(product)
    assert found
    expected = namespace_of(catalog, product)
    assert found.namespace == expected.parts
    with client() as raw:
        assert raw.namespace_exists(found.namespace)
        for layer in ("bronze", "gold"):
            raw.create_namespace(expected.layer(layer))
            assert raw.namespace_exists(expected.layer(layer))


def test_the_properties_have_the_names_of_the_specification(
    catalog: CatalogPlugin, product: str, client: Open
) -> None:
    catalog.register_product_namespace(product, metadata(product, path="products/a"), by=ACTOR)
    catalog.register_contract(product, "customers", "1.0.0", "s1", contract(), by=ACTOR)
    found = catalog.get_product(product)
    assert found
    with client() as raw:
        properties = raw.load_namespace_properties(found.namespace)
    domain, _, name = product.partition(".")
    expected = {
        "floe.product.id": product,
        "floe.product.name": name,
        "floe.product.domain": domain,
        "floe.product.owner": OWNER,
        "floe.product.repo": OURS,
        "floe.product.path": "products/a",
        "floe.product.version": "1.0.0",
        "floe.product.registered_at": "2026-01-03T10:00:00Z",
        "floe.contracts": '["customers:1.0.0"]',
    }
    assert {key: properties.get(key) for key in expected} == expected


def test_values_are_cut_to_what_the_catalog_keeps(catalog: CatalogPlugin, product: str, client: Open) -> None:
    """Cut in the readable copy, whole in the registry, and never mistaken for tampering."""
    owner = f"{'team' * 1200}@acme.com"
    assert catalog.register_product_namespace(product, metadata(product, owner=owner)).status == "created"
    found = catalog.get_product(product)
    assert found
    assert found.owner == owner
    with client() as raw:
        kept = raw.load_namespace_properties(found.namespace)["floe.product.owner"]
    assert kept == owner[: catalog.capabilities.property_value_limit]
    assert catalog.verify_product(product) == []


def test_as_many_contracts_are_shown_as_fit(catalog: CatalogPlugin, product: str, client: Open) -> None:
    claimed(catalog, product)
    names = [f"contract_{number:02}_{'x' * 40}" for number in range(12)]
    for name in names:
        assert catalog.register_contract(product, name, "1.0.0", "s1", contract(), by=ACTOR).status == "created"
    found = catalog.get_product(product)
    assert found
    with client() as raw:
        properties = raw.load_namespace_properties(found.namespace)
    limit = catalog.capabilities.property_value_limit
    shown, more = properties["floe.contracts"], int(properties.get("floe.contracts.more", 0))
    assert shown.count("contract_") + more == len(names)
    assert limit is None or len(shown) <= limit
    assert len(catalog.list_registered_contracts(product)) == len(names)
    assert catalog.verify_product(product) == []
