"""What is declared works; what is not declared is not even tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_testing.conformance.catalog.conftest import Open
from floe_testing.conformance.catalog.products import (
    ACTOR,
    OURS,
    OWNER,
    claimed,
    consumer,
    contract,
    metadata,
    namespace_of,
)
from floe_testing.conformance.catalog.subject import Subject, Trap

WRITES: dict[str, Callable[[CatalogPlugin, str], object]] = {
    "identity": lambda plugin, product: plugin.register_product_identity(product, OURS, OWNER),
    "namespace": lambda plugin, product: plugin.register_product_namespace(product, metadata(product)),
    "update": lambda plugin, product: plugin.update_product_metadata(product, metadata(product)),
    "contract": lambda plugin, product: plugin.register_contract(product, "c", "1.0.0", "s", contract()),
    "retire contract": lambda plugin, product: plugin.retire_contract(product, "c", "1.0.0"),
    "consumer": lambda plugin, product: plugin.register_consumer(product, consumer("a.b")),
    "remove consumer": lambda plugin, product: plugin.remove_consumer(product, "c", "a.b", "p"),
    "transfer": lambda plugin, product: plugin.transfer_product(product, OURS, OWNER, by=ACTOR),
    "retire": lambda plugin, product: plugin.retire_product(product, by=ACTOR),
    "repair": lambda plugin, product: plugin.repair_product(product),
}


@pytest.mark.parametrize("write", WRITES)
def test_without_atomic_create_nothing_is_registered(
    catalog: CatalogPlugin, subject: Subject, product: str, write: str
) -> None:
    trap = Trap()
    plugin = subject.without(atomic_create=False).make(trap)
    with pytest.raises(FloeError) as caught:
        WRITES[write](plugin, product)
    assert caught.value.findings[0].code == "FLOE-E623"
    assert trap.calls == []
    assert catalog.get_product(product) is None


def test_without_levels_a_product_lives_in_one_namespace(
    catalog: CatalogPlugin, subject: Subject, product: str, client: Open
) -> None:
    plugin = subject.without(nested_namespaces=False).make()
    claimed(plugin, product)
    flat = namespace_of(plugin, product)
    found = catalog.get_product(product)
    assert found
    assert (found.id, found.namespace) == (product, (product.replace(".", "__"),))
    with client() as raw:
        assert raw.load_namespace_properties(flat.parts)["floe.product.id"] == product
        raw.create_namespace(flat.layer("gold"))
        assert raw.namespace_exists(flat.layer("gold"))


def test_without_creating_the_registry_one_that_is_there_is_used(subject: Subject, product: str) -> None:
    claimed(subject.without(creates_registry=False).make(), product)


def test_without_creating_the_registry_it_is_made_by_hand(subject: Subject, product: str, tmp_path: Path) -> None:
    new = replace(subject, home=tmp_path / ".floe").without(creates_registry=False).make()
    if new.list_products():
        pytest.skip("only an embedded catalog can be had without a registry")
    with pytest.raises(FloeError) as caught:
        new.register_product_identity(product, OURS, OWNER)
    assert caught.value.findings[0].code == "FLOE-E621"
    assert [new.init_registry(), new.init_registry()] == [True, False]
    claimed(new, product)


def test_a_value_as_long_as_declared_is_kept(catalog: CatalogPlugin, product: str, client: Open) -> None:
    claimed(catalog, product)
    found = catalog.get_product(product)
    assert found
    value = "ü" * (catalog.capabilities.property_value_limit or 20_000)
    with client() as raw:
        raw.update_namespace_properties(found.namespace, None, {"kit.value": value})
        assert raw.load_namespace_properties(found.namespace)["kit.value"] == value


def test_tables_go_where_they_are_told_to(catalog: CatalogPlugin, product: str, client: Open) -> None:
    if catalog.warehouse is None:
        pytest.skip("the plugin names no warehouse: the catalog decides where tables go")
    claimed(catalog, product)
    found = catalog.get_product(product)
    assert found
    with client() as raw:
        schema = raw.load_table(raw.list_tables(("floe__registry",))[0]).schema()
        first = raw.create_table((*found.namespace, "first"), schema)
        elsewhere = f"{first.location().rpartition('/')[0]}/elsewhere"
        second = raw.create_table((*found.namespace, "second"), schema, location=elsewhere)
        assert second.location() == elsewhere
        assert raw.load_table((*found.namespace, "second")).location() == elsewhere


def test_it_says_where_it_is_and_what_spark_needs(catalog: CatalogPlugin) -> None:
    prefix = f"spark.sql.catalog.{catalog.name}"
    assert prefix in catalog.spark_conf()
    assert all(key.startswith(prefix) for key in catalog.spark_conf())
    assert catalog.describe()
    assert all(isinstance(value, str) for value in catalog.client_properties().values())
