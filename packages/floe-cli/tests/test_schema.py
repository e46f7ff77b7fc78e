"""`floe schema`: the JSON Schema of floe's files, alone on stdout."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from floe_core.json_schema import artifacts_schema, manifest_schema, product_schema, report_schema, run_schema

Run = Callable[..., subprocess.CompletedProcess[str]]


SCHEMAS = {
    "manifest": manifest_schema(),
    "product": product_schema(),
    "artifacts": artifacts_schema(),
    "run": run_schema(),
    "report": report_schema(),
}


@pytest.mark.parametrize(("file", "schema"), SCHEMAS.items())
def test_the_schema_is_printed_as_floe_core_makes_it(floe: Run, file: str, schema: dict[str, object]) -> None:
    done = floe("schema", file, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == schema
    assert schema["$id"] == f"https://floe.dev/schemas/{file}.json"


def test_another_file_is_wrong_usage_with_the_choices(floe_here: Run) -> None:
    done = floe_here("schema", "contract")
    assert done.returncode == 2
    assert "'contract' is not one of 'manifest', 'product', 'artifacts', 'run', 'report'" in done.stdout
