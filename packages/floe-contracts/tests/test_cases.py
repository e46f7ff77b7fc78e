"""Every code of contracts has a case: `bad` finds exactly what its `expected` says, and `good` is repaired.

A line of `expected` is `path:line:column CODE`. `baseline.yaml` is what was promised before, `table.json` what the
table has.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from datetime import date
from pathlib import Path

import pytest
from builders import product

from floe_contracts.drift import drift
from floe_contracts.stage import check_contracts, read_contracts
from floe_contracts.version import Registered
from floe_core.codes import CODES
from floe_core.findings import Finding
from floe_core.table import Column, read_type

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())
TODAY = date(2026, 6, 1)


def findings(folder: Path) -> list[Finding]:
    loaded, merged = product(folder)
    contracts, found = read_contracts(loaded, None, merged)
    found += check_contracts(contracts, merged, baseline(folder), TODAY)
    for file in folder.glob("table.json"):
        columns = [Column(item["name"], read_type(item["type"])) for item in json.loads(file.read_text())]
        found += drift(contracts[0], contracts[0].tables[0], columns)
    return found


def baseline(folder: Path) -> Registered:
    """What the same product promised when its contract was baseline.yaml."""
    if not (folder / "baseline.yaml").exists():
        return Registered([])
    with tempfile.TemporaryDirectory() as before:
        shutil.copytree(folder, before, dirs_exist_ok=True)
        shutil.copy(folder / "baseline.yaml", Path(before) / "datacontract.yaml")
        loaded, merged = product(Path(before))
        return Registered(read_contracts(loaded, None, merged)[0])


def found(folder: Path) -> list[str]:
    home = folder.resolve()
    return sorted(
        f"{Path(item.path).resolve().relative_to(home).as_posix()}:{item.line}:{item.column} {item.code}"
        for item in findings(folder)
    )


def test_every_code_of_contracts_has_its_case() -> None:
    of_catalogs = {"FLOE-E540"}  # see test_compile_stage.py
    codes = {code for code in CODES if code.startswith("FLOE-E5")} - of_catalogs
    assert [folder.name for folder in FOLDERS] == sorted(codes)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_bad_files_find_exactly_what_is_expected(folder: Path) -> None:
    expected = folder / "bad" / "expected"
    if os.environ.get("FLOE_UPDATE"):
        expected.write_text("".join(f"{line}\n" for line in found(folder / "bad")))
    assert found(folder / "bad") == expected.read_text().splitlines()
    assert folder.name in {line.split(" ")[1] for line in expected.read_text().splitlines()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_good_files_find_nothing(folder: Path) -> None:
    assert found(folder / "good") == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_finding_teaches(folder: Path) -> None:
    for item in findings(folder / "bad"):
        assert item.message
        assert item.why.endswith((".", "!"))
        assert item.fix
        for text in (item.message, item.fix, item.expected or "", item.actual or ""):
            assert "Node(" not in text
            assert "None" not in text
