"""Follows a product's references up to the enterprise: product → domain → enterprise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from floe_core.defaults import COVERAGE, GATES
from floe_core.findings import Finding, FloeError, Place, Related
from floe_core.load import Loaded, kind_of, load_manifest
from floe_core.merge import Tier
from floe_core.namespaces import Namespace, as_identifier
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest, Scope
from floe_core.schemas.parts import Reference
from floe_core.settings import SettingPath, Settings, flatten
from floe_core.source import cut, read_source

_REGISTRY = re.compile(r"oci://|oci-layout:|v?[0-9]+\.[0-9]+(\.[0-9]+)?\Z")


@dataclass(frozen=True, slots=True)
class Chain:
    """A product and the manifests it inherits from, topmost first."""

    product: Loaded[DataProduct]
    manifests: tuple[Loaded[Manifest], ...] = ()

    @property
    def mode(self) -> Literal["simple", "centralized", "mesh"]:
        if not self.manifests:
            return "simple"
        return "mesh" if self.product.document.domain else "centralized"

    @property
    def domain(self) -> str:
        """The name of the product's domain."""
        named = self.product.document.metadata.domain
        if self.mode == "mesh":
            return self.manifests[-1].document.metadata.name
        return named or "default"

    @property
    def product_id(self) -> str:
        """`{domain}.{product}` as catalogs spell it."""
        return f"{as_identifier(self.domain)}.{as_identifier(self.product.document.metadata.name)}"

    def namespace(self, *, nested: bool = True) -> Namespace:
        """Where the product's tables live; a domain may choose another name for its part of the catalog."""
        named = self.manifests[-1].document.catalog_namespace if self.mode == "mesh" else None
        return Namespace(named or self.domain, self.product.document.metadata.name, nested)

    def tiers(self) -> Iterator[Tier]:
        yield from manifest_tiers(self.manifests)
        yield _product_tier(self.product)


def _product_tier(product: Loaded[DataProduct]) -> Tier:
    """A product is one more tier, with few things to say."""
    quality = product.document.quality
    coverage = quality.minimum_coverage if quality else None
    values: dict[SettingPath, Any] = {} if coverage is None else {COVERAGE: coverage}
    blocks = frozenset({GATES[:1], GATES} if values else ())

    def locate(path: SettingPath) -> Place:
        return product.place(("quality", "minimum_coverage") if path == COVERAGE else ())

    return Tier(f"product {product.document.metadata.name}", Settings(values, blocks), locate, is_manifest=False)


def resolve(product: Loaded[DataProduct]) -> Chain:
    """The chain above a product."""
    document = product.document
    if document.platform and document.domain:
        place = product.place(("platform",), of_key=True)
        other = Related(product.place(("domain",), of_key=True), "the domain is named here")
        raise FloeError(Finding("FLOE-E155", "platform and domain are both set", place, related=(other,)))
    if document.platform:
        return Chain(product, _ancestors(product, "platform", document.platform, Scope.ENTERPRISE))
    if document.domain:
        chain = Chain(product, _ancestors(product, "domain", document.domain, Scope.DOMAIN))
        _check_domain_name(chain)
        return chain
    return Chain(product)


def ancestry(manifest: Loaded[Manifest]) -> tuple[Loaded[Manifest], ...]:
    """A manifest with what it inherits from, topmost first."""
    parent = manifest.document.parent
    _check_scope(manifest, manifest.place(("scope",)), manifest.document.scope)
    if parent is None:
        return (manifest,)
    above = _load_parent(
        _file_of(parent, _place_of(manifest, "parent"), manifest.folder), manifest.place(("parent",))
    )
    _check_scope(above, _place_of(manifest, "parent"), Scope.ENTERPRISE)
    return (above, manifest)


def manifest_tiers(manifests: Iterable[Loaded[Manifest]]) -> Iterator[Tier]:
    """What the manifests say, each as one tier of the merge."""
    for loaded in manifests:
        document = loaded.document
        yield Tier(f"{document.scope.value} {document.metadata.name}", flatten(document), loaded.place)


def _check_domain_name(chain: Chain) -> None:
    named = chain.product.document.metadata.domain
    if named is None or named == chain.domain:
        return
    manifest = chain.manifests[-1].place(("metadata", "name"))
    raise FloeError(
        Finding(
            "FLOE-E156",
            f"metadata.domain is {named}, but the domain manifest is {chain.domain}",
            chain.product.place(("metadata", "domain")),
            expected=chain.domain,
            actual=named,
            fix=f"Write `domain: {chain.domain}` in metadata, or remove the line.",
            related=(Related(manifest, "the domain is named here"),),
        )
    )


def _ancestors(
    product: Loaded[DataProduct], key: str, reference: Reference, scope: Scope
) -> tuple[Loaded[Manifest], ...]:
    """Every manifest above, topmost first; circles are found before scopes are judged."""
    place = _place_of(product, key)
    chain: list[tuple[Place, Loaded[Manifest]]] = []
    path: Path | None = _file_of(reference, place, product.folder)
    while path:
        seen = [Path(loaded.source.path) for _, loaded in chain]
        if path in seen:
            raise FloeError(Finding("FLOE-E153", f"{path.name} is its own ancestor", place))
        loaded = _load_parent(path, place)
        chain.append((place, loaded))
        parent = loaded.document.parent
        place = _place_of(loaded, "parent")
        path = _file_of(parent, place, loaded.folder) if parent else None
    for number, (at, loaded) in enumerate(chain):
        _check_scope(loaded, at, scope if number == 0 else Scope.ENTERPRISE)
    return tuple(loaded for _, loaded in reversed(chain))


def _place_of(loaded: Loaded[DataProduct] | Loaded[Manifest], key: str) -> Place:
    written = (key, "ref") if loaded.source.node((key, "ref")) else (key,)
    return loaded.place(written)


def _file_of(reference: Reference, place: Place, folder: Path) -> Path:
    if _REGISTRY.match(reference.ref):
        raise FloeError(Finding("FLOE-E159", f"{reference.ref} leads to a registry", place))
    ref = cut(reference.ref)
    try:
        target = (folder / reference.ref).resolve()
        is_folder = target.is_dir()
        path = target / "manifest.yaml" if is_folder else target
        path.stat()
    except (FileNotFoundError, NotADirectoryError) as exc:
        message = f"{ref} is a folder without a manifest.yaml" if is_folder else f"{ref} is not there"
        raise FloeError(Finding("FLOE-E150", message, place, actual=str(path))) from exc
    except (OSError, RuntimeError) as exc:  # too long, forbidden, a loop of links
        reason = exc.strerror if isinstance(exc, OSError) else "its links lead in a circle"
        raise FloeError(Finding("FLOE-E150", f"{ref} cannot be followed: {reason}", place)) from exc
    return path


def _load_parent(path: Path, place: Place) -> Loaded[Manifest]:
    if kind_of(read_source(path)) == "DataProduct":
        raise FloeError(Finding("FLOE-E154", f"{path.name} is a data product, not a manifest", place))
    return load_manifest(path)


def _check_scope(loaded: Loaded[Manifest], reference: Place, wanted: Scope) -> None:
    manifest, name = loaded.document, loaded.document.metadata.name
    if manifest.scope is not wanted:
        raise FloeError(
            Finding(
                "FLOE-E151",
                f"{name} is of scope {manifest.scope.value}, not {wanted.value}",
                reference,
                expected=wanted.value,
                actual=manifest.scope.value,
                related=(Related(_scope_place(loaded), "the scope is set here"),),
            )
        )
    if manifest.scope is Scope.ENTERPRISE and manifest.parent:
        message = f"{name} is of scope enterprise and has a parent"
        raise FloeError(Finding("FLOE-E151", message, _place_of(loaded, "parent"), fix="Remove `parent`."))
    if manifest.scope is Scope.DOMAIN and not manifest.parent:
        place = _scope_place(loaded)
        raise FloeError(Finding("FLOE-E152", f"{name} is of scope domain and has no parent", place))


def _scope_place(loaded: Loaded[Manifest]) -> Place:
    """Where the scope is said: by its key, or by `kind: DomainManifest`."""
    spoken = loaded.source.node(("scope",)) or loaded.source.node(("metadata", "scope"))
    return loaded.place(("scope",) if spoken else ("kind",))
