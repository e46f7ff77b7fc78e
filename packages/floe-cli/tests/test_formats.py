"""Each format says the same: how many, where, and how the command ends; hostile text breaks none of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest
from formats_read import count

from floe_cli.formats import FORMATS, render
from floe_core.findings import Finding, Place, Related, Report, Severity
from floe_core.json_schema import report_schema

SARIF_SCHEMA = Path(
    os.environ.get("FLOE_SARIF_SCHEMA", Path(__file__).parents[4] / "shared/sarif-schema-2.1.0.json")
)
HOSTILE = "a\x00b\x1b[31m\r\n::error::x %0A <b>&amp;\"'</b> ]]> \ud800 \ufffe ✗ , : \u2028"

FOUND = (
    Finding("FLOE-E160", "too weak", Place("b.yaml", 12, 3), expected="at least 80", actual="70"),
    Finding("FLOE-E160", "too weak", Place("b.yaml", 2, 3), related=(Related(Place("a.yaml", 7), "says acme"),)),
    Finding("FLOE-E163", "odd", Place("models/ä ö.sql", 1, 1), Severity.WARNING),
    Finding("FLOE-E163", "only so you know", Place("a.yaml", 9), Severity.INFO),
    Finding("FLOE-E161", "very bad", Place("a.yaml", 1), Severity.CRITICAL),
    Finding("FLOE-E801", "not installed", Place("a.yaml", 3)),
)
REPORTS = {
    "nothing": Report("floe compile"),
    "everything": Report("floe compile", FOUND),
    "strict": Report("floe compile", FOUND[2:3], strict=True),
    "lenient": Report("floe compile", FOUND[2:4]),
    "nowhere": Report("floe", (Finding("FLOE-E001", "no such option", Place("(command line)")),)),
    "hostile": Report(
        HOSTILE,
        (
            Finding(
                "FLOE-E160",
                HOSTILE,
                Place(HOSTILE, 1, 1),
                why=HOSTILE,
                fix=HOSTILE,
                expected=HOSTILE,
                actual=HOSTILE,
                related=(Related(Place(HOSTILE), HOSTILE),),
            ),
        ),
    ),
}


def encoded(text: str) -> bytes:
    """As the command writes it: UTF-8, and no surrogate stops it."""
    return text.encode("utf-8", "replace")


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", REPORTS)
def test_every_format_holds_every_finding(name: str, output: str) -> None:
    text = encoded(render(REPORTS[name], output)).decode()
    assert count(text, output) == len(REPORTS[name].found)


# JSON


@pytest.mark.parametrize("name", REPORTS)
def test_reports_are_what_their_schema_says(name: str) -> None:
    jsonschema_rs.meta.validate(report_schema())
    report = json.loads(encoded(render(REPORTS[name], "json")))
    jsonschema_rs.Draft202012Validator(report_schema()).validate(report)


def test_findings_are_sorted_by_file_and_line() -> None:
    report = json.loads(render(REPORTS["everything"], "json"))
    places = [(item["path"], item["line"]) for item in report["findings"]]
    assert places == [("a.yaml", 1), ("a.yaml", 9), ("b.yaml", 2), ("b.yaml", 12), ("models/ä ö.sql", 1)]
    assert [item["code"] for item in report["errors"]] == ["FLOE-E801"]


# SARIF


def sarif(name: str) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(encoded(render(REPORTS[name], "sarif")))
    return log


@pytest.mark.skipif(
    not SARIF_SCHEMA.is_file(), reason=f"the SARIF schema is not at {SARIF_SCHEMA} (FLOE_SARIF_SCHEMA)"
)
@pytest.mark.parametrize("name", REPORTS)
def test_sarif_is_valid_by_the_official_schema(name: str) -> None:
    judge = jsonschema_rs.Draft4Validator(json.loads(SARIF_SCHEMA.read_bytes()), validate_formats=True)
    judge.validate(sarif(name))
    broken = sarif(name)
    broken["runs"][0]["results"] = [{"level": "terrible"}]
    assert not judge.is_valid(broken)


def test_sarif_lists_the_rules_that_occur_and_results_point_at_them() -> None:
    [run] = sarif("everything")["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert sorted(rule["id"] for rule in rules) == ["FLOE-E160", "FLOE-E161", "FLOE-E163", "FLOE-E801"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert all(rule["helpUri"].endswith(rule["id"].lower()) for rule in rules)
    assert run["invocations"][0]["exitCode"] == 3


def test_sarif_says_where_and_keeps_fingerprints() -> None:
    [run] = sarif("everything")["runs"]
    [result] = [item for item in run["results"] if item["relatedLocations"]]
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "b.yaml"}, "region": {"startLine": 2, "startColumn": 3}}
    [other] = result["relatedLocations"]
    assert other["physicalLocation"]["region"]["startLine"] == 7
    assert other["message"] == {"text": "says acme"}
    assert result["partialFingerprints"] == {"floe/v1": FOUND[1].fingerprint}
    levels = [item["level"] for item in run["results"]]
    assert sorted(levels) == ["error", "error", "error", "error", "note", "warning"]
    [umlaut] = [item for item in run["results"] if item["level"] == "warning"]
    assert umlaut["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "models/%C3%A4%20%C3%B6.sql"
    assert sarif("nowhere")["runs"][0]["results"][0]["locations"] == []


# JUnit


def suite(report: Report) -> ET.Element:
    root = ET.fromstring(encoded(render(report, "junit")))  # noqa: S314 - our own output
    [found] = root
    return found


def test_junit_fails_where_the_command_fails() -> None:
    found = suite(REPORTS["everything"])
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("6", "3", "1")
    assert len(list(found.iter("failure"))) == 3
    assert [item.get("type") for item in found.iter("error")] == ["FLOE-E801"]
    assert suite(REPORTS["lenient"]).get("failures") == "0"
    assert suite(REPORTS["strict"]).get("failures") == "1"


def test_junit_of_a_clean_compile_is_one_test_that_passes() -> None:
    found = suite(REPORTS["nothing"])
    assert (found.get("tests"), found.get("failures"), found.get("errors")) == ("1", "0", "0")
    [case] = found
    assert list(case) == []


def test_junit_spells_out_what_xml_cannot_hold() -> None:
    [failure] = suite(REPORTS["hostile"]).iter("failure")
    message = failure.get("message") or ""
    assert message.startswith("a\\x00b\\x1b[31m")
    assert "<b>&amp;\"'</b> ]]> \\xd800 \\xfffe ✗" in message


# GitHub


def test_github_annotations_stand_at_their_line() -> None:
    lines = render(REPORTS["everything"], "github").splitlines()
    assert lines[0] == (
        "::error file=a.yaml,line=3,col=1,title=FLOE-E801 Plugin not installed::not installed"
        f"%0AFix: {FOUND[5].fix}"
    )
    assert [line.split(" ")[0] for line in lines].count("::notice") == 1


def test_github_commands_cannot_be_smuggled_in() -> None:
    [line] = render(REPORTS["hostile"], "github").split("\n")
    properties, _, data = line.removeprefix("::error ").partition("::")
    assert len(properties.split(",")) == 4
    assert "%2C" in properties
    assert "%3A%3Aerror%3A%3Ax" in properties
    assert "%0D%0A::error::x %250A" in data
    assert "\r" not in line


# GitLab


def test_gitlab_issues_have_what_code_quality_needs_and_differ() -> None:
    issues = json.loads(render(REPORTS["everything"], "gitlab"))
    assert len({item["fingerprint"] for item in issues}) == len(issues)
    assert [item["severity"] for item in issues] == ["blocker", "critical", "info", "major", "major", "minor"]
    assert issues[0] == {
        "type": "issue",
        "description": f"not installed. Fix: {FOUND[5].fix}",
        "check_name": "FLOE-E801",
        "fingerprint": FOUND[5].fingerprint,
        "severity": "blocker",
        "location": {"path": "a.yaml", "lines": {"begin": 3}},
    }


# --limit


@pytest.mark.parametrize("output", [name for name in FORMATS if name != "gitlab"])
def test_a_limit_lists_fewer_and_counts_all(output: str) -> None:
    report = Report("floe compile", FOUND, limit=2)
    text = render(report, output)
    assert count(text, output) == 2 + (output == "github")
    assert report.exit_code == 3
    assert report.counts() == {"info": 1, "warning": 1, "error": 3, "critical": 1}
    assert report.left_out == 4
    if output != "json":
        assert "… and 4 more" in text


def test_gitlab_has_no_place_for_more_and_lists_everything() -> None:
    assert len(json.loads(render(Report("floe compile", FOUND, limit=2), "gitlab"))) == 6


def test_a_limit_larger_than_what_was_found_hides_nothing() -> None:
    assert "more" not in render(Report("floe compile", FOUND, limit=6), "text")
