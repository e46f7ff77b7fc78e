"""Every export format has a golden file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from builders import column, contract, table

from floe_contracts.export import FORMATS, export
from floe_contracts.meaning import understand
from floe_contracts.read import parse_draft, read_draft

HERE = Path(__file__).parent
ENDINGS = {"odcs": "odcs.yaml", "html": "html", "markdown": "md", "jsonschema": "json", "dbt": "dbt.yml"}
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
_WHEN = re.compile(r"Created at .*? by|[0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{5,8} UTC", re.DOTALL)


def stable(text: str) -> str:
    """Without the style sheet, and without the moment at which it was made."""
    return _WHEN.sub("(when)", _STYLE.sub("<style></style>", text))


@pytest.mark.parametrize("output", FORMATS)
def test_each_format_is_its_golden_file(output: str) -> None:
    draft, _ = read_draft(HERE / "contracts" / "spec-shorthand.yaml")
    made = stable(export(understand(draft), output))
    golden = HERE / "golden" / f"contract.{ENDINGS[output]}"
    if os.environ.get("FLOE_UPDATE"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(made, encoding="utf-8")
    assert made == golden.read_text(encoding="utf-8")


def test_what_is_exported_as_odcs_is_read_as_the_same_contract() -> None:
    draft, _ = read_draft(HERE / "contracts" / "spec-shorthand.yaml")
    again, _ = parse_draft(export(understand(draft), "odcs").encode(), "again.yaml")
    assert again.data == draft.data


def test_names_in_a_page_are_text_and_the_page_loads_nothing() -> None:
    hostile = contract(table(column("<script>alert(1)</script>"), name="<img src=x onerror=alert(1)>"))
    page = export(hostile, "html")
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    assert 'src="http' not in page
