"""Steps 3 and 4 of a compile: reads the dbt projects, runs the rules, and says it in the words of the line."""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from floe_core.artifacts import CompiledModel
from floe_core.env import Judged, Spec, Verdict
from floe_core.env import Project as AnyProject
from floe_core.files import cache_folder
from floe_core.project import Project, read_manifest
from floe_core.rules import Context, Enforced, enforce
from floe_core.rules.coverage import percent
from floe_core.sql.cache import FactsCache

if TYPE_CHECKING:
    from floe_core.contract import Contract

SHOWN = 50  # names on the terminal


def read_project(manifest: Path, folder: Path) -> Project:
    """A dbt project from its manifest.json; `folder` is that of dbt_project.yml."""
    return Project(read_manifest(manifest), folder)


def judge(spec: Spec, projects: Sequence[AnyProject], contracts: Sequence[Contract], today: date) -> Judged:
    """What the rules say about a product and its models."""
    known = tuple(project for project in projects if isinstance(project, Project))
    context = Context(
        spec.chain.product, spec.chain, spec.merged, known, tuple(contracts), today, FactsCache(facts_file(spec))
    )
    done = enforce(context)
    return Judged(
        naming=Verdict(tuple(_names(done, known)), tuple(done.of_step(3))),
        gates=Verdict(tuple(_figures(done)), tuple(done.of_step(4))),
        classifications=_classifications(context),
        models=CompiledModels(context, spec),
        summary={
            "models": len(done.summary.models),
            "columns": done.summary.columns,
            "tested_columns": done.summary.tested_columns,
            "coverage": done.summary.coverage,
        },
    )


@dataclass(frozen=True)
class CompiledModels(Sequence[CompiledModel]):
    """The models as a run needs them, made when somebody asks: where something blocks, nobody does."""

    context: Context
    spec: Spec

    @cached_property
    def _made(self) -> tuple[CompiledModel, ...]:
        known = self.context.projects
        return tuple(model for project in known for model in _compiled(self.context, self.spec, project))

    def __len__(self) -> int:
        return len(self._made)

    @overload
    def __getitem__(self, index: int) -> CompiledModel: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CompiledModel]: ...
    def __getitem__(self, index: int | slice) -> CompiledModel | Sequence[CompiledModel]:
        return self._made[index]


def facts_file(spec: Spec) -> Path:
    """Outside the product, so that a check writes nothing in it; kept by content, facts are never stale."""
    owner = hashlib.sha256(os.fsencode(spec.folder.resolve())).hexdigest()[:16]
    return cache_folder() / "facts" / f"{owner}.json"


def _classifications(context: Context) -> dict[str, dict[str, tuple[str, ...]]] | None:
    """The classes in force, written or inherited, of every column that has one."""
    travel = context.columns.travel
    found = {
        node.name: {
            column: tuple(one.value for one in classes)
            for column in sorted([name for name, said in travel.reached.get(node.unique_id, {}).items() if said])
            if (classes := travel.classes(node.unique_id, column))
        }
        for project in context.projects
        for node in project.nodes
    }
    return {name: columns for name, columns in sorted(found.items()) if columns} or None


def _names(done: Enforced, projects: Sequence[Project]) -> Iterator[str]:
    for project in projects:
        if not project.nodes:
            yield f"{project.name}: no models, seeds or snapshots of its own"
    valid = [model for model in done.summary.models if model.valid]
    for model in valid[:SHOWN]:
        yield f"{model.name}: valid ({model.layer} layer)" if model.layer else f"{model.name}: valid"
    if len(valid) > SHOWN:
        yield f"and {len(valid) - SHOWN:,} more"


def _figures(done: Enforced) -> Iterator[str]:
    summary = done.summary
    if summary.coverage is not None:
        counts = f"{summary.tested_columns:,} of {summary.columns:,} columns"
        yield f"Test coverage: {percent(summary.coverage)} overall ({counts}); judged model by model"


def _compiled(context: Context, spec: Spec, project: Project) -> Iterator[CompiledModel]:
    namespace, folder = spec.chain.namespace(), _relative(project.folder, spec.folder)
    layers = {layer: ".".join(namespace.layer(layer)) for layer in map(context.layer_of, project.nodes) if layer}
    for node in project.nodes:
        layer = context.layer_of(node)
        published = (port.published_as for port in context.ports(node) if port.published_as)
        yield CompiledModel.model_validate(
            {
                "name": node.name,
                "kind": node.resource_type,
                "layer": layer,
                "namespace": layers[layer] if layer else str(namespace),
                "table": next(published, node.alias or node.name),
                "materialization": node.config.materialized,
                "path": posixpath.normpath(f"{folder}/{node.original_file_path}"),
            }
        )


def _relative(path: Path, folder: Path) -> str:
    """As the product sees it; a model behind a link is where its link is."""
    return Path(os.path.relpath(path, folder.resolve())).as_posix()
