"""What the tiers above have to approve: the product itself, and where its data comes from."""

from __future__ import annotations

from collections.abc import Iterator

from floe_core.findings import Finding, Related
from floe_core.order import show
from floe_core.rules.context import Breach, Context, setters

SOURCES = ("approved_sources",)


def check_product(context: Context) -> Iterator[Breach]:
    """E171: the domain lists its products, without this one."""
    if not context.chain.manifests:
        return
    nearest = context.chain.manifests[-1]
    approved = nearest.document.approved_products
    if approved is None or context.chain.product_id in (name.replace("-", "_") for name in approved):
        return
    listed = Related(
        nearest.place(("approved_products",)), f"{nearest.document.metadata.name} approves {show(approved)}"
    )
    message = f"the product {context.chain.product_id} is not approved"
    place = context.product.place(("metadata", "name"))
    yield Breach(Finding("FLOE-E171", message, place, expected=show(approved), related=(listed,)))


def check_sources(context: Context) -> Iterator[Breach]:
    """E172: an ingestion from a source that no list approves."""
    leaf = context.leaf(SOURCES)
    for number, ingestion in enumerate(context.product.document.ingestion if leaf else ()):
        if leaf and ingestion.source not in leaf.value:
            place = context.product.place(("ingestion", number, "source"))
            lists = (Related(said.place, f"{said.tier} approves {show(said.value)}") for said in leaf.setters)
            message = f"the ingestion source {ingestion.source} is not approved"
            fix = f"Use one of {show(leaf.value)}, or ask for approval." if leaf.value else ""
            finding = Finding("FLOE-E172", message, place, fix=fix, expected=show(leaf.value), related=tuple(lists))
            yield Breach(finding, setters(leaf))
