"""A dbt project that nobody would write compiles without a traceback, and every finding has its place."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from testing.torture import MODELS, write

from floe_cli.main import run
from floe_core.codes import CODES

Compile = Callable[..., subprocess.CompletedProcess[str]]

# Each at its line of the file that a person edits: in SQL, in YAML, in a CSV's entry, in floe.yaml.
PLACED = {
    "floe.yaml:8 FLOE-E342",
    "floe.yaml:8 FLOE-E343",
    "floe.yaml:11 FLOE-E340",
    "floe.yaml:12 FLOE-E313",
    "warehouse/models/gold_odd.sql:2 FLOE-E320",
    "warehouse/models/silver_loop_a.sql:1 FLOE-E310",
    "warehouse/models/silver_package_python.sql:1 FLOE-E341",
    "warehouse/models/silver_raise.sql:1 FLOE-E325",
    "warehouse/models/silver_star.sql:1 FLOE-E325",
    "warehouse/models/many/4/weird_004.sql:2 FLOE-E322",
    "warehouse/models/many/5/bronze_005.sql:3 FLOE-E323",
    "warehouse/models/many/6/silver_006.sql:1 FLOE-E324",
    "warehouse/models/models.yml:21 FLOE-E241",
    "warehouse/seeds/seeds.yml:2 FLOE-E402",
}
UNPARSABLE = {
    "models/broken.sql": ("select 1 as id\n{% if x %}\nselect 2\n", 2),
    "models/broken.yml": ("models:\n  - name: no_yaml\n   columns: [\n", 3),
    "macros/broken.sql": ("{% macro a() %}{% endmacro %}\n{% macro b( %}{% endmacro %}\n", 2),
}


@pytest.fixture
def compile_in(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Compile:
    """`floe compile` in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))

    def command(*args: str) -> subprocess.CompletedProcess[str]:
        code = run(["compile", *args])
        shown = capsys.readouterr()
        return subprocess.CompletedProcess(["floe", "compile", *args], code, shown.out, shown.err)

    return command


def findings(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The findings of a JSON report, all of a known code and in a line that exists."""
    assert "Traceback" not in done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert (report["exit_code"], report["errors"]) == (done.returncode, [])
    lines: dict[str, int] = {}
    for item in report["findings"]:
        assert item["code"] in CODES
        for place in (item, *item["related"]):
            path = place["path"]
            lines[path] = lines.get(path) or Path(path).read_text("utf-8").count("\n") + 1
            assert 1 <= place["line"] <= lines[path], f"{item['code']} {path}:{place['line']}"
            assert place["column"] >= 1
    found: list[dict[str, Any]] = report["findings"]
    return found


def sarif_places(text: str) -> Iterator[tuple[str, str, int, int]]:
    for item in json.loads(text)["runs"][0]["results"]:
        [location] = item["locations"]
        place = location["physicalLocation"]
        region = place["region"]
        yield item["ruleId"], place["artifactLocation"]["uri"], region["startLine"], region["startColumn"]


def manifests(product: Path) -> dict[Path, int]:
    """dbt's manifests, and when each was made."""
    return {file: file.stat().st_mtime_ns for file in product.rglob("manifest.json")}


def test_a_project_that_nobody_would_write(compile_in: Compile, tmp_path: Path) -> None:
    """One project for all of it: dbt takes seconds to read it."""
    product = write(tmp_path)
    done = compile_in("shop", "--format", "json")
    found = findings(done)
    assert done.returncode == 1
    places = {f"{item['path'].removeprefix('shop/')}:{item['line']} {item['code']}" for item in found}
    assert PLACED - places == set()
    report = json.loads(done.stdout)["summary"]
    assert report["products"][0]["models"] > MODELS
    assert report["products"][0]["not_checked"] == {}
    assert sum(report["counts"].values()) == len(found)
    assert [item for item in found if "packages/common" in item["path"] or "_off" in item["path"]] == []

    made = manifests(product)
    assert len(made) == 1
    again = compile_in("shop", "--format", "sarif")
    assert again.returncode == 1
    assert manifests(product) == made
    expected = Counter((item["code"], item["path"], item["line"], item["column"]) for item in found)
    assert Counter(sarif_places(again.stdout)) == expected

    for path, (text, line) in UNPARSABLE.items():
        file = product / "warehouse" / path
        file.write_text(text)
        done = compile_in("shop", "--format", "json")
        unread = [f"{item['path']}:{item['line']}" for item in findings(done) if item["code"] == "FLOE-E300"]
        assert (done.returncode, unread) == (1, [f"shop/warehouse/{path}:{line}"])
        not_checked = json.loads(done.stdout)["summary"]["products"][0]["not_checked"]
        assert not_checked.keys() == {"naming", "quality_gates"}
        file.unlink()
