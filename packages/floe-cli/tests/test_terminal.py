"""How a report looks as text."""

from __future__ import annotations

import click
import pytest

from floe_cli.terminal import Steps, Waiting, harmless, lines, table
from floe_core.findings import Finding, Place, Related, Severity
from floe_core.line import Line, Watcher

PLACE = Place("sales.yaml", 12, 3)


def shown(item: Finding) -> list[str]:
    return [click.unstyle(line) for line in lines(item)]


def test_a_finding_says_where_what_who_and_how() -> None:
    parent = Related(Place("enterprise.yaml", 18, 5), "enterprise acme requires at least 80")
    item = Finding("FLOE-E160", "coverage 70 is weaker than 80", PLACE, fix="Raise it.", related=(parent,))
    assert shown(item) == [
        "✗ FLOE-E160 sales.yaml:12:3  coverage 70 is weaker than 80",
        "    enterprise.yaml:18:5  enterprise acme requires at least 80",
        "    Fix: Raise it.",
        "    floe explain FLOE-E160",
    ]


def test_expected_and_actual_are_shown_unless_the_message_says_them() -> None:
    item = Finding(
        "FLOE-E124", "scope: x is wrong", PLACE, fix="Fix it.", expected="enterprise | domain", actual="x"
    )
    assert shown(item)[1:-1] == ["    Expected: enterprise | domain", "    Fix: Fix it."]


def test_the_mark_tells_the_severity() -> None:
    marks = {severity: shown(Finding("FLOE-E163", "m", PLACE, severity))[0][0] for severity in Severity}
    assert list(marks.values()) == ["i", "!", "✗", "✗"]


def test_control_characters_are_spelt_out() -> None:
    assert harmless("a\x1b[2Jb\nc\td\x9be\u2028f") == r"a\x1b[2Jb\nc\td\x9be\u2028f"
    assert harmless("größer ≥ 80 …") == "größer ≥ 80 …"


def test_a_table_aligns_what_is_shown_and_ends_no_line_in_blanks() -> None:
    rows = [("KIND", "NAME"), ("floe.catalogs", "x\n"), ("b", "")]
    assert table(rows, indent="  ").split("\n") == ["  KIND           NAME", r"  floe.catalogs  x\n", "  b"]


def test_labelled_lines_stand_in_their_order_and_replace_what_they_say() -> None:
    suggestions = ("Rename to bronze_payments (raw data)", "Rename to gold_payments (aggregated data)")
    item = Finding(
        "FLOE-E201",
        "Model 'stg_payments' violates naming convention",
        Place("models/stg_payments.sql"),
        expected="bronze_*, gold_*",
        actual="stg_payments",
        details=(("Pattern", "medallion"), ("Suggestions", suggestions), ("Documentation", "https://x")),
    )
    assert shown(item) == [
        "✗ FLOE-E201 models/stg_payments.sql:1:1  Model 'stg_payments' violates naming convention",
        "    Pattern: medallion",
        "    Suggestions:",
        "      - Rename to bronze_payments (raw data)",
        "      - Rename to gold_payments (aggregated data)",
        "    Documentation: https://x",
        "    floe explain FLOE-E201",
    ]


@pytest.mark.parametrize(("watcher", "shown"), [(Steps(), ["[1/6] A", "      b", "      c"]), (Waiting(), ["c"])])
def test_whoever_reads_a_report_still_sees_what_takes_its_time(
    watcher: Watcher, shown: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    line = Line(watcher)
    line.step("A")
    line.say(["b"])
    line.working("c")
    output = capsys.readouterr()
    assert (output.out, output.err.splitlines()) == ("", shown)
