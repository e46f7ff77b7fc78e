"""What happened to a product, its contracts and its consumers, told from the registry's entries."""

from __future__ import annotations

from collections.abc import Mapping

from floe_core.identity import Consumer, HistoryEntry, Product, RegisteredContract
from floe_iceberg.entries import ConsumerEntry, ContractEntry, ProductEntry, Stored, stored
from floe_iceberg.registry import Registry


def history(registry: Registry, product: str) -> list[HistoryEntry]:
    """Every change, oldest first."""
    lines = [
        *_lines(stored(registry, ProductEntry, product)),
        *_lines(stored(registry, ContractEntry, product)),
        *_lines(stored(registry, ConsumerEntry, product)),
    ]
    return sorted(lines, key=lambda line: line.at)


def _lines(
    entries: list[Stored[ProductEntry]] | list[Stored[ContractEntry]] | list[Stored[ConsumerEntry]],
) -> list[HistoryEntry]:
    lines = []
    states: dict[str, Mapping[str, str]] = {}
    for item in entries:
        entry = item.entry
        subject, after = _state(entry)
        log = item.table.rpartition("__")[0]
        lines.append(
            HistoryEntry(entry.log, entry.action, entry.at, entry.by, subject, states.get(log), after, entry.reason)
        )
        states[log] = after
    return lines


def _state(entry: ProductEntry | ContractEntry | ConsumerEntry) -> tuple[str, dict[str, str]]:
    if isinstance(entry, ProductEntry):
        return entry.product.id, _of_product(entry.product)
    if isinstance(entry, ContractEntry):
        return entry.contract.id(entry.log), _of_contract(entry.contract)
    return f"{entry.consumer.product} → {entry.log}/{entry.consumer.contract}", _of_consumer(entry.consumer)


def _of_product(product: Product) -> dict[str, str]:
    return {
        "repository": product.repository,
        "path": product.path or "",
        "owner": product.owner,
        "version": product.version,
        "retired": str(product.retired).lower(),
    }


def _of_contract(contract: RegisteredContract) -> dict[str, str]:
    return {
        "schema_hash": contract.schema_hash,
        "document_hash": contract.document_hash,
        "owner": contract.owner,
        "retired": str(contract.retired).lower(),
    }


def _of_consumer(consumer: Consumer) -> dict[str, str]:
    return {"version": consumer.version, "port": consumer.port, "owner": consumer.owner}
