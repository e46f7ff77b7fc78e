"""What a compile leaves behind: one file that holds everything a run needs, the same bytes for the same input."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, Field

from floe_core.files import write_atomically
from floe_core.findings import Finding, FloeError, Place
from floe_core.schemas.data_product import (
    IngestionConfig,
    InputPort,
    OutputPort,
    ScheduleConfig,
    TransformConfig,
)

VERSION: Final = "0.1.0"
HOME = Path("target", "floe")
FILE = HOME / "compiled_artifacts.json"
MAX_BYTES = 256 * 1024 * 1024

Json = dict[str, Any]


class Part(BaseModel):
    """A part of the artifacts: nothing in it changes, and nothing unknown is in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ArtifactMetadata(Part):
    """What was compiled, when, from which source, by which floe."""

    compiled_at: str = Field(description="UTC, ISO 8601; SOURCE_DATE_EPOCH pins it.")
    floe_version: str
    source_hash: str = Field(description="SHA-256 of every file that was compiled.")
    git_commit: str | None = Field(default=None, description="Commit of the checkout; null outside of one.")
    product_name: str
    product_version: str


class ArtifactIdentity(Part):
    """Who the product is in the catalog."""

    product_id: str = Field(description="{domain}.{product} as catalogs spell it.")
    namespace: str = Field(description="Namespace of its tables, before the layer.")
    repository: str | None = None
    namespace_registered: bool = False
    registration_timestamp: str | None = None


class Ancestor(Part):
    """One file of the chain, topmost first, the product's own last."""

    scope: Literal["enterprise", "domain", "product"]
    name: str
    version: str | None = None
    path: str = Field(description="Relative to the product's folder.")
    sha256: str


class Setter(Part):
    """Who a setting comes from."""

    tier: str
    path: str = Field(description="Relative to the product's folder.")
    line: int
    default: bool = Field(default=False, description="Whether it is a default that the tier brought.")


class ArtifactPlugin(Part):
    """A plugin in force. Secrets in its settings are references; they are resolved when it is used."""

    type: str
    config: Json = Field(default_factory=dict)


class CompiledModel(Part):
    """A dbt model, seed or snapshot, and where its table lives."""

    name: str
    kind: Literal["model", "seed", "snapshot"] = "model"
    layer: str | None = None
    namespace: str
    table: str
    materialization: str
    path: str = Field(description="Relative to the product's folder.")


class Observability(Part):
    """What a run reports about itself."""

    traces: bool = False
    metrics: bool = False
    lineage: bool = False
    namespace: str = Field(description="Lineage namespace.")


class CompiledArtifacts(Part):
    """A compiled data product."""

    version: Literal["0.1.0"] = VERSION
    metadata: ArtifactMetadata
    identity: ArtifactIdentity
    mode: Literal["simple", "centralized", "mesh"]
    inheritance: tuple[Ancestor, ...] = Field(description="Every file that had a say, topmost first.")
    policy: Json = Field(description="The merged guardrails, as a manifest would state them.")
    set_by: dict[str, tuple[Setter, ...]] = Field(description="Who set each guardrail, by its dotted path.")
    plugins: dict[str, ArtifactPlugin] = Field(default_factory=dict, description="By kind.")
    transforms: tuple[TransformConfig, ...] = ()
    ingestion: tuple[IngestionConfig, ...] = ()
    schedule: ScheduleConfig | None = None
    input_ports: tuple[InputPort, ...] = ()
    output_ports: tuple[OutputPort, ...] = ()
    models: tuple[CompiledModel, ...] = ()
    data_contracts: tuple[Json, ...] = Field(default=(), description="Contracts, merged, as ODCS documents.")
    classifications: dict[str, dict[str, tuple[str, ...]]] | None = Field(
        default=None, description="Model, column, classes in force; null where lineage was not followed."
    )
    observability: Observability

    def to_bytes(self) -> bytes:
        """The file: canonical JSON, with a digest of everything else in it."""
        body = self.model_dump(mode="json", by_alias=True)
        return f"{_json({**body, 'digest': _digest(body)})}\n".encode()


def artifacts_schema() -> Json:
    """The JSON Schema of compiled_artifacts.json."""
    schema = CompiledArtifacts.model_json_schema(by_alias=True, mode="serialization")
    schema["properties"]["digest"] = {
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
        "description": "SHA-256 of this object without the digest, as canonical JSON: sorted keys, indent 2.",
    }
    schema["required"] = [*schema["required"], "digest"]
    return schema


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, sort_keys=True)  # ASCII only: no locale, no file name can break it


def _digest(body: Json) -> str:
    return hashlib.sha256(_json(body).encode()).hexdigest()


def write_artifacts(artifacts: CompiledArtifacts, path: Path) -> None:
    """Replace the file as one step; when that fails, what was there before is still there."""
    try:
        write_atomically(path, artifacts.to_bytes())
    except OSError as exc:
        message = f"{path.name} cannot be written: {exc.strerror or exc}"
        raise FloeError(Finding("FLOE-E900", message, Place(str(path)))) from exc


def read_artifacts(path: Path) -> CompiledArtifacts:
    """Read artifacts back; of another version, damaged or edited ones are refused."""
    place = Place(str(path))
    body = _read(path, place)
    if (version := body.get("version")) != VERSION:
        message = f"the artifacts are of version {str(version)[:40]}; this floe reads {VERSION}"
        finding = Finding("FLOE-E902", message, place, expected=VERSION, actual=str(version)[:40])
        raise FloeError(finding)
    stated = body.pop("digest", None)
    if stated != _digest(body):
        raise FloeError(Finding("FLOE-E903", "the artifacts have been changed since they were compiled", place))
    try:
        return CompiledArtifacts.model_validate(body)
    except pydantic.ValidationError as exc:
        where = ".".join(map(str, exc.errors()[0]["loc"]))
        raise FloeError(Finding("FLOE-E903", f"the artifacts are not complete: {where}", place)) from exc


def _read(path: Path, place: Place) -> Json:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise FloeError(Finding("FLOE-E901", f"{path.name} cannot be read: {exc.strerror}", place)) from exc
    if len(data) > MAX_BYTES:
        raise FloeError(Finding("FLOE-E903", f"{path.name} is larger than {MAX_BYTES >> 20} MiB", place))
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise FloeError(Finding("FLOE-E903", f"{path.name} is not JSON", place)) from exc
    if not isinstance(body, dict):
        raise FloeError(Finding("FLOE-E903", f"{path.name} is not a JSON object", place))
    return body
