"""When schedules fire: day by day, exactly as cron would, also when the clock changes."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws

from floe_core.cron import HORIZON, Cron, CronError, find_zone, first_outside, smallest_gap

START = date(2026, 11, 18)
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe", "Asia/Kolkata")

fields = st.tuples(
    st.sampled_from(["0", "30", "*/20", "5,55", "10-12"]),
    st.sampled_from(["*", "2", "0", "1-3", "*/6", "23"]),
    st.sampled_from(["*", "1", "L", "29", "*/10", "13"]),
    st.sampled_from(["*", "3", "10,11", "JUN-SEP"]),
    st.sampled_from(["*", "SUN", "1-5", "5#2", "6L"]),
)


def walked(text: str, zone: ZoneInfo, days: int) -> list[datetime]:
    """Every fire time, one by one, from cronsim itself."""
    start = datetime(START.year, START.month, START.day, tzinfo=zone) - timedelta(seconds=1)
    end, found = START + timedelta(days=days), []
    for fire in CronSim(text, start):
        if fire.date() >= end:
            break
        found.append(fire)
    return found


@laws
@given(fields, st.sampled_from(ZONES))
def test_the_days_hold_every_fire_time_that_cron_has_and_no_other(parts: tuple[str, ...], name: str) -> None:
    text, zone = " ".join(parts), ZoneInfo(name)
    fires = walked(text, zone, 200)
    days = list(Cron(text).days(START, zone, 200))
    assert [(day.date, minute) for day in days for minute in day.minutes] == [
        (fire.date(), 60 * fire.hour + fire.minute) for fire in fires
    ]
    instants = [fire.astimezone(UTC) for fire in fires]
    gaps = [later - earlier for earlier, later in pairwise(instants)]
    smallest = smallest_gap(days)
    assert (smallest[0] if smallest else None) == min(gaps, default=None)


@laws
@given(fields, fields, st.sampled_from(ZONES))
def test_a_fire_time_is_outside_when_no_window_matches_its_minute(
    parts: tuple[str, ...], other: tuple[str, ...], name: str
) -> None:
    zone, window = ZoneInfo(name), Cron(" ".join(other))
    days = list(Cron(" ".join(parts)).days(START, zone, 100))
    outside = [
        (day.date, minute)
        for day in days
        for minute in day.minutes
        if not window.fires_on(day.date) or minute not in window.minutes
    ]
    assert first_outside(days, [window]) == (outside[0] if outside else None)


def test_a_schedule_lies_in_itself() -> None:
    cron = Cron("*/5 6-8 * * 1-5")
    assert first_outside(list(cron.days(START, ZoneInfo("Europe/Berlin"))), [cron]) is None


def test_windows_of_one_tier_are_alternatives_and_no_window_holds_nothing() -> None:
    days = list(Cron("0 6,18 * * *").days(START, UTC))
    assert first_outside(days, [Cron("* 6 * * *"), Cron("* 18 * * *")]) is None
    assert first_outside(days, [Cron("* 6 * * *")]) == (START, 18 * 60)
    assert first_outside(days, []) == (START, 6 * 60)


def test_a_daily_run_is_23_hours_after_the_last_when_the_clock_is_put_forward() -> None:
    days = list(Cron("0 6 * * *").days(START, ZoneInfo("Europe/Berlin")))
    assert smallest_gap(days) == (timedelta(hours=23), date(2027, 3, 28))
    assert smallest_gap(list(Cron("0 6 * * *").days(START, UTC))) == (timedelta(days=1), START + timedelta(days=1))


def test_a_run_in_the_hour_that_does_not_exist_is_made_up_for_after_it() -> None:
    days = list(Cron("30 2 * * *").days(START, ZoneInfo("Europe/Berlin")))
    [spring] = [day for day in days if day.date == date(2027, 3, 28)]
    assert spring.minutes == (3 * 60,)
    assert first_outside(days, [Cron("* 2 * * *")]) == (date(2027, 3, 28), 180)


def test_a_schedule_of_every_minute_covers_366_days() -> None:
    days = list(Cron("* * * * *").days(START, ZoneInfo("Europe/Berlin")))
    assert len(days) == HORIZON
    assert sum(len(day.minutes) for day in days) == HORIZON * 1440  # one hour less, one hour more
    assert first_outside(days, [Cron("* * * * *")]) is None
    assert smallest_gap(days) == (timedelta(minutes=1), START)


def test_one_fire_time_has_no_gap() -> None:
    assert smallest_gap(list(Cron("0 0 29 2 *").days(START, UTC))) is None  # not a leap year
    assert smallest_gap(list(Cron("0 0 1 3 *").days(START, UTC))) is None


@pytest.mark.parametrize(
    "text", ["0 6 31 2 *", "60 * * * *", "* 24 * * *", "0 6 * * MOON", "5-1 * * * *", "*/0 * * * *", "0 0 30 2 *"]
)
def test_what_never_fires_is_an_error(text: str) -> None:
    with pytest.raises(CronError):
        Cron(text)


def test_a_number_of_thousands_of_digits_is_an_error() -> None:
    with pytest.raises(CronError, match="too long"):
        Cron(f"{'9' * 5000} * * * *")


@pytest.mark.parametrize("name", ["Europe/Atlantis", "Europe", "../etc/passwd", "/etc/localtime", "", "UTC\0"])
def test_what_is_no_time_zone_is_none(name: str) -> None:
    assert find_zone(name) is None


@pytest.mark.parametrize("name", ZONES)
def test_time_zones_are_found_by_their_iana_name(name: str) -> None:
    assert find_zone(name) == ZoneInfo(name)
