"""A namespace is spelt as Spark spells it, and a product knows which ones are its own."""

from __future__ import annotations

import pytest

from floe_core.namespaces import Namespace

NESTED = Namespace("sales", "customer-360")
FLAT = Namespace("sales", "customer-360", nested=False)


def test_names_become_identifiers() -> None:
    assert str(NESTED) == "sales.customer_360"
    assert NESTED.layer("gold") == ("sales", "customer_360", "gold")
    assert str(FLAT) == "sales__customer_360"
    assert FLAT.layer("gold") == ("sales__customer_360__gold",)


@pytest.mark.parametrize(
    ("namespace", "written", "own"),
    [
        (NESTED, "sales.customer_360", True),
        (NESTED, "sales.customer_360.gold", True),
        (NESTED, "floe.sales.customer_360", False),
        (NESTED, "floe.sales.customer_360.gold", False),
        (NESTED, "sales.customer_360.gold.deeper", False),
        (NESTED, "sales.customer_360.Gold", False),
        (NESTED, "sales.customer_360.`gold`", False),
        (NESTED, "sales.customer_361.gold", False),
        (NESTED, "sales", False),
        (FLAT, "sales__customer_360", True),
        (FLAT, "sales__customer_360__gold", True),
        (FLAT, "sales__customer_3600", False),
        (FLAT, "floe.sales__customer_360", False),
    ],
)
def test_only_its_own_namespace_and_its_layers_are_a_products(
    namespace: Namespace, written: str, own: bool
) -> None:
    assert namespace.holds(tuple(written.split("."))) is own
