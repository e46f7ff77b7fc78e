"""Puts the artifacts together, and tells whether they still belong to their source."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from floe_core import __version__
from floe_core.artifacts import (
    Ancestor,
    ArtifactIdentity,
    ArtifactMetadata,
    ArtifactPlugin,
    CompiledArtifacts,
    Observability,
    Setter,
)
from floe_core.dbt import Dbt
from floe_core.env import Identity, Judged, Spec
from floe_core.files import digest_of
from floe_core.findings import Finding, FloeError, Place
from floe_core.fingerprint import hash_files, hash_lock, layout_of
from floe_core.merge import Leaf, Merged
from floe_core.order import show

if TYPE_CHECKING:
    from floe_core.contract import Contract

ABOUT_A_FILE = ("apiVersion", "kind", "metadata", "scope", "parent")  # what a manifest says of itself


def compiled(
    spec: Spec,
    identity: Identity,
    dbt: Dbt,
    judged: Judged,
    contracts: Sequence[Contract],
    commit: str | None,
    when: datetime,
) -> CompiledArtifacts:
    """Everything that a run needs to know about the product."""
    product, folder = spec.product, spec.folder
    ancestors = _ancestors(spec)
    projects = [(item.path, item.files, item.lock) for item in dbt.projects]
    return CompiledArtifacts(
        metadata=ArtifactMetadata(
            compiled_at=when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            floe_version=__version__,
            source_hash=_hash_of(ancestors, projects, _contract_files(folder)),
            git_commit=commit,
            product_name=product.metadata.name,
            product_version=product.metadata.version,
        ),
        identity=ArtifactIdentity(
            product_id=spec.chain.product_id,
            namespace=spec.namespace,
            repository=product.metadata.repository,
            namespace_registered=identity.registered_at is not None,
            registration_timestamp=identity.registered_at,
        ),
        mode=spec.chain.mode,
        inheritance=ancestors,
        policy=_tree(
            leaf for leaf in spec.merged.leaves.values() if leaf.path[0] not in (*ABOUT_A_FILE, "plugins")
        ),
        set_by=_setters(spec.merged, folder),
        plugins=_plugins(spec.merged),
        transforms=product.transforms,
        ingestion=product.ingestion,
        schedule=product.schedule,
        input_ports=product.input_ports,
        output_ports=product.output_ports,
        models=tuple(sorted(judged.models, key=lambda model: (model.path, model.name))),
        data_contracts=tuple(contract.to_json() for contract in contracts),
        classifications=judged.classifications,
        observability=_observability(spec),
    )


def _ancestors(spec: Spec) -> tuple[Ancestor, ...]:
    files = [
        Ancestor(
            scope=loaded.document.scope.value,
            name=loaded.document.metadata.name,
            version=loaded.document.metadata.version,
            path=_seen_from(spec.folder, loaded.source.path),
            sha256=loaded.source.sha256,
        )
        for loaded in spec.chain.manifests
    ]
    own, metadata = spec.chain.product.source, spec.product.metadata
    path = _seen_from(spec.folder, own.path)
    files.append(
        Ancestor(scope="product", name=metadata.name, version=metadata.version, path=path, sha256=own.sha256)
    )
    return tuple(files)


def _seen_from(folder: Path, path: str) -> str:
    return Path(os.path.relpath(Path(path).resolve(), folder.resolve())).as_posix()


def _tree(leaves: Iterable[Leaf]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for leaf in leaves:
        block = tree
        for step in leaf.path[:-1]:
            block = block.setdefault(step, {})
        block[leaf.path[-1]] = plain(leaf.value)
    return tree


def plain(value: Any) -> Any:
    """A setting as JSON, spelt as a manifest would spell it."""
    match value:
        case Enum():
            return value.value
        case None | str() | int() | float():
            return value
        case BaseModel():
            return value.model_dump(mode="json", by_alias=True, exclude_none=True)
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case Sequence():
            return [plain(item) for item in value]
        case _:
            return show(value)


def _setters(merged: Merged, folder: Path) -> dict[str, tuple[Setter, ...]]:
    return {
        ".".join(path): tuple(
            Setter(
                tier=said.tier,
                path=_seen_from(folder, said.place.path),
                line=said.place.line,
                default=said.default,
            )
            for said in leaf.setters
        )
        for path, leaf in merged.leaves.items()
        if path[0] not in ABOUT_A_FILE
    }


def _plugins(merged: Merged) -> dict[str, ArtifactPlugin]:
    chosen = {path[1]: leaf.value for path, leaf in merged.leaves.items() if path[0] == "plugins"}
    return {kind: ArtifactPlugin(type=plugin.type, config=plain(plugin.config)) for kind, plugin in chosen.items()}


def _observability(spec: Spec) -> Observability:
    """What the platform asks for; the lineage namespace is as people write the names."""
    chain, name = spec.chain, spec.product.metadata.name
    said = {key: spec.merged.get(("observability", key)) for key in ("traces", "metrics", "lineage")}
    namespace = spec.merged.get(("observability", "namespace"))
    return Observability(
        **{key: bool(value) for key, value in said.items()},
        namespace=namespace or (f"{chain.domain}.{name}" if chain.mode == "mesh" else name),
    )


# Whether artifacts still belong to their source


def _hash_of(
    ancestors: Sequence[Ancestor], projects: Sequence[tuple[str, str, str]], contracts: Sequence[tuple[str, str]]
) -> str:
    rows = [*((item.path, item.sha256) for item in ancestors), *projects, *contracts]
    return hashlib.sha256("\n".join("\0".join(row) for row in rows).encode()).hexdigest()


def _contract_files(folder: Path) -> list[tuple[str, str]]:
    paths = [folder / "datacontract.yaml", *sorted((folder / "contracts").glob("*.y*ml"))]
    return [(path.relative_to(folder).as_posix(), digest_of(path)) for path in paths if path.is_file()]


def changed_since(artifacts: CompiledArtifacts, folder: Path) -> str:
    """What has changed since the product in `folder` was compiled; "" when nothing has."""
    for item in artifacts.inheritance:
        path = folder / item.path
        try:
            digest = digest_of(path)
        except OSError:
            return f"{item.path} is gone"
        if digest != item.sha256:
            return f"{item.path} has changed"
    projects: dict[str, tuple[str, str, str]] = {}
    for transform in artifacts.transforms:
        layout = layout_of(folder, transform.path)
        name = layout.root.relative_to(folder.resolve()).as_posix()
        if name not in projects:
            projects[name] = (name, hash_files(layout).digest, hash_lock(layout))
    found = _hash_of(artifacts.inheritance, list(projects.values()), _contract_files(folder))
    return "" if found == artifacts.metadata.source_hash else "the dbt project or a contract has changed"


def is_stale(artifacts: CompiledArtifacts, folder: Path) -> bool:
    """Whether the product in `folder` is no longer what was compiled."""
    return bool(changed_since(artifacts, folder))


def refuse_changed(artifacts: CompiledArtifacts, folder: Path, path: Path) -> None:
    """Raise FLOE-E904 for artifacts that do not match the product."""
    if change := changed_since(artifacts, folder):
        raise FloeError(Finding("FLOE-E904", f"{change} since the artifacts were compiled", Place(str(path))))
