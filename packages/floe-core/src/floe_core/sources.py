"""Step 5's look at what a product reads: whether the contracts of its producers still live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from floe_core.catalog import CatalogPlugin
from floe_core.contract_plugin import DataContractPlugin
from floe_core.env import Spec
from floe_core.findings import Finding, Severity
from floe_core.schemas.levels import ContractEnforcement

ENFORCEMENT = ("data_contracts", "enforcement")


def check_sources(catalog: CatalogPlugin, plugin: DataContractPlugin, spec: Spec, today: date) -> list[Finding]:
    """What consumers are told about contracts that come to their end. Raises FloeError when nobody answers."""
    with catalog.session():
        found = list(_sources(catalog, plugin, spec, today))
    if spec.merged.get(ENFORCEMENT) is ContractEnforcement.WARN:
        return [replace(item, severity=Severity.WARNING) if item.severity.blocks else item for item in found]
    return found


def _sources(catalog: CatalogPlugin, plugin: DataContractPlugin, spec: Spec, today: date) -> Iterator[Finding]:
    for number, port in enumerate(spec.product.input_ports):
        if port.source.product is None:
            continue
        registered = catalog.list_registered_contracts(port.source.product)
        readers = catalog.list_consumers(port.source.product) if registered else []
        contract = port.source.contract or port.name
        is_new = (spec.chain.product_id, contract) not in {(item.product, item.contract) for item in readers}
        place = spec.chain.product.place(("input_ports", number, "source"))
        yield from plugin.check_source(registered, port, place, today, is_new=is_new)
