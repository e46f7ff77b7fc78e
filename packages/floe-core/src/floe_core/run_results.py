"""What a run leaves behind: one file that says what was built, checked and published, or withheld and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Literal

import pydantic
from pydantic import BaseModel, ConfigDict, Field

from floe_core.artifacts import HOME
from floe_core.files import write_atomically
from floe_core.findings import Finding, FloeError, Place

SCHEMA: Final = "floe-run/1"
FILE = HOME / "run_results.json"

Json = dict[str, Any]


class Part(BaseModel):
    """A part of the record: nothing in it changes, and nothing unknown is in it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class RunOptions(Part):
    """What a person asked of the run."""

    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    full_refresh: bool = False
    vars: Json = Field(default_factory=dict)
    retry_of: str | None = Field(default=None, description="The run that this one took up again.")


class NodeResult(Part):
    """A seed, model, snapshot, test or hook, in the order they ended."""

    id: str = Field(description="dbt's unique id.")
    name: str
    kind: str
    status: str = Field(description="dbt's word: success, pass, warn, fail, error, skipped, …")
    seconds: float
    rows: int | None = Field(default=None, description="Rows of the table afterwards; of a test, rows that failed.")
    bytes: int | None = Field(default=None, description="Bytes that were written.")
    message: str = ""
    path: str = ""
    line: int = 1


class CheckResult(Part):
    """One check of a data contract. What was not measured did not pass."""

    contract: str
    version: str
    table: str
    column: str = ""
    metric: str
    status: Literal["passed", "failed", "not measured", "not run"]
    legal: str = ""
    value: str | None = None
    reason: str = ""
    source: str = Field(default="", description="What answered: metadata, one pass over the table, or a query.")
    seconds: float = 0.0


class ContractResult(Part):
    """A data contract after its checks."""

    name: str
    version: str
    score: float | None = Field(default=None, description="0 to 100; null where nothing could be measured.")
    minimum: float | None = None
    passed: bool


class PublishedRelation(Part):
    """A table or view that the run made or changed."""

    name: str
    kind: Literal["table", "view"]
    is_new: bool


class Publication(Part):
    """What became visible to consumers."""

    status: Literal["published", "withheld", "nothing to publish", "failed"]
    reasons: tuple[str, ...] = ()
    relations: tuple[PublishedRelation, ...] = ()


class TableResult(Part):
    """A table of the product, read back from the catalog after the run."""

    table: str
    rows: int
    snapshots: int


class RunResults(Part):
    """The record of a run."""

    schema_: Literal["floe-run/1"] = Field(default=SCHEMA, alias="schema")
    run_id: str
    product_id: str
    product_version: str
    floe_version: str
    source_hash: str = Field(description="Of the artifacts that were run.")
    git_commit: str | None = None
    trigger: Literal["manual", "scheduled", "sensor"] = "manual"
    catalog: str
    started_at: str = Field(description="UTC, ISO 8601.")
    ended_at: str
    exit_code: int
    options: RunOptions = RunOptions()
    seconds: dict[str, float] = Field(default_factory=dict, description="By phase.")
    nodes: tuple[NodeResult, ...] = ()
    checks: tuple[CheckResult, ...] = ()
    contracts: tuple[ContractResult, ...] = ()
    publication: Publication
    tables: tuple[TableResult, ...] = ()
    findings: tuple[Json, ...] = Field(default=(), description="As in a report.")
    errors: tuple[Json, ...] = ()

    def to_bytes(self) -> bytes:
        return (self.model_dump_json(by_alias=True, indent=2) + "\n").encode()


def run_schema() -> Json:
    """The JSON Schema of run_results.json."""
    return RunResults.model_json_schema(by_alias=True, mode="serialization")


def write_results(results: RunResults, path: Path) -> None:
    """Replace the file as one step."""
    try:
        write_atomically(path, results.to_bytes())
    except OSError as exc:
        message = f"{path.name} cannot be written: {exc.strerror or exc}"
        raise FloeError(Finding("FLOE-E900", message, Place(str(path)))) from exc


def read_results(path: Path) -> RunResults | None:
    """The record of the last run; None when there is none, or none that this floe reads."""
    try:
        return RunResults.model_validate_json(path.read_bytes())
    except (OSError, pydantic.ValidationError):
        return None
