"""What a rule is given, for tests: from a folder as a compile would read it, or built from a few words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from manifests import MINIMAL

from floe_core import DataProduct, Manifest
from floe_core.load import Loaded, load_product
from floe_core.merge import merge_tiers
from floe_core.project import Metadata, Project, RawManifest, RawNode, TestMetadata, read_manifest
from floe_core.resolve import Chain, resolve
from floe_core.rules import Context
from floe_core.source import Node, Source

TODAY = date(2026, 11, 18)


def read_context(folder: Path) -> Context:
    """The context of a product folder; its dbt manifest stands beside floe.yaml."""
    product = load_product(folder / "floe.yaml")
    chain = resolve(product)
    merged, findings = merge_tiers(chain.tiers())
    assert findings == []
    path = folder / "manifest.json"
    projects = (Project(read_manifest(path), folder),) if path.exists() else ()
    return Context(product, chain, merged, projects, today=TODAY)


def context(
    *tiers: Mapping[str, Any],
    nodes: tuple[RawNode, ...] = (),
    today: date = TODAY,
    product: Mapping[str, Any] | None = None,
) -> Context:
    """A product under tiers that say what is given, the topmost first, with a project of these nodes."""
    document = DataProduct.model_validate(
        {
            "apiVersion": "floe.dev/v1",
            "kind": "DataProduct",
            "metadata": {"name": "customer-360", "version": "1.0.0"},
            **({"domain": "sales"} if len(tiers) > 1 else {"platform": "acme"}),
            **(product or {}),
        }
    )
    scopes = ("enterprise", "domain")
    manifests = tuple(
        Loaded(
            Manifest.model_validate(
                {**MINIMAL, "scope": scope, "metadata": {"name": scope, "version": "1.2.3"}, **tier}
            ),
            Source(f"{scope}.yaml", Node(None, 1, 1)),
        )
        for scope, tier in zip(scopes, tiers, strict=False)
    )
    chain = Chain(Loaded(document, Source("floe.yaml", Node(None, 1, 1))), manifests)
    merged, findings = merge_tiers(chain.tiers())
    assert [item for item in findings if item.blocks] == []
    raw = RawManifest(Metadata(project_name="shop"), {node.unique_id: node for node in nodes})
    return Context(chain.product, chain, merged, (Project(raw, Path()),), today=today)


def model(name: str, **keys: Any) -> RawNode:
    """A model of the project, as dbt's manifest has it."""
    return RawNode(
        **{
            "unique_id": f"model.shop.{name}",
            "name": name,
            "resource_type": "model",
            "package_name": "shop",
            "original_file_path": f"models/{name}.sql",
            **keys,
        }
    )


def dbt_test(node: RawNode, kind: str, column: str | None = None, **kwargs: Any) -> RawNode:
    """A generic test of a node, or of one of its columns."""
    return model(
        f"{kind}_{node.name}_{column}",
        unique_id=f"test.shop.{kind}_{node.name}_{column}_{sorted(kwargs)}",
        resource_type="test",
        attached_node=node.unique_id,
        column_name=column,
        test_metadata=TestMetadata(kind, kwargs),
    )
