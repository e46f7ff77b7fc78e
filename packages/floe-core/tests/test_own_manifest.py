"""A manifest of the user's own dbt is refused when the files are no longer those it was made from: FLOE-E145."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from floe_core.findings import FloeError
from floe_core.fingerprint import hash_files, layout_of
from floe_core.own_manifest import refuse_stale


def node(path: str, text: str, package: str = "p", name: str = "sha256") -> dict[str, Any]:
    checksum = hashlib.sha256(text.strip().encode()).hexdigest()  # dbt strips before it hashes
    return {
        "package_name": package,
        "original_file_path": path,
        "checksum": {"name": name, "checksum": checksum},
        "resource_type": "model",
    }


FILES = {
    "dbt_project.yml": "name: p\n",
    "models/a.sql": "\nselect 'ä'\n\n",
    "models/off.sql": "{{ config(enabled=false) }} select 1\n",
    "seeds/s.csv": "id\n1\n",
}


@pytest.fixture
def product(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    manifest = {
        "metadata": {"project_name": "p"},
        "nodes": {
            "model.p.a": node("models/a.sql", FILES["models/a.sql"]),
            "seed.p.s": node("seeds/s.csv", FILES["seeds/s.csv"]),
            "model.other.x": node("models/x.sql", "of a package", package="other"),
            "test.p.not_null": node("models/schema.yml", "", name="none"),
        },
        "disabled": {"model.p.off": [node("models/off.sql", FILES["models/off.sql"])]},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return tmp_path


def refuse(product: Path, manifest: Path) -> None:
    layout = layout_of(product, "models/")
    refuse_stale(manifest, layout, hash_files(layout))


def refusal(product: Path) -> str:
    """What is said about the product's manifest."""
    with pytest.raises(FloeError) as raised:
        refuse(product, product / "manifest.json")
    [finding] = raised.value.findings
    assert finding.code == "FLOE-E145"
    return finding.message


def test_a_manifest_of_these_files_is_accepted(product: Path) -> None:
    refuse(product, product / "manifest.json")
    (product / "models" / "a.sql").write_text("select 'ä'", encoding="utf-8")  # the same but for blank lines
    refuse(product, product / "manifest.json")


@pytest.mark.parametrize("name", ["models/a.sql", "models/off.sql", "seeds/s.csv"])
def test_a_changed_file_is_named(product: Path, name: str) -> None:
    (product / name).write_text("changed", encoding="utf-8")
    assert refusal(product) == f"the manifest does not describe these files: {name} has changed"


def test_removed_and_new_files_are_counted(product: Path) -> None:
    (product / "models" / "a.sql").unlink()
    (product / "models" / "new.sql").write_text("select 1", encoding="utf-8")
    assert refusal(product) == "the manifest does not describe these files: models/a.sql is gone (and 1 more)"


def test_files_that_the_project_ignores_may_be_unknown(product: Path) -> None:
    (product / ".dbtignore").write_text("drafts\n")
    (product / "models" / "drafts").mkdir()
    (product / "models" / "drafts" / "new.sql").write_text("select 1")
    refuse(product, product / "manifest.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"metadata": 1}', "[" * 100_000])
def test_something_else_is_not_a_manifest(product: Path, text: str) -> None:
    (product / "manifest.json").write_text(text)
    assert refusal(product).startswith("manifest.json is not a manifest of dbt: ")


def test_a_manifest_that_is_not_there_cannot_be_read(product: Path) -> None:
    with pytest.raises(FloeError, match=r"FLOE-E100 .*gone\.json cannot be read: No such file"):
        refuse(product, product / "gone.json")
