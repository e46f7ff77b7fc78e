"""Classification at run time: classified columns carry their classes in the table itself.

Whoever finds the table sees them, with any engine: the property `floe.classification.COLUMN`, and the comment of
the column. The marks are written to the staged tables, so they are published together with the data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from floe_core.artifacts import CompiledModel
from floe_core.findings import Finding, Severity
from floe_core.load import Loaded
from floe_core.namespaces import Namespace
from floe_core.schemas.data_product import DataProduct

PROPERTY = "floe.classification."
WITHOUT_TABLE = ("view", "materialized_view", "ephemeral")
_MARK = re.compile(r" ?\[classified: [a-z, ]+\]$")

Classes = Mapping[str, Sequence[str]]  # of one model: column -> classes


def mark_tables(
    catalog: Catalog, namespace: Namespace, models: Iterable[CompiledModel], classes: Mapping[str, Classes]
) -> list[str]:
    """Mark every staged table that is not marked right; returns their names."""
    marked = []
    for model in models:
        if model.materialization in WITHOUT_TABLE:
            continue
        parts = namespace.layer(model.layer) if model.layer else namespace.parts
        try:
            table = catalog.load_table((*parts, model.table))
        except NoSuchTableError:
            continue  # not selected, and never built
        if _mark(table, classes.get(model.name, {})):
            marked.append(".".join((*parts, model.table)))
    return marked


def _mark(table: Table, classes: Classes) -> bool:
    """One commit that makes the marks right, if they are not."""
    fields = {field.name.lower(): field for field in table.schema().fields}
    wanted = {fields[column].name: ", ".join(names) for column, names in classes.items() if column in fields}
    properties = {f"{PROPERTY}{column}": names for column, names in wanted.items()}
    has = {key: value for key, value in table.properties.items() if key.startswith(PROPERTY)}
    docs = {
        field.name: text
        for field in fields.values()
        if (text := _doc(field.doc, wanted.get(field.name))) != field.doc
    }
    if has == properties and not docs:
        return False
    with table.transaction() as transaction:
        if gone := has.keys() - properties.keys():
            transaction.remove_properties(*gone)
        if properties != has:
            transaction.set_properties(properties)
        if docs:
            with transaction.update_schema() as update:
                for column, text in docs.items():
                    update.update_column(column, doc=text or "")
    return True


def _doc(written: str | None, classes: str | None) -> str | None:
    """A column's comment with its classes at the end; one that has neither stays as it is."""
    plain = _MARK.sub("", written or "")
    if classes is None:
        return plain if written and plain != written else written
    return f"{plain} [classified: {classes}]".strip()


def not_enforceable(product: Loaded[DataProduct]) -> Iterator[Finding]:
    """Ports that restrict access, which nothing that is installed can enforce in the catalog."""
    for number, port in enumerate(product.document.output_ports):
        if port.access is not None:
            message = f"access to port {port.name} is not enforceable here: the catalog plugin grants nothing"
            yield Finding("FLOE-E751", message, product.place(("output_ports", number, "access")), Severity.WARNING)
