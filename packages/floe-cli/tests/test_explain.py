"""`floe explain`: what a code means, offline and in any spelling."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from floe_core.codes import CODES

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
    "spelling", ["FLOE-E160", "floe-e160", "E160", "e160", "160", "FLOE_E160", "floee160", "Floe E160", " e160 "]
)
def test_a_code_is_found_in_any_spelling(floe_here: Run, spelling: str) -> None:
    done = floe_here("explain", spelling)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("FLOE-E160  Weaker than the parent\n")


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained_with_all_that_its_row_says(floe_here: Run, code: str) -> None:
    row = CODES[code]
    title, empty, why, fix, ending, docs = floe_here("explain", code).stdout.splitlines()
    assert (title, empty) == (f"{row.id}  {row.title}", "")
    assert (why, fix, docs) == (f"  Why   {row.why}", f"  Fix   {row.fix}", f"  Docs  {row.docs}")
    assert ending.startswith(f"  Exit  {int(row.exit)}: ")


@pytest.mark.parametrize(
    ("code", "near"), [("E169", "FLOE-E170"), ("E16", "FLOE-E160"), ("floe-e1611", "FLOE-E161")]
)
def test_an_unknown_code_is_wrong_usage_with_the_nearest_ones(floe_here: Run, code: str, near: str) -> None:
    done = floe_here("explain", code)
    assert done.returncode == 2
    assert done.stdout.startswith(f"✗ FLOE-E001 (command line):1:1  There is no code {code}. Near it: FLOE-E")
    assert near in done.stdout


def test_something_that_is_no_code_gets_the_whole_list(floe_here: Run) -> None:
    done = floe_here("explain", "gibberish")
    assert done.returncode == 2
    assert all(code in done.stdout for code in CODES)
