"""What a compile and a lint pay for: nothing heavy that they do not use."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = ("datacontract", "open_data_contract_standard", "sqlglot", "ruamel", "jsonschema", "requests")


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("floe_contracts.stage", SLOW),
        ("floe_contracts.plugin", SLOW),
        ("floe_contracts.plan", (*SLOW, "pydantic")),
        ("floe_contracts.commands", (*SLOW, "pydantic", "yaml", "jsonschema_rs")),
        ("floe_contracts.commands.lint", (*SLOW, "pydantic")),
        ("floe_contracts.commands.diff", (*SLOW, "pydantic")),
        ("floe_contracts.commands.show", SLOW),
    ],
)
def test_importing_it_brings_nothing_slow(module: str, unwanted: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print([name for name in {unwanted!r} if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
