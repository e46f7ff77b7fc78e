"""A catalog that answers slowly is given up in the end; one that is slow once is not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import floe_core.patience
from floe_core.patience import Patience, TooSlowError


def ask(patience: Patience, monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
    """Questions whose answers take that long, by the clock."""
    for took in seconds:
        clock: Iterator[float] = iter((100.0, 100.0 + took))
        monkeypatch.setattr(floe_core.patience, "monotonic", lambda clock=clock: next(clock))
        with patience.one():
            pass


def test_slow_answers_in_a_row_use_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(8)
    ask(patience, monkeypatch, 3, 3, 3)
    with pytest.raises(TooSlowError, match="it took 9 s for its last answers"):
        ask(patience, monkeypatch, 3)


def test_a_prompt_answer_restores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ask(Patience(8), monkeypatch, *[3, 3, 0.1] * 10)


def test_an_answer_that_never_came_counts_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    patience = Patience(4)
    with pytest.raises(ConnectionError):
        fail(patience, monkeypatch, 5)
    with pytest.raises(TooSlowError):
        ask(patience, monkeypatch, 0.1)


def fail(patience: Patience, monkeypatch: pytest.MonkeyPatch, took: float) -> None:
    clock = iter((0.0, took))
    monkeypatch.setattr(floe_core.patience, "monotonic", lambda: next(clock))
    with patience.one():
        raise ConnectionError


def test_whoever_waits_for_nobody_has_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ask(Patience(), monkeypatch, *[1000] * 10)
