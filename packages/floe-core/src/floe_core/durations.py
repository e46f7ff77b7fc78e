"""Durations as people write them: `15m`, `24h`, `7d`, or ISO 8601 without months and years."""

from __future__ import annotations

import re
from datetime import timedelta

SHORT_DURATION = r"^[1-9][0-9]{0,5}[smhdw]$"
ISO_DURATION = (
    r"^P(?=.*[1-9])(?!$)([0-9]{1,6}W)?([0-9]{1,6}D)?(T(?=[0-9])([0-9]{1,6}H)?([0-9]{1,6}M)?([0-9]{1,6}S)?)?$"
)
_SHORT = re.compile(SHORT_DURATION)
_ISO = re.compile(ISO_DURATION)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_duration(text: str) -> timedelta | None:
    """The length of time; None for anything else. Months and years have no fixed length."""
    if _SHORT.fullmatch(text):
        return timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
    if parts := _ISO.fullmatch(text):
        weeks, days, _, hours, minutes, seconds = (
            int(part[:-1]) if part and part[0] != "T" else 0 for part in parts.groups()
        )
        return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return None
