"""Contracts that nobody wrote: from a product's ports, completed from the dbt project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from floe_contracts.models import Models, enrich
from floe_contracts.read import Draft
from floe_contracts.schemas import WRITTEN
from floe_contracts.writer import Find, Writer, finder, types
from floe_core.contract import Json
from floe_core.order import iso_duration, show
from floe_core.schemas.data_product import DataProductMetadata, InputPort, OutputPort, PortColumn, PortSla
from floe_core.source import KeyPath

LEVEL = "floe.classification"
INPUTS = "floe.inputs"


@dataclass(frozen=True, slots=True)
class Naming:
    """The words that a product's contracts have in common."""

    domain: str
    product: str
    version: str
    owner: str = ""

    @property
    def prefix(self) -> str:
        """What a contract's name may repeat: `sales-customer-360-`."""
        return f"{self.domain}-{self.product}-"

    def contract_id(self, contract: str) -> str:
        return f"{self.domain}.{self.product}".replace("-", "_") + f"/{contract}"


def naming_of(metadata: DataProductMetadata, domain: str | None = None) -> Naming:
    major, minor, patch, *_ = [*metadata.version.split("."), "0", "0"]
    version = f"{major}.{minor}.{patch}"
    return Naming(domain or metadata.domain or "default", metadata.name, version, metadata.owner or "")


@dataclass(frozen=True, slots=True)
class Port:
    """An output port and where it is written."""

    port: OutputPort
    locate: Find
    called: str = ""  # what an explicit contract calls the table

    @property
    def table(self) -> str:
        return self.port.table or self.port.name

    @property
    def contract(self) -> str:
        return self.port.contract or self.port.name


def generate(
    ports: Sequence[Port],
    naming: Naming,
    contract: str,
    start: Find,
    models: Models | None = None,
    inputs: Sequence[InputPort] = (),
) -> Draft:
    """The contract that the ports promise, one table each, completed from the dbt models behind them.

    What the product reads from others is no promise of its own; the contract names what it rests on.
    """
    writer, models = Writer(), models or Models()
    root = {
        "apiVersion": WRITTEN,
        "kind": "DataContract",
        "id": naming.contract_id(contract),
        "name": f"{naming.prefix}{contract}",
        "version": naming.version,
        "status": "active",
        "domain": naming.domain,
        "dataProduct": naming.product,
        "team": {"members": [{"username": naming.owner, "role": "owner"}]} if naming.owner else None,
    }
    writer.put(writer.data, (), root, start)
    if names := [*_contracts_behind(inputs)]:
        writer.put(writer.data, (), {"customProperties": [{"property": INPUTS, "value": names}]}, start)
    writer.data["schema"] = []
    for number, port in enumerate(ports):
        block: Json = {}
        writer.data["schema"].append(block)
        _table(writer, block, ("schema", number), port, models)
    slas: list[Json] = []
    for port in ports:
        for entry in _slas(port.port.sla):
            if entry not in slas:
                writer.origins[("slaProperties", len(slas))] = port.locate(("sla", entry["property"]))
                slas.append(entry)
    if slas:
        writer.data["slaProperties"] = slas
    return Draft(writer.data, finder(writer.origins, start(())), start(()).place.path)


def _contracts_behind(inputs: Sequence[InputPort]) -> Iterator[str]:
    """The contracts of other products that the product reads. Which versions it accepts may change any day."""
    for port in inputs:
        if product := port.source.product:
            yield f"{product.replace('-', '_')}/{port.source.contract or port.name}"


def _table(writer: Writer, block: Json, path: KeyPath, port: Port, models: Models) -> None:
    level = port.port.classification
    name, in_catalog = port.called or port.table, port.port.published_as or port.table
    said = {
        "name": name,
        "physicalName": in_catalog if in_catalog != name else None,
        "customProperties": [{"property": LEVEL, "value": show(level)}] if level else None,
    }
    writer.put(block, path, said, lambda path: port.locate((_PORT_KEYS.get(str(path[0]), "name"),)))
    block["properties"] = []
    for number, column in enumerate(port.port.columns or ()):
        _append(writer, block, path, _port_column(column), _inside(port.locate, number))
    if node := models.nodes.get(port.table):
        enrich(writer, block, path, node, models)
    if not block["properties"]:
        del block["properties"]


_PORT_KEYS = {"physicalName": "published_as", "customProperties": "classification"}
_COLUMN_KEYS = {"logicalType": "type", "physicalType": "type", "primaryKey": "primary_key"}


def _inside(locate: Find, number: int) -> Find:
    return lambda path: locate(("schema", number, _COLUMN_KEYS.get(str(path[0]), str(path[0]))))


def _append(writer: Writer, block: Json, path: KeyPath, column: Json, origin: Find) -> None:
    at = (*path, "properties", len(block["properties"]))
    entry: Json = {}
    writer.put(entry, at, column, origin)
    block["properties"].append(entry)


def _port_column(column: PortColumn) -> Json:
    return {
        "name": column.name,
        **types(column.type),
        "required": column.required or None,
        "primaryKey": column.primary_key or None,
        "unique": column.unique or None,
        "classification": ", ".join(item.value for item in column.classification or ()),
        "description": column.description,
    }


def _slas(sla: PortSla | None) -> Iterator[Json]:
    if sla is None:
        return
    if sla.freshness is not None:
        yield {"property": "freshness", "value": iso_duration(sla.freshness)}
    for name, value in (("availability", sla.availability), ("quality", sla.quality)):
        if value is not None:
            yield {"property": name, "value": f"{show(value)}%"}
