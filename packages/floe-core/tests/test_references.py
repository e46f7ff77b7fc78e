"""Secret references are looked up at the last moment; what cannot be looked up is said, never passed on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floe_core.findings import FloeError, Place
from floe_core.references import resolve_references

HERE = Place("manifest.yaml", 7, 5)


def test_references_become_what_they_stand_for_and_the_rest_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CATALOG_TOKEN", "t0k3n")
    (tmp_path / "password").write_text("two words\n", encoding="utf-8")
    config = {
        "uri": "https://catalog.acme.com",
        "auth": {"token": {"env": "CATALOG_TOKEN"}, "kind": {"name": "bearer"}},
        "list": [{"file": "password"}, 3],
    }
    assert resolve_references(config, HERE, tmp_path) == {
        "uri": "https://catalog.acme.com",
        "auth": {"token": "t0k3n", "kind": {"name": "bearer"}},
        "list": ["two words", 3],
    }


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"env": "FLOE_NOT_SET"}, "the environment variable FLOE_NOT_SET is not set"),
        ({"file": "gone"}, "the secret file gone cannot be read: No such file or directory"),
        ({"file": "bytes"}, "the secret file bytes cannot be read: it is not UTF-8"),
        ({"secret": "catalog#token"}, "nothing here can look up the secret catalog"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_what_cannot_be_looked_up_is_an_error_at_its_place(
    tmp_path: Path, reference: dict[str, Any], message: str
) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    with pytest.raises(FloeError) as caught:
        resolve_references({"token": reference}, HERE, tmp_path)
    [finding] = caught.value.findings
    assert (finding.code, finding.place, finding.message) == ("FLOE-E808", HERE, message)
