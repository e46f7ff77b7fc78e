"""Names that look personal, and names that only nearly do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floe_core.personal import PERSONAL, looks_personal, phrases

FOLDER = Path(__file__).parent / "column_names"
PERSONAL_NAMES = (FOLDER / "personal.txt").read_text().split()
HARMLESS_NAMES = (FOLDER / "harmless.txt").read_text().split()


@pytest.mark.parametrize("name", PERSONAL_NAMES)
def test_a_personal_name_is_recognised(name: str) -> None:
    assert looks_personal(name)


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_harmless_name_is_left_alone(name: str) -> None:
    assert not looks_personal(name)


def test_the_corpora_are_large_and_apart() -> None:
    assert len(set(PERSONAL_NAMES)) >= 80
    assert len(set(HARMLESS_NAMES)) >= 150
    assert not set(PERSONAL_NAMES) & set(HARMLESS_NAMES)


def test_every_listed_phrase_is_found_in_any_spelling() -> None:
    assert len(list(phrases())) > sum(text.count(";") for text in PERSONAL.values())
    for words in phrases():
        camel = words[0] + "".join(word.title() for word in words[1:])
        for name in ("_".join(words), "_".join(words).upper(), camel, "".join(words), f"x_{'_'.join(words)}_2"):
            assert looks_personal(name), name


@given(st.text())
def test_any_text_has_an_answer(name: str) -> None:
    assert looks_personal(name) in (True, False)
