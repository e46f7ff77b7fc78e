"""Naming patterns: which names two tiers leave, judged against trying every short name."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws

from floe_core.naming import LAYERS, MAX_STEPS, overlap, prefixes, some_name_matches
from floe_core.schemas.manifest import Pattern
from floe_core.schemas.parts import NamePattern

# Two letters are enough: where only wildcards stand, any letter will do. The shortest name that matches several
# globs has no more letters than they have between them, because a letter that only stars match can be left out.
NAMES = ["".join(letters) for length in range(10) for letters in product("ab", repeat=length)]
GLOBS = st.text("ab*?", min_size=1, max_size=3)


def glob(*patterns: str) -> tuple[NamePattern, ...]:
    return tuple(NamePattern(glob=pattern) for pattern in patterns)


def regex(pattern: str) -> tuple[NamePattern, ...]:
    return (NamePattern(regex=pattern),)


@laws
@given(st.lists(GLOBS, min_size=1, max_size=3))
def test_globs_overlap_exactly_when_a_name_matches_them_all(globs: list[str]) -> None:
    assert overlap(globs) is any(all(fnmatchcase(name, pattern) for pattern in globs) for name in NAMES)


@laws
@given(st.lists(st.lists(GLOBS, max_size=3), max_size=3))
def test_a_name_is_left_exactly_when_one_matches_a_pattern_of_every_group(groups: list[list[str]]) -> None:
    exists = any(all(any(fnmatchcase(name, pattern) for pattern in group) for group in groups) for name in NAMES)
    assert some_name_matches([glob(*group) for group in groups]) is exists


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        (["raw_*", "raw_v2_*"], True),
        (["raw_*", "*_raw"], True),
        (["raw_*", "stg_*"], False),
        (["a?c", "abc"], True),
        (["a?c", "ac"], False),
        (["*a", "*b"], False),
        (["*a*", "*b*", "*c*"], True),
        (["a*", "*", "b*"], False),
        (["", "*"], True),
        (["", "?"], False),
        ([], True),
    ],
)
def test_overlap_of_familiar_globs(globs: list[str], expected: bool) -> None:
    assert overlap(globs) is expected


def test_regular_expressions_leave_it_open_unless_the_globs_already_agree() -> None:
    assert some_name_matches([glob("raw_*"), regex("stg_.*")]) is None
    assert some_name_matches([glob("raw_*"), (*glob("stg_*"), *regex("x"))]) is None
    assert some_name_matches([glob("raw_*"), (*glob("raw_v2_*"), *regex("x"))]) is True
    assert some_name_matches([regex("a"), regex("b")]) is None


def test_too_many_combinations_are_not_decided_and_not_walked_for_ever() -> None:
    some = 100
    raw, stg = glob(*(f"raw{number}_*" for number in range(some))), glob(*(f"stg{n}_*" for n in range(some)))
    assert some_name_matches([raw, stg]) is False
    assert some**3 > MAX_STEPS
    assert some_name_matches([raw, stg, raw]) is None
    assert some_name_matches([raw, stg, (*raw, *glob("*"))]) is None
    assert some_name_matches([raw, (*stg, *glob("*"))]) is True


def test_long_globs_are_not_walked_for_ever() -> None:
    assert some_name_matches([glob("*a" * 400 + "b"), glob("*a" * 400 + "c")]) is None


def test_an_empty_group_allows_no_name() -> None:
    assert some_name_matches([glob("raw_*"), ()]) is False
    assert some_name_matches([]) is True


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (Pattern.MEDALLION, "bronze_* silver_* gold_*"),
        (Pattern.KIMBALL, "stg_* dim_* fact_* bridge_*"),
        (Pattern.DATA_VAULT, "hub_* link_* sat_*"),
        (Pattern.CUSTOM, ""),
    ],
)
def test_each_architecture_allows_the_prefixes_of_its_layers(pattern: Pattern, expected: str) -> None:
    assert " ".join(map(str, prefixes(pattern))) == expected


def test_every_architecture_has_its_layers() -> None:
    assert LAYERS.keys() == set(Pattern)
