"""What contracts are judged against: the registered versions, or the last ones seen where the catalog is silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_catalog import ABOUT, PRODUCT, SqliteCatalog, raising

from floe_core.baselines import baselines
from floe_core.findings import FloeError
from floe_core.identity import ContractMetadata


def test_what_was_seen_is_used_while_the_catalog_is_silent(
    catalog: SqliteCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    silent = SqliteCatalog(catalog.home)
    silent.calls.before = raising("list_tables", ConnectionRefusedError("nobody listens"))
    with pytest.raises(FloeError, match="nobody listens"):
        baselines(silent, PRODUCT)
    catalog.register_product_namespace(PRODUCT, ABOUT)
    catalog.register_contract(PRODUCT, "customers", "1.0.0", "s", ContractMetadata("o", document="{}"))
    seen = baselines(catalog, PRODUCT)
    assert [item.document for item in seen.contracts] == ["{}"]
    remembered = baselines(silent, PRODUCT)
    assert replace(remembered, unanswered=()) == seen
    assert [item.code for item in remembered.unanswered] == ["FLOE-E807"]


def test_a_damaged_memory_is_no_memory(
    catalog: SqliteCatalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    baselines(catalog, PRODUCT)
    [file] = (tmp_path / "cache").rglob("*.json")
    file.write_text("not what was written")
    catalog.calls.before = raising("list_tables", ConnectionRefusedError("nobody listens"))
    with pytest.raises(FloeError, match="nobody listens"):
        baselines(catalog, PRODUCT)
