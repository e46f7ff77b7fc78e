"""What is run, and where: a product, its catalog, its engine, and the folders it works in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floe_core.artifacts import FILE, HOME
from floe_core.catalog import catalog_of, home_of
from floe_core.compile import follow, load, merge
from floe_core.dbt import requests_of
from floe_core.env import Spec
from floe_core.findings import Finding, FloeError, Place
from floe_core.merge import Merged
from floe_core.namespaces import Namespace
from floe_core.references import resolve_references
from floe_core.transforms import TransformRequest
from floe_iceberg import IcebergCatalogPlugin, LockingCatalogPlugin
from floe_spark.settings import SparkSettings, read_settings

COMPUTE = ("plugins", "compute")


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asks of a run."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    full_refresh: bool = False
    vars: Mapping[str, Any] = field(default_factory=dict)
    trigger: str = "manual"
    artifacts: Path | None = None  # run exactly these
    retry: bool = False  # take up the last run where it failed
    wait: bool = False
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class Product:
    """A product that can be run."""

    spec: Spec
    catalog: IcebergCatalogPlugin[Any]
    settings: SparkSettings
    requests: tuple[TransformRequest, ...]
    work: Path

    @property
    def id(self) -> str:
        return self.spec.chain.product_id

    @property
    def place(self) -> Place:
        return self.spec.chain.product.place(("metadata", "name"))

    @property
    def home(self) -> Path:
        """Where what concerns its runs on this machine is kept, whoever's checkout they were started from."""
        return home_of(self.spec.chain)

    @property
    def lock(self) -> Path:
        return self.home / "locks" / f"{self.id}.lock"

    @property
    def runs(self) -> Path:
        """A folder for each run that has not ended well, or has not ended."""
        return self.home / "runs" / self.id

    @property
    def artifacts(self) -> Path:
        return self.spec.folder / FILE

    @property
    def namespace(self) -> Namespace:
        return self.spec.chain.namespace(nested=self.catalog.capabilities.nested_namespaces)


def prepare(root: Path) -> Product:
    """Everything a run needs, or FloeError with everything that is wrong."""
    chain, _ = follow(load(root)[0])
    merged, findings = merge(chain)
    if any(item.blocks for item in findings):
        raise FloeError(*findings)
    catalog = catalog_of(chain, merged)
    if isinstance(catalog, LockingCatalogPlugin):
        catalog = catalog.unlocked  # a run claims nothing
    if not isinstance(catalog, IcebergCatalogPlugin):
        message = f"catalog {catalog.name} is not built on IcebergCatalogPlugin, so its tables cannot be read back"
        raise FloeError(Finding("FLOE-E803", message, chain.product.place(("metadata", "name"))))
    spec = Spec(chain, merged)
    requests = requests_of(spec, nested=catalog.capabilities.nested_namespaces)
    return Product(spec, catalog, _settings(merged), requests, chain.product.folder / HOME)


def _settings(merged: Merged) -> SparkSettings:
    leaf = merged.leaves.get(COMPUTE)
    if leaf is None:
        return SparkSettings()
    place = leaf.setters[-1].place
    if leaf.value.type != "spark":
        message = f"the platform's compute is {leaf.value.type}, and floe-spark runs on spark"
        raise FloeError(Finding("FLOE-E801", message, place, expected="spark", actual=leaf.value.type))
    return read_settings(resolve_references(leaf.value.config, place, Path(place.path).parent), place)
