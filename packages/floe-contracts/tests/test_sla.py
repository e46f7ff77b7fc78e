"""Service levels: what their values mean."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from floe_contracts.sla import NAMES, Measure, UnreadableError, read_value


@pytest.mark.parametrize(
    ("measure", "value", "unit", "read"),
    [
        (Measure.DURATION, "PT6H", None, timedelta(hours=6)),
        (Measure.DURATION, "15m", None, timedelta(minutes=15)),
        (Measure.DURATION, "24 hours", None, timedelta(hours=24)),
        (Measure.DURATION, 4, "d", timedelta(days=4)),
        (Measure.DURATION, "4", "days", timedelta(days=4)),
        (Measure.PERIOD, "P7Y", None, timedelta(days=7 * 365.25)),
        (Measure.PERIOD, 3, "y", timedelta(days=3 * 365.25)),
        (Measure.PERIOD, "30d", None, timedelta(days=30)),
        (Measure.PERCENT, "99.9%", None, 99.9),
        (Measure.PERCENT, 99.9, "percent", 99.9),
        (Measure.PERCENT, "95", None, 95),
        (Measure.PERCENT, "0.5%", None, 0.5),
        (Measure.NUMBER, "100", None, 100),
        (Measure.DATE, "2027-01-31", None, date(2027, 1, 31)),
        (Measure.TEXT, "09:00-08:00", None, "09:00-08:00"),
    ],
)
def test_values_are_read(measure: Measure, value: Any, unit: str | None, read: object) -> None:
    assert read_value(measure, value, unit) == read


@pytest.mark.parametrize(
    ("measure", "value", "unit"),
    [
        (Measure.DURATION, "soon", None),
        (Measure.DURATION, 6, None),
        (Measure.DURATION, 6, "m"),
        (Measure.DURATION, 6, "parsecs"),
        (Measure.DURATION, "1 year", None),
        (Measure.DURATION, -1, "d"),
        (Measure.DURATION, 10**12, "w"),
        (Measure.DURATION, True, "d"),
        (Measure.DURATION, None, "d"),
        (Measure.PERCENT, 101, None),
        (Measure.PERCENT, 0.999, None),
        (Measure.PERCENT, 99, "d"),
        (Measure.PERCENT, "nan", None),
        (Measure.DATE, "tomorrow", None),
        (Measure.NUMBER, "inf", None),
    ],
)
def test_what_can_be_read_in_two_ways_or_none_is_refused(measure: Measure, value: Any, unit: str | None) -> None:
    with pytest.raises(UnreadableError):
        read_value(measure, value, unit)


def test_every_name_has_an_order() -> None:
    assert {row.order.name for row in NAMES.values()} == {"≥", "≤", "equal"}
