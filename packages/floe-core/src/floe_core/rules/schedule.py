"""Schedules: whether they fire at all, at allowed times, and not too often."""

from __future__ import annotations

from collections.abc import Iterator

from floe_core.cron import Cron, CronError, Day, find_zone, first_outside, smallest_gap
from floe_core.findings import Finding, Related
from floe_core.merge import Leaf
from floe_core.order import show
from floe_core.rules.context import Breach, Context, setters

ALLOWED = ("governance", "schedule", "allowed")
MIN_INTERVAL = ("governance", "schedule", "min_interval")


def check_windows(context: Context) -> Iterator[Breach]:
    """E176: windows of the platform that never open."""
    for loaded in context.chain.manifests:
        policy = loaded.document.governance and loaded.document.governance.schedule
        for group in (policy.allowed if policy else None) or ():
            for number, text in enumerate(group):
                if isinstance(reason := _read(text), str):
                    place = loaded.place((*ALLOWED, number))
                    yield Breach(Finding("FLOE-E176", f"the window {text[:60]} never opens: {reason}", place))


def check_schedule(context: Context) -> Iterator[Breach]:
    """E173 to E176: the product's own schedule, for every fire time of the next 366 days."""
    schedule = context.product.document.schedule
    if schedule is None:
        return
    cron, zone = _read(schedule.cron), find_zone(schedule.timezone)
    if zone is None:
        place = context.product.place(("schedule", "timezone"))
        message = f"{schedule.timezone[:60]} is no time zone"
        yield Breach(Finding("FLOE-E175", message, place, actual=schedule.timezone[:60]))
    if isinstance(cron, str):
        place = context.product.place(("schedule", "cron"))
        yield Breach(Finding("FLOE-E176", f"the schedule {schedule.cron[:60]} never fires: {cron}", place))
    if zone is None or isinstance(cron, str) or not schedule.enabled:
        return
    allowed, interval = context.leaf(ALLOWED), context.leaf(MIN_INTERVAL)
    if allowed or interval:
        days = list(cron.days(context.today, zone))
        yield from _outside(context, days, allowed)
        yield from _too_often(context, days, interval)


def _outside(context: Context, days: list[Day], leaf: Leaf | None) -> Iterator[Breach]:
    """Every tier's windows must hold every fire time; a window that cannot be read has its own finding."""
    for group in leaf.value if leaf else ():
        windows = [_read(text) for text in group]
        readable = [window for window in windows if isinstance(window, Cron)]
        found = first_outside(days, readable) if len(readable) == len(windows) else None
        if leaf and found:
            day, minute = found
            at = f"{day} {minute // 60:02}:{minute % 60:02}"
            said = next(item for item in leaf.statements if group in item.value)
            finding = Finding(
                "FLOE-E173",
                f"the schedule fires on {at}, outside the allowed window",
                context.product.place(("schedule", "cron")),
                expected=f"only within {show(group)}",
                actual=at,
                related=(Related(said.place, f"{said.tier} allows {show(group)}"),),
            )
            yield Breach(finding, frozenset({said.tier}))


def _too_often(context: Context, days: list[Day], leaf: Leaf | None) -> Iterator[Breach]:
    smallest = smallest_gap(days)
    if leaf is None or smallest is None or smallest[0] >= leaf.value:
        return
    gap, day = smallest
    finding = Finding(
        "FLOE-E174",
        f"two runs are {show(gap)} apart on {day}, less than {show(leaf.value)}",
        context.product.place(("schedule", "cron")),
        expected=f"at least {show(leaf.value)}",
        actual=show(gap),
        related=tuple(Related(said.place, f"{said.tier} requires {show(said.value)}") for said in leaf.setters),
    )
    yield Breach(finding, setters(leaf))


def _read(text: str) -> Cron | str:
    """The expression, or what is wrong with it."""
    try:
        return Cron(text)
    except CronError as exc:
        return str(exc)
