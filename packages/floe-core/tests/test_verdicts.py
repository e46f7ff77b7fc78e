"""From measured values to verdicts, findings and the quality score."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from floe_core.checks import Check, Operator, Source
from floe_core.contract import Contract, Origin, Sla, Status
from floe_core.findings import Place, Severity
from floe_core.source import KeyPath
from floe_core.verdicts import Answer, Answered, TableVerdict, judge, judge_score, score

NAN = float("nan")


def check(metric: str, operator: Operator = Operator.EQUAL, threshold: Any = 0, **more: Any) -> Check:
    given = {"column": "c", "source": Source.PASS, "origin": "required", "path": ("schema", 0), **more}
    return Check(f"t:{metric}", "t", metric=metric, operator=operator, threshold=threshold, **given)


def verdict(checked: Check, value: Any) -> tuple[bool | None, str]:
    found = judge(checked, Answer(value, Answered.PASS))
    return found.passed, found.reason


def contract(*slas: Sla) -> Contract:
    def origin(path: KeyPath) -> Origin:
        return Origin("file", Place("orders.yaml", 7 if path == ("schema", 0) else 9 if path else 1))

    return Contract("orders", "o", "1.0.0", Status.ACTIVE, "v3.1.0", "a", (), slas, origin=origin)


@pytest.mark.parametrize(
    ("operator", "threshold", "value", "passed"),
    [
        (Operator.EQUAL, 0, 0, True),
        (Operator.AT_LEAST, 0.1, Decimal("0.10"), True),
        (Operator.AT_MOST, 0.1, Decimal("0.10"), True),
        (Operator.AT_LEAST, "2026-01-01", date(2026, 1, 1), True),
        (Operator.AT_MOST, "2026-01-01", datetime(2026, 1, 1, 0, 0, 1), False),
        (Operator.AT_LEAST, "2026-01-01T00:00:00+01:00", datetime(2025, 12, 31, 23, tzinfo=UTC), True),
        (Operator.AT_LEAST, "5", 5, True),
        (Operator.BETWEEN, (1, 2.5), Decimal("2.5"), True),
        (Operator.NOT_BETWEEN, (1, 2), 2, False),
    ],
)
def test_thresholds_are_read_as_the_measured_kind(
    operator: Operator, threshold: Any, value: Any, passed: bool
) -> None:
    assert verdict(check("minimum", operator, threshold), value) == (passed, "")


def test_nan_is_above_every_number_and_never_a_count() -> None:
    assert verdict(check("minimum", Operator.AT_LEAST, 5), NAN) == (True, "")
    assert verdict(check("maximum", Operator.AT_MOST, 5), NAN) == (False, "")
    assert verdict(check("sql"), NAN) == (None, "the answer is not a number")


def test_no_value_breaks_no_limit_but_is_not_fresh() -> None:
    assert verdict(check("minLength", Operator.AT_LEAST, 2), None)[0] is True
    assert verdict(check("freshness", Operator.AT_MOST, 9.0), None) == (False, "there is no value")
    assert verdict(check("sql"), None) == (None, "the answer is NULL")


@pytest.mark.parametrize(("value", "threshold"), [(3, "three"), (date(2026, 1, 1), 5), ("a", 3)])
def test_what_cannot_be_compared_is_not_a_pass(value: Any, threshold: Any) -> None:
    assert verdict(check("minimum", Operator.AT_LEAST, threshold), value)[0] is None


def table(*results: tuple[Check, Answer | None], of: Contract | None = None) -> TableVerdict:
    return TableVerdict(of or contract(), "t", ("s", "t"), tuple(judge(*pair) for pair in results))


def test_a_failed_check_is_found_at_its_line_with_both_values() -> None:
    failed = (check("nullValues", Operator.AT_MOST, 5, percent=True), Answer(7.25, Answered.PASS))
    [finding] = table(failed).findings
    assert (finding.code, finding.place, finding.severity) == ("FLOE-E740", Place("orders.yaml", 7), Severity.ERROR)
    assert finding.message == "nullValues of t.c is 7.25%, mustBeLessOrEqualTo 5% (required)"
    assert (finding.expected, finding.actual) == ("mustBeLessOrEqualTo 5%", "7.25%")


@pytest.mark.parametrize(
    ("written", "severity"),
    [("", Severity.ERROR), ("Info", Severity.INFO), (" minor ", Severity.WARNING), ("critical", Severity.CRITICAL)],
)
def test_the_severity_of_a_rule_is_that_of_its_finding(written: str, severity: Severity) -> None:
    [finding] = table((check("nullValues", severity=written), Answer(1, Answered.PASS))).findings
    assert finding.severity is severity


def test_what_could_not_be_measured_says_why() -> None:
    answer = Answer(None, Answered.PASS, reason="there is no column c")
    [finding] = table((check("nullValues"), answer)).findings
    assert (finding.code, finding.row.exit) == ("FLOE-E741", 3)
    assert finding.message == "nullValues of t.c could not be measured: there is no column c"
    assert judge(check("nullValues"), None).passed is None


def test_what_floe_does_not_run_warns_unless_it_is_for_others() -> None:
    mine = check("format", source=Source.NOBODY, reason="floe has no check for format x")
    theirs = check("text", source=Source.NOBODY, reason="a text, for readers")
    [finding] = table((mine, None), (theirs, None)).findings
    assert finding.message == "format of t.c is not run: floe has no check for format x"
    assert (finding.code, finding.blocks) == ("FLOE-E743", False)


def test_the_score_weighs_what_passed() -> None:
    found = table(
        (check("a", weight=3.0), Answer(0, Answered.PASS)),
        (check("b"), Answer(1, Answered.PASS)),
        (check("c", source=Source.NOBODY), None),
    )
    total = score([found])
    assert total is not None
    assert (total.value, total.best, total.checks) == (75, 75, 2)
    assert score([table()]) is None


def test_a_score_is_too_low_only_when_no_answer_could_save_it() -> None:
    promised = contract(Sla("quality", 90.0, "90%", path=("slaProperties", 0)))
    found = table((check("a"), Answer(0, Answered.PASS)), (check("b"), Answer(None, Answered.PASS, reason="x")))
    total = score([found])
    assert total is not None
    assert (total.value, total.best) == (50, 100)
    assert judge_score(promised, total, 90) == []
    [finding] = judge_score(promised, score([table((check("a"), Answer(4, Answered.PASS)))]), 90)
    assert (finding.code, finding.place.line) == ("FLOE-E742", 9)
    assert finding.message == "Quality score of contract 'orders' is 0.0, below 90"
