"""Service levels: the names ODCS knows, what their values mean, and which way is stricter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import Any

from floe_core.contract import Json, Sla, SlaValue
from floe_core.durations import parse_duration
from floe_core.order import AtLeast, AtMost, Equal, Strategy
from floe_core.source import KeyPath


class Measure(Enum):
    """What the value of a service level is."""

    DURATION = "a duration like PT6H or 24h"
    PERIOD = "a duration like P7Y, 24 months or 30d"
    PERCENT = 'a percentage like "99.9%"'
    NUMBER = "a number"
    DATE = "a date like 2027-01-31"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class SlaName:
    """A service level that floe knows."""

    name: str
    measure: Measure
    order: Strategy


NAMES: dict[str, SlaName] = {
    row.name.casefold(): row
    for row in (
        SlaName("freshness", Measure.DURATION, AtMost()),
        SlaName("latency", Measure.DURATION, AtMost()),
        SlaName("frequency", Measure.DURATION, AtMost()),
        SlaName("availability", Measure.PERCENT, AtLeast()),
        SlaName("quality", Measure.PERCENT, AtLeast()),
        SlaName("errorRate", Measure.PERCENT, AtMost()),
        SlaName("throughput", Measure.NUMBER, AtLeast()),
        SlaName("retention", Measure.PERIOD, AtLeast()),
        SlaName("timeToDetect", Measure.DURATION, AtMost()),
        SlaName("timeToNotify", Measure.DURATION, AtMost()),
        SlaName("timeToRepair", Measure.DURATION, AtMost()),
        SlaName("generalAvailability", Measure.DATE, AtMost()),
        SlaName("endOfSupport", Measure.DATE, AtLeast()),
        SlaName("endOfLife", Measure.DATE, AtLeast()),
        SlaName("timeOfAvailability", Measure.TEXT, Equal()),
        SlaName("severity", Measure.TEXT, Equal()),
    )
}
_DAY = timedelta(days=1)
_UNITS: dict[str, timedelta] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), timedelta(seconds=1)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), _DAY),
    **dict.fromkeys(("w", "week", "weeks"), 7 * _DAY),
}
_LONG_UNITS = {  # of no fixed length: only to compare one period with another
    **dict.fromkeys(("mo", "month", "months"), _DAY * 365.25 / 12),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), _DAY * 365.25),
}
_PERIOD = re.compile(r"P([0-9]{1,4})([YM])")
_NUMBERED = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) *([A-Za-z]+)")
_MOST_DAYS = 10**6


class UnreadableError(ValueError):
    """A value that floe cannot read; the message says why."""


def read_slas(data: Json) -> tuple[list[Sla], list[tuple[KeyPath, str, str]]]:
    """The service levels of a document, and what is wrong with them: path, message, fix."""
    slas: list[Sla] = []
    problems: list[tuple[KeyPath, str, str]] = []
    for number, entry in enumerate(data.get("slaProperties") or ()):
        path = ("slaProperties", number)
        name = str(entry["property"])
        known = NAMES.get(name.casefold())
        text = _text(entry)
        element = entry.get("element") or data.get("slaDefaultElement") or ""
        if known is None:
            legal = ", ".join(row.name for row in NAMES.values())
            problems.append(
                ((*path, "property"), f"SLA {name!r} is not one that floe knows", f"Use one of {legal}.")
            )
            slas.append(Sla(name, None, text, element, path))
            continue
        try:
            value = read_value(known.measure, entry.get("value"), entry.get("unit"))
        except UnreadableError as exc:
            problems.append(((*path, "value"), f"SLA {known.name}: {exc}", f"Write {known.measure.value}."))
            value = None
        slas.append(Sla(known.name, value, text, element, path))
    return slas, problems


def elements(written: str) -> tuple[str, ...]:
    """What a service level is about: ODCS separates several by commas."""
    return tuple(part.strip() for part in written.split(",") if part.strip())


def _text(entry: Json) -> str:
    unit = entry.get("unit")
    value = entry.get("value")
    return f"{value} {unit}" if unit else str(value)


def read_value(measure: Measure, value: Any, unit: str | None) -> SlaValue:
    """The value of a service level. What can be read in two ways is refused."""
    match measure:
        case Measure.DURATION | Measure.PERIOD:
            return _duration(value, unit, long=measure is Measure.PERIOD)
        case Measure.PERCENT:
            return _percent(value, unit)
        case Measure.NUMBER:
            return _number(value)
        case Measure.DATE:
            return _date(value)
        case Measure.TEXT:
            return str(value)


def _duration(value: Any, unit: str | None, *, long: bool) -> timedelta:
    if isinstance(value, str) and not unit:
        if found := _NUMBERED.fullmatch(value.strip()):
            value, unit = (
                float(found[1]),
                "min" if found[2] == "m" else found[2],
            )  # 15m is minutes, as in a manifest
        else:
            return _iso(value, long=long)
    units = {**_UNITS, **(_LONG_UNITS if long else {})}
    if unit is None:
        raise UnreadableError(f"{value} has no unit")
    if unit == "m":
        raise UnreadableError("the unit m may be minutes or months")
    if unit.casefold() not in units:
        raise UnreadableError(f"the unit {unit!r} is not one of {', '.join(units)}")
    amount = _number(value)
    if amount < 0 or amount * units[unit.casefold()].total_seconds() > _MOST_DAYS * 86400:
        raise UnreadableError(f"{value} {unit} is out of range")
    return amount * units[unit.casefold()]


def _iso(text: str, *, long: bool) -> timedelta:
    if long and (found := _PERIOD.fullmatch(text.strip())):
        return int(found[1]) * _LONG_UNITS["y" if found[2] == "Y" else "mo"]
    duration = parse_duration(text.strip())
    if duration is None:
        raise UnreadableError(f"{text!r} is not a duration")
    return duration


def _percent(value: Any, unit: str | None) -> float:
    if unit not in (None, "%", "percent", "Percent"):
        raise UnreadableError(f"the unit {unit!r} is not percent")
    marked = unit is not None or (isinstance(value, str) and value.strip().endswith("%"))
    number = _number(value.strip().removesuffix("%").strip() if isinstance(value, str) else value)
    if not 0 <= number <= 100:
        raise UnreadableError(f"{value} is not between 0 and 100")
    if not marked and 0 < number <= 1:
        raise UnreadableError(f"{value} may be a share or a percentage")
    return number


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise UnreadableError(f"{value} is not a number")
    try:
        number = float(value)
    except ValueError as exc:
        raise UnreadableError(f"{value!r} is not a number") from exc
    if number != number or number in (float("inf"), float("-inf")):
        raise UnreadableError(f"{value!r} is not a finite number")
    return int(number) if number == int(number) else number


def _date(value: Any) -> date:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError as exc:
        raise UnreadableError(f"{value!r} is not a date") from exc
