"""Compiled artifacts: written as one step, read back exactly or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pydantic
import pytest

from floe_core.artifacts import (
    VERSION,
    ArtifactIdentity,
    ArtifactMetadata,
    CompiledArtifacts,
    Observability,
    read_artifacts,
    write_artifacts,
)
from floe_core.findings import Finding, FloeError
from floe_core.json_schema import artifacts_schema

ARTIFACTS = CompiledArtifacts(
    metadata=ArtifactMetadata(
        compiled_at="2026-01-03T10:00:00Z",
        floe_version="0.1.0",
        source_hash="0" * 64,
        product_name="customer-360",
        product_version="1.2.3",
    ),
    identity=ArtifactIdentity(product_id="sales.customer_360", namespace="sales.customer_360"),
    mode="mesh",
    inheritance=(),
    policy={"naming_conventions": [[{"glob": "bronze_ä*"}]]},
    set_by={},
    observability=Observability(namespace="sales.customer-360"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "target" / "floe" / "compiled_artifacts.json"
    write_artifacts(ARTIFACTS, file)
    return file


def refusal(path: Path) -> Finding:
    with pytest.raises(FloeError) as raised:
        read_artifacts(path)
    [finding] = raised.value.findings
    assert finding.path == str(path)
    return finding


def edit(path: Path, **changes: Any) -> None:
    body = json.loads(path.read_bytes())
    path.write_text(json.dumps({**body, **changes}, indent=2, sort_keys=True) + "\n")


def test_what_was_written_is_read_back(path: Path) -> None:
    assert read_artifacts(path) == ARTIFACTS
    assert path.read_bytes() == ARTIFACTS.to_bytes()


def test_the_file_is_what_its_schema_says(path: Path) -> None:
    jsonschema_rs.meta.validate(artifacts_schema())
    judge = jsonschema_rs.Draft202012Validator(artifacts_schema())
    body = json.loads(path.read_bytes())
    judge.validate(body)
    assert not judge.is_valid({**body, "more": 1})
    assert not judge.is_valid({key: value for key, value in body.items() if key != "digest"})


def test_artifacts_never_change_and_hold_nothing_unknown() -> None:
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        ARTIFACTS.mode = "simple"  # type: ignore[misc]  # that it cannot be set is the test
    with pytest.raises(pydantic.ValidationError, match="extra_forbidden"):
        CompiledArtifacts.model_validate({**ARTIFACTS.model_dump(), "more": 1})


def test_the_bytes_are_ascii_and_end_with_a_line(path: Path) -> None:
    data = path.read_bytes()
    assert data.decode("ascii").endswith("}\n")


def test_absent_artifacts_cannot_be_read(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.json").code == "FLOE-E901"
    assert refusal(tmp_path).code == "FLOE-E901"


@pytest.mark.parametrize("version", ["0.2.0", None, 1, "x" * 1000])
def test_another_version_is_named(path: Path, version: object) -> None:
    edit(path, version=version)
    finding = refusal(path)
    assert (finding.code, finding.expected, finding.actual) == ("FLOE-E902", VERSION, str(version)[:40])


@pytest.mark.parametrize(
    "change",
    [{"mode": "simple"}, {"policy": {}}, {"digest": "0" * 64}, {"digest": None}, {"more": 1}, {"models": None}],
)
def test_an_edit_is_noticed(path: Path, change: dict[str, Any]) -> None:
    edit(path, **change)
    finding = refusal(path)
    assert (finding.code, finding.message) == (
        "FLOE-E903",
        "the artifacts have been changed since they were compiled",
    )


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"version": "0.1.0"}'])
def test_damage_is_noticed(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    assert refusal(path).code == "FLOE-E903"


def test_every_cut_of_the_file_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 97):
        path.write_bytes(whole[:length])
        assert refusal(path).code == "FLOE-E903"


def test_a_digest_that_somebody_recomputed_does_not_hide_a_missing_part(path: Path) -> None:
    body = json.loads(path.read_bytes())
    del body["digest"], body["identity"]
    digest = hashlib.sha256(json.dumps(body, indent=2, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({**body, "digest": digest}))
    assert refusal(path).message == "the artifacts are not complete: identity"
