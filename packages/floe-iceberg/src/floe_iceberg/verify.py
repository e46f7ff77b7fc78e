"""Whether the readable copy of a product, and its entries in the registry, are as they were written."""

from __future__ import annotations

from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import Disagreement
from floe_iceberg.entries import ConsumerEntry, ContractEntry, ProductEntry, logs, stem, stored
from floe_iceberg.identity import Products, product_id, rewritten
from floe_iceberg.registry import NAMESPACE


def verify(products: Products, written: str) -> list[Disagreement]:
    """Every property and every entry that is not as it should be. Reads only."""
    own = product_id(written)
    found = products.registered(own)
    if found is None:
        strange = products.validate(own, "", None)
        if strange.held_by or not strange.disagreements:
            raise FloeError(Finding("FLOE-E630", f"{own} is not registered", Place("(catalog)")))
        return list(strange.disagreements)
    return [*products.mirror(found).disagreements(promises=True), *_entries(products, own)]


def repair(products: Products, written: str) -> list[Disagreement]:
    """Write the properties from the registry. Entries cannot be repaired: they are the truth, or nothing is."""
    wrong = verify(products, written)
    if found := products.registered(written):
        products.mirror(found).sync(promises=True)
    elif wrong:
        products.clear({item.key for item in wrong}, wrong[0].namespace)
    return wrong


def _entries(products: Products, own: str) -> list[Disagreement]:
    registry = products.registry
    found: list[Disagreement] = []
    for kind in (ProductEntry, ContractEntry, ConsumerEntry):
        for name, numbers in logs(registry.names(), f"{stem(kind, own)}__").items():
            missing = set(range(1, numbers[-1])) - set(numbers)
            found += [
                Disagreement(f"{name}__{number}", "an entry", "dropped", NAMESPACE) for number in sorted(missing)
            ]
    for product_entry in stored(registry, ProductEntry, own):
        found += rewritten(product_entry)
    for contract_entry in stored(registry, ContractEntry, own):
        found += rewritten(contract_entry)
    for consumer_entry in stored(registry, ConsumerEntry, own):
        found += rewritten(consumer_entry)
    return found
