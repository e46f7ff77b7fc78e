"""The life of a contract: active, deprecated for 30 days, in sunset for 7, retired."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from floe_contracts.judge import dates
from floe_core.contract import Contract, Status
from floe_core.findings import Finding, Place, Severity

NOTICE = timedelta(days=30)
SUNSET = timedelta(days=7)


def phase(contract: Contract, today: date) -> Status:
    """Where a contract is: the later of what it says and what its dates imply."""
    return max(contract.status, _by_date(contract, today), key=lambda status: status.rank)


def _by_date(contract: Contract, today: date) -> Status:
    end = contract.deprecation
    if end and end.sunset_date and today >= end.sunset_date + SUNSET:
        return Status.RETIRED
    if end and end.sunset_date and today >= end.sunset_date:
        return Status.SUNSET
    if end and end.announced and today >= end.announced:
        return Status.DEPRECATED
    return Status.DRAFT


def check_lifecycle(contract: Contract, today: date) -> list[Finding]:
    """Whether the dates fit, and what the phase means for the product that offers the contract."""
    return [*_dates(contract), *_phase(contract, today)]


def _dates(contract: Contract) -> Iterator[Finding]:
    end = contract.deprecation
    if end is None:
        if contract.status in (Status.DEPRECATED, Status.SUNSET):
            message = f"status is {contract.status.value}, but nothing says when it ends"
            fix = "Add a deprecation block with announced and sunset_date."
            yield Finding("FLOE-E525", message, contract.place(("status",)), Severity.WARNING, fix=fix)
        return
    for name, value in dates(contract):
        message = f"{name} {str(value)[:40]!r} is not a date"
        yield Finding("FLOE-E525", message, contract.place((*end.path, name)), fix="Write it like 2027-01-31.")
    if end.announced and end.sunset_date and end.sunset_date - end.announced < NOTICE:
        days = (end.sunset_date - end.announced).days
        message = f"the contract ends {days} days after it was announced; consumers have 30"
        place = contract.place((*end.path, "sunset_date"))
        earliest = (end.announced + NOTICE).isoformat()
        yield Finding("FLOE-E525", message, place, fix=f"Use {earliest} or later.", expected=earliest)


def _phase(contract: Contract, today: date) -> Iterator[Finding]:
    now = phase(contract, today)
    if now >= Status.DEPRECATED:
        severity = Severity.ERROR if now is Status.RETIRED else Severity.WARNING
        fix = "Remove the contract and its port." if now is Status.RETIRED else "Tell the consumers."
        place = contract.place(contract.deprecation.path if contract.deprecation else ("status",))
        yield Finding("FLOE-E526", _told(contract, now), place, severity, fix=fix)


def check_consumer(contract: Contract, place: Place, today: date, *, is_new: bool) -> list[Finding]:
    """What the phase of a contract means for a product that reads it at `place`."""
    now = phase(contract, today)
    if now < Status.DEPRECATED:
        return []
    refused = now is Status.RETIRED or (now is Status.SUNSET and is_new)
    severity = Severity.ERROR if refused else Severity.WARNING
    return [Finding("FLOE-E526", _told(contract, now), place, severity, fix=_way_out(contract))]


def _told(contract: Contract, now: Status) -> str:
    end = contract.deprecation
    on = f" on {end.sunset_date.isoformat()}" if end and end.sunset_date else ""
    words = {
        Status.DEPRECATED: f"is deprecated and goes into sunset{on}",
        Status.SUNSET: "is in sunset: it takes no new consumers",
        Status.RETIRED: "is retired",
    }
    return f"contract {contract.name} {contract.version} {words[now]}"


def _way_out(contract: Contract) -> str:
    end = contract.deprecation
    if end is None or not (end.replacement or end.migration_guide):
        return "Ask its owner what replaces it."
    guide = f"; see {end.migration_guide}" if end.migration_guide else ""
    return f"Move to {end.replacement or 'its replacement'}{guide}."
