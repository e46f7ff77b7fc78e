"""floe's fast engine against the linter of record, on every contract that differs from a valid one in one place.

`agreement/*.txt` holds what datacontract-cli says about each of some 3,000 contracts. It takes it many minutes, so
a test run asks it again about one in fifty; FLOE_FULL=1 asks about all of them.
"""

from __future__ import annotations

import json
import logging
import os
from importlib.metadata import distribution
from pathlib import Path

import pytest
from mutants import Mutant, mutants, rich, small_mutants

from floe_contracts.read import parse_draft
from floe_contracts.record import lint_of_record
from floe_contracts.schemas import VERSIONS as VERSIONS_OF_SCHEMA
from floe_contracts.schemas import schema_text
from floe_core.findings import FloeError, Place

AGREEMENT = Path(__file__).parent / "agreement"
VERSIONS = ["v3.0.2", "v3.1.0", "v3.2.0"]
STEP = 1 if os.environ.get("FLOE_FULL") else 50


def recorded(version: str) -> dict[str, bool]:
    lines = (AGREEMENT / f"{version}.txt").read_text().splitlines()
    return {line.partition(" ")[2]: line.startswith("accepts") for line in lines}


def accepts(mutant: Mutant) -> bool:
    try:
        parse_draft(json.dumps(mutant.data).encode(), "c.yaml")
    except FloeError:
        return False
    return True


def explained(mutant: Mutant) -> bool:
    """The written differences: unknown keys inside blocks, and rules that measure nothing."""
    if mutant.kind == "extended":
        return bool(mutant.path)
    if mutant.kind == "removed" and mutant.path[-1] == "logicalType":
        return True  # the block's `map` is an unknown key then
    return mutant.kind == "removed" and "quality" in mutant.path and mutant.path[-1] in ("metric", "type")


@pytest.mark.parametrize("version", VERSIONS)
def test_both_accept_the_contract_that_the_others_are_made_from(version: str) -> None:
    parse_draft(json.dumps(rich(version)).encode(), "c.yaml")
    assert [item for item in lint_of_record(rich(version), Place("c.yaml")) if item.blocks] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_both_agree_on_every_mutant_but_for_the_written_differences(version: str) -> None:
    theirs = recorded(version)
    made = list(mutants(rich(version)))
    assert [mutant.name for mutant in made] == list(theirs)
    differing = [mutant for mutant in made if accepts(mutant) != theirs[mutant.name]]
    assert [mutant.name for mutant in differing if not explained(mutant)] == []
    assert all(theirs[mutant.name] for mutant in differing)  # floe is the stricter one, always
    assert 5 <= len(differing) <= 25


@pytest.mark.parametrize("version", VERSIONS)
def test_both_agree_on_servers_of_every_type_and_on_the_news_of_3_2(version: str) -> None:
    theirs = recorded(f"small-{version}")
    made = dict(small_mutants(version))
    assert list(made) == list(theirs)
    differing = [name for name, mutant in made.items() if accepts(mutant) != theirs[name]]
    assert [name for name in differing if not explained(made[name])] == []
    assert all(theirs[name] for name in differing)
    types = json.loads(schema_text(VERSIONS_OF_SCHEMA[version]))["$defs"]["Server"]["properties"]["type"]["enum"]
    assert {name.partition(":")[0] for name in made} >= set(types)


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_recorded_is_what_datacontract_cli_says(version: str) -> None:
    logging.disable(logging.CRITICAL)
    theirs = recorded(version)
    for mutant in list(mutants(rich(version)))[::STEP]:
        blocked = any(item.blocks for item in lint_of_record(mutant.data, Place("c.yaml")))
        assert blocked != theirs[mutant.name], mutant.name
    small = recorded(f"small-{version}")
    for name, mutant in list(small_mutants(version))[::STEP]:
        blocked = any(item.blocks for item in lint_of_record(mutant.data, Place("c.yaml")))
        assert blocked != small[name], name
    logging.disable(logging.NOTSET)


def example(name: str) -> str:
    """A contract that one of the installed packages shows."""
    import datacontract

    home = Path(datacontract.__path__[0])
    if name == "init":
        return (home / "schemas" / "odcs-3.2.0.init.yaml").read_text()
    if name == "api":
        text = (home / "api.py").read_text()
        return text.partition('DATA_CONTRACT_EXAMPLE_PAYLOAD = """')[2].partition('"""')[0]
    text = distribution("open-data-contract-standard").read_text("METADATA") or ""
    return text.partition('data_contract_str = """')[2].partition('"""')[0]


@pytest.mark.parametrize("name", ["init", "api", "readme"])
def test_the_examples_inside_the_installed_packages_are_valid_to_both(name: str) -> None:
    draft, findings = parse_draft(example(name).encode(), "c.yaml")
    assert findings == []
    assert list(lint_of_record(draft.data, Place("c.yaml"))) == []
    assert draft.data["apiVersion"] == "v3.2.0"
