"""The manifests of the rule cases are what dbt makes of them today, and fixes that a machine can apply work."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

from testing.cases import CASES, manifests, projects

from floe_core.load import load_product
from floe_core.merge import merge_tiers
from floe_core.project import Project, read_manifest
from floe_core.resolve import resolve
from floe_core.rules import Context, enforce

# What the `Fix:` of a finding says, done to the file it names: old text, new text.
FIXES = {
    "FLOE-E177": ("manifest.yaml", '    - pattern: "stg_*"', "    []", 5),
    "FLOE-E210": ("models/bronze_a.yml", "id}}}}", "id}}}, columns: [{name: id, data_tests: [not_null]}]}", 1),
    "FLOE-E211": ("models/models.yml", "{name: id,", "{name: id, config: {meta: {floe: {primary_key: true}}},", 1),
    "FLOE-E401": ("models/models.yml", "[daily]", "[daily, tested]", 1),
    "FLOE-E403": ("models/models.yml", "[not_null]", "[not_null, unique]", 1),
}


def codes(folder: Path) -> list[tuple[str, str]]:
    product = load_product(folder / "floe.yaml")
    chain = resolve(product)
    merged, _ = merge_tiers(chain.tiers())
    project = Project(read_manifest(folder / "manifest.json"), folder)
    found = enforce(Context(product, chain, merged, (project,), today=date(2026, 11, 18))).findings
    return [(item.code, Path(item.path).relative_to(folder).as_posix()) for item in found]


def test_the_manifests_of_the_cases_are_those_of_dbt_and_fixes_work(tmp_path: Path) -> None:
    """One run of dbt for both: it takes most of a second to say anything at all."""
    repaired: dict[Path, tuple[str, str]] = {}
    for code, (file, old, new, lines) in FIXES.items():
        folder = tmp_path / code / "bad"
        shutil.copytree(CASES / code / "bad", folder)
        text = (folder / file).read_text().split("\n")
        [at] = [number for number, line in enumerate(text) if old in line]
        text[at : at + lines] = [text[at].replace(old, new)]
        (folder / file).write_text("\n".join(text))
        assert (code, file) in codes(CASES / code / "bad")
        repaired[folder] = (code, file)

    for folder, data in manifests([*projects(), *repaired]):
        if folder in repaired:
            (folder / "manifest.json").write_bytes(data)
            assert repaired[folder] not in codes(folder)
        else:
            assert data == (folder / "manifest.json").read_bytes(), (
                f"{folder} is out of date: python -m testing.cases"
            )
