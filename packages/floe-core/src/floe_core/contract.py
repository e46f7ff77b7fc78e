"""What a data contract is. The interface of the plugins that read and judge them is `floe_core.contract_plugin`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Protocol, TypeAlias

from floe_core.checks import Rule
from floe_core.findings import Place
from floe_core.order import Ladder
from floe_core.source import KeyPath
from floe_core.table import Column

Json: TypeAlias = dict[str, Any]
SlaValue: TypeAlias = timedelta | float | date | str


class Status(Ladder):
    """Where a contract is in its life, earliest first."""

    DRAFT = "draft"
    PROPOSED = "proposed"
    ACTIVE = "active"
    DEPRECATED = "deprecated"
    SUNSET = "sunset"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Sla:
    """One promise about the service: freshness, availability, quality, …"""

    name: str
    value: SlaValue | None  # None: floe cannot read it, and said so
    text: str  # as the file spells it
    element: str = ""
    path: KeyPath = ()


@dataclass(frozen=True, slots=True)
class Deprecation:
    """How a contract ends."""

    announced: date | None = None
    sunset_date: date | None = None
    replacement: str = ""
    migration_guide: str = ""
    path: KeyPath = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a contract promises."""

    name: str
    columns: tuple[Column, ...] = ()
    physical_name: str = ""
    description: str = ""
    rules: tuple[Rule, ...] = ()
    path: KeyPath = ()

    @property
    def in_catalog(self) -> str:
        return self.physical_name or self.name


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value of a contract comes from: the file, a port, the dbt project, or floe's default."""

    source: str
    place: Place


def _nowhere(path: KeyPath) -> Origin:
    del path
    return Origin("", Place("(contract)"))


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract as floe judges it. `document` is the whole ODCS document; the other fields are its meaning."""

    name: str  # as it is registered: customers
    id: str
    version: str
    status: Status
    api_version: str
    owner: str
    tables: tuple[Table, ...]
    slas: tuple[Sla, ...] = ()
    deprecation: Deprecation | None = None
    extends: str = ""
    document: Json = field(default_factory=dict, repr=False)
    origin: Callable[[KeyPath], Origin] = field(default=_nowhere, repr=False, compare=False)

    def place(self, path: KeyPath = ()) -> Place:
        """Where a value of the document was written."""
        return self.origin(path).place

    @property
    def schema_hash(self) -> str:
        """Covers what the tables look like, and nothing that is only said about them."""
        return _sha256([_table_facts(table) for table in sorted(self.tables, key=lambda table: table.name)])

    @property
    def document_hash(self) -> str:
        """Covers the whole contract; a registered version never changes it."""
        return _sha256(self.document)

    def to_json(self) -> Json:
        """As compiled artifacts hold it."""
        return {
            "name": self.name,
            "version": self.version,
            "status": self.status.value,
            "schema_hash": self.schema_hash,
            "document_hash": self.document_hash,
            "document": self.document,
        }

    def table(self, name: str) -> Table | None:
        return next((table for table in self.tables if name in (table.name, table.in_catalog)), None)


DataContract = Contract  # the specification's name


def _sha256(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _table_facts(table: Table) -> Json:
    columns = sorted(table.columns, key=lambda column: column.name)
    return {"name": table.name, "table": table.in_catalog, "columns": [_column_facts(item) for item in columns]}


def _column_facts(column: Column) -> Json:
    return {
        "name": column.name,
        "column": column.in_table,
        "type": str(column.type),
        "required": column.required,
        "unique": column.unique,
        "primary_key": column.primary_key,
        "classes": sorted(item.value for item in column.classes),
        "limits": sorted(map(list, column.limits), key=str),
        "fields": [_column_facts(item) for item in sorted(column.fields, key=lambda item: item.name)],
    }


class Baseline(Protocol):
    """What was promised before: files and git now, the catalog's registry once products are registered."""

    def previous(self, contract: Contract) -> Contract | None:
        """The registered contract that this version must be compared with.

        The same version when it is registered; a newer one of the same MAJOR line when there is one (the new
        version goes backwards); else the newest lower version of that line; else the newest of all.
        """
