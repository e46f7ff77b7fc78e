"""When a cron expression fires, day by day, in the time zone of those who wrote it.

A minute-by-minute schedule fires half a million times a year. On all but a few days of it the clock does nothing
special, so a day is its list of minutes; only where the offset changes are the fire times walked one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cached_property
from itertools import pairwise
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

HORIZON = 366  # days
NAIVE = datetime(2000, 1, 1)


class CronError(ValueError):
    """An expression that never fires, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Day:
    """The fire times of one day: as the clock on the wall shows them, and how far apart they really are."""

    date: date
    minutes: tuple[int, ...]  # since midnight, by the clock
    first: datetime
    last: datetime
    gap: timedelta | None  # the smallest inside the day


@dataclass(frozen=True)
class Cron:
    """A cron expression of five fields, with the meaning that Debian's cron gives it."""

    text: str

    def __post_init__(self) -> None:
        try:
            next(CronSim(self.text, NAIVE))
        except CronSimError as exc:
            raise CronError(str(exc)) from exc
        except ValueError as exc:  # thousands of digits
            raise CronError("a number is too long") from exc
        except StopIteration as exc:
            raise CronError("no such day comes within 50 years") from exc

    @cached_property
    def _fields(self) -> CronSim:
        return CronSim(self.text, NAIVE)

    @cached_property
    def minutes(self) -> tuple[int, ...]:
        """The minutes of a day on which it fires, if it fires on that day."""
        return tuple(sorted(60 * hour + minute for hour in self._fields.hours for minute in self._fields.minutes))

    def fires_on(self, day: date) -> bool:
        return day.month in self._fields.months and self._fields.match_day(day)

    def days(self, start: date, zone: tzinfo, count: int = HORIZON) -> Iterator[Day]:
        """Every day with a fire time, from `start` on."""
        steps = [later - earlier for earlier, later in pairwise(self.minutes)]
        usual = timedelta(minutes=min(steps)) if steps else None
        for number in range(count):
            day = start + timedelta(days=number)
            if _offset(day, zone) != _offset(day + timedelta(days=1), zone):
                yield from self._walked(day, zone)
            elif self.fires_on(day):
                midnight = datetime(day.year, day.month, day.day, tzinfo=UTC) - _offset(day, zone)
                first, last = (midnight + timedelta(minutes=self.minutes[at]) for at in (0, -1))
                yield Day(day, self.minutes, first, last, usual)

    def _walked(self, day: date, zone: tzinfo) -> Iterator[Day]:
        """A day on which the clock is put forward or back."""
        noon = datetime(day.year, day.month, day.day, 12, tzinfo=zone) - timedelta(days=1)
        fires: list[datetime] = []
        for fire in CronSim(self.text, noon):
            if fire.date() > day:
                break
            if fire.date() == day:
                fires.append(fire)
        if fires:
            instants = [fire.astimezone(UTC) for fire in fires]
            gaps = [later - earlier for earlier, later in pairwise(instants)]
            minutes = tuple(60 * fire.hour + fire.minute for fire in fires)
            yield Day(day, minutes, instants[0], instants[-1], min(gaps) if gaps else None)


def smallest_gap(days: list[Day]) -> tuple[timedelta, date] | None:
    """The shortest time between two runs, and the day of the second."""
    inside = [(day.gap, day.date) for day in days if day.gap is not None]
    between = [(later.first - earlier.last, later.date) for earlier, later in pairwise(days)]
    return min((*inside, *between), default=None)


def first_outside(days: list[Day], windows: list[Cron]) -> tuple[date, int] | None:
    """The first fire time that no window holds: its day, and the minute of that day."""
    held: dict[tuple[bool, ...], frozenset[int]] = {}
    for day in days:
        open_windows = tuple(window.fires_on(day.date) for window in windows)
        if open_windows not in held:
            minutes = (window.minutes for window, is_open in zip(windows, open_windows, strict=True) if is_open)
            held[open_windows] = frozenset().union(*minutes)
        for minute in day.minutes:
            if minute not in held[open_windows]:
                return day.date, minute
    return None


def find_zone(name: str) -> ZoneInfo | None:
    """A time zone by its IANA name."""
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # not a name, a folder of the database, not in it
        return None


def _offset(day: date, zone: tzinfo) -> timedelta:
    """The distance of a day's first moment from UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).utcoffset() or timedelta()
