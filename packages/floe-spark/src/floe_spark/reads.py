"""What a product reads beyond its own tables: that has to be in the staging catalog too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from floe_core.catalog import CatalogPlugin
from floe_core.env import Spec
from floe_core.namespaces import Namespace
from floe_dbt.manifest import Manifest

Identifier = tuple[str, ...]
_DOTTED = re.compile(r"\b[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*){1,4}\b")


@dataclass(frozen=True, slots=True)
class Reads:
    """Single tables or views by name, and whole products."""

    tables: frozenset[Identifier]
    products: tuple[Namespace, ...]


def reads_of(spec: Spec, catalog: CatalogPlugin, manifests: Iterable[Manifest], top: Iterable[Identifier]) -> Reads:
    """Everything that the dbt projects and the input ports name; `top` are the catalog's outermost namespaces.

    Names in the SQL itself count as well: what is a table and what is a column only the catalog can tell.
    """
    known = {parts[0] for parts in top}
    found = {name for manifest in manifests for name in (*_sources(manifest), *_spelt(manifest, catalog.name))}
    products = (port.source.product for port in spec.product.input_ports if port.source.product)
    return Reads(
        frozenset(name for name in found if name[0] in known),
        tuple(_namespace(product, catalog) for product in dict.fromkeys(products)),
    )


def _sources(manifest: Manifest) -> Iterator[Identifier]:
    for source in manifest.sources.values():
        yield (*source.schema.lower().split("."), source.identifier.lower())


def _spelt(manifest: Manifest, catalog: str) -> Iterator[Identifier]:
    """Everything in the SQL of models, tests, hooks and macros of the project that looks like a table's name."""
    own = manifest.metadata.project_name
    texts = [node.raw_code for node in manifest.nodes.values()]
    texts += [macro.macro_sql for macro in manifest.macros.values() if macro.package_name == own]
    names = {name for text in texts for name in _DOTTED.findall(text.replace("`", "").lower())}
    for name in names:
        parts = tuple(name.split("."))
        yield parts[1:] if parts[0] == catalog and len(parts) > 2 else parts


def _namespace(product: str, catalog: CatalogPlugin) -> Namespace:
    """Where the tables of another product are: as it is registered, else as its id says."""
    domain, _, name = product.partition(".")
    if registered := catalog.get_product(product):  # a domain may have another name in the catalog
        domain = registered.namespace[0].partition("__")[0]
    return Namespace(domain, name, catalog.capabilities.nested_namespaces)
