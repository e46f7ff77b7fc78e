"""Stand-ins for what other packages bring to a compile: a transform plugin, and rules."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from floe_core.artifacts import CompiledModel
from floe_core.contract import Contract
from floe_core.env import Env, Judged, Project, Spec, Verdict
from floe_core.findings import Finding, FloeError, Place
from floe_core.transforms import TransformPlugin, TransformRequest

SCHEMA = "https://schemas.getdbt.com/dbt/manifest/v12.json"


@dataclass
class StandIn(TransformPlugin):
    """Writes a manifest with the project's .sql files as models, and remembers what it was asked."""

    api_version = 1
    asked: list[TransformRequest] = field(default_factory=list)
    refuses: FloeError | None = None

    def make_manifest(self, request: TransformRequest, progress: Callable[[str], None]) -> Path:
        self.asked.append(request)
        if self.refuses:
            raise self.refuses
        progress("working")
        names = sorted(path.stem for path in (request.product / request.path).rglob("*.sql"))
        path = request.work / "manifest.json"
        path.write_text(json.dumps({"metadata": {"dbt_schema_version": SCHEMA}, "names": names}), encoding="utf-8")
        return path

    def load(self, name: str, place: Place) -> TransformPlugin:
        del name, place
        return self


@dataclass(frozen=True)
class Names:
    """All that the stand-in rules know of a project."""

    names: tuple[str, ...]


def read_names(manifest: Path, folder: Path) -> Names:
    del folder
    return Names(tuple(json.loads(manifest.read_bytes())["names"]))


def rules(spec: Spec, projects: Sequence[Project], contracts: Sequence[Contract], today: date) -> Judged:
    """Names must begin with bronze_; every model that does is in the bronze layer."""
    del contracts, today
    names = [name for project in projects if isinstance(project, Names) for name in project.names]
    wrong = tuple(
        Finding("FLOE-E163", f"{name} is not called bronze_*", Place(str(spec.folder / "models" / f"{name}.sql")))
        for name in names
        if not name.startswith("bronze_")
    )
    lines = tuple(f"{name}: valid (bronze layer)" for name in names if name.startswith("bronze_"))
    models = tuple(
        CompiledModel(
            name=name,
            layer="bronze",
            namespace=f"{spec.namespace}.bronze",
            table=name,
            materialization="table",
            path=f"models/{name}.sql",
        )
        for name in names
    )
    return Judged(Verdict(lines, wrong), Verdict(), models, {}, {"models": len(names)})


def env(standin: StandIn | None = None, **keys: Any) -> Env:
    """An environment in which everything but identity and contracts is there."""
    return Env(transforms=(standin or StandIn()).load, read_project=read_names, rules=rules, **keys)
