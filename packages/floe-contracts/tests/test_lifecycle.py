"""The life of a contract."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from builders import contract

from floe_contracts.lifecycle import check_consumer, check_lifecycle, phase
from floe_core.contract import Contract, Status
from floe_core.findings import Place, Severity

SPEC = {
    "announced": "2026-01-03",
    "sunset_date": "2026-02-03",
    "replacement": "sales-customers-v4",
    "migration_guide": "https://wiki.acme.com/migrate-v4",
}


def ending(status: str = "active", **dates: Any) -> Contract:
    value = SPEC | dates
    return contract(status=status, customProperties=[{"property": "floe.deprecation", "value": value}])


@pytest.mark.parametrize(
    ("status", "today", "now"),
    [
        ("active", "2026-01-02", Status.ACTIVE),
        ("draft", "2026-01-02", Status.DRAFT),
        ("active", "2026-01-03", Status.DEPRECATED),
        ("active", "2026-02-02", Status.DEPRECATED),
        ("active", "2026-02-03", Status.SUNSET),
        ("active", "2026-02-09", Status.SUNSET),
        ("active", "2026-02-10", Status.RETIRED),
        ("retired", "2026-01-01", Status.RETIRED),
        ("deprecated", "2026-01-01", Status.DEPRECATED),
    ],
)
def test_the_phase_is_the_later_of_what_is_said_and_what_the_dates_imply(
    status: str, today: str, now: Status
) -> None:
    assert phase(ending(status), date.fromisoformat(today)) is now


def test_less_than_thirty_days_of_notice_is_a_finding() -> None:
    early = date(2025, 1, 1)
    assert check_lifecycle(ending(), early) == []
    [finding] = check_lifecycle(ending(sunset_date="2026-02-01"), early)
    assert (finding.code, finding.expected) == ("FLOE-E525", "2026-02-02")


def test_a_date_that_is_none_is_told() -> None:
    [finding] = check_lifecycle(ending(sunset_date="next spring"), date(2025, 1, 1))
    assert finding.code == "FLOE-E525"
    assert "next spring" in finding.message


def test_deprecated_without_dates_is_a_warning() -> None:
    [no_dates, deprecated] = check_lifecycle(contract(status="deprecated"), date(2025, 1, 1))
    assert (no_dates.code, deprecated.code) == ("FLOE-E525", "FLOE-E526")
    assert {no_dates.severity, deprecated.severity} == {Severity.WARNING}


@pytest.mark.parametrize(
    ("today", "is_new", "severity"),
    [
        ("2026-01-10", True, Severity.WARNING),
        ("2026-02-05", False, Severity.WARNING),
        ("2026-02-05", True, Severity.ERROR),
        ("2026-03-01", False, Severity.ERROR),
    ],
)
def test_consumers_are_warned_then_refused(today: str, is_new: bool, severity: Severity) -> None:
    [finding] = check_consumer(ending(), Place("floe.yaml", 9), date.fromisoformat(today), is_new=is_new)
    assert finding.severity is severity
    assert finding.fix == "Move to sales-customers-v4; see https://wiki.acme.com/migrate-v4."


def test_nobody_is_warned_of_a_living_contract() -> None:
    assert check_consumer(contract(), Place("floe.yaml"), date(2026, 1, 1), is_new=True) == []
