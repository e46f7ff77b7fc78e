"""One finding, one report, one exit code: the same in every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from floe_core.codes import CODES, Exit
from floe_core.findings import Finding, FloeError, Place, Related, Report, Severity, relative_to_cwd

BUG, INPUT, UNCHECKED, FINDING = "FLOE-E000", "FLOE-E121", "FLOE-E159", "FLOE-E160"


def finding(code: str = FINDING, severity: Severity = Severity.ERROR, line: int = 1, message: str = "m") -> Finding:
    return Finding(code, message, Place("f.yaml", line), severity)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([], 0),
        ([FINDING], 1),
        ([FINDING, INPUT], 2),
        ([INPUT, FINDING], 2),
        ([FINDING, UNCHECKED, INPUT], 3),
        ([UNCHECKED, BUG, INPUT, FINDING], 70),
    ],
)
def test_the_highest_exit_code_wins(codes: list[str], expected: int) -> None:
    assert Report("compile", tuple(finding(code) for code in codes)).exit_code == expected


@pytest.mark.parametrize(
    ("severity", "lenient", "strict"),
    [
        (Severity.INFO, 0, 0),
        (Severity.WARNING, 0, 1),
        (Severity.ERROR, 1, 1),
        (Severity.CRITICAL, 1, 1),
    ],
)
def test_warnings_block_only_when_strict_and_information_never(
    severity: Severity, lenient: int, strict: int
) -> None:
    found = (finding(severity=severity),)
    assert Report("compile", found).exit_code == lenient
    assert Report("compile", found, strict=True).exit_code == strict


@pytest.mark.parametrize(("code", "expected"), [(INPUT, 2), (UNCHECKED, 3), (BUG, 70)])
@pytest.mark.parametrize("severity", Severity)
def test_what_could_not_be_checked_blocks_at_any_severity(code: str, expected: int, severity: Severity) -> None:
    assert Report("compile", (finding(code, severity),)).exit_code == expected


def test_findings_are_what_the_input_did_and_errors_what_kept_floe_from_checking() -> None:
    report = Report("compile", tuple(finding(code) for code in (UNCHECKED, FINDING, BUG, INPUT)))
    assert [item.code for item in report.findings] == [FINDING]
    assert [item.code for item in report.errors] == [BUG, INPUT, UNCHECKED]


def test_a_report_reads_from_top_to_bottom() -> None:
    report = Report("compile", (finding(line=10), finding(line=9, message="z"), finding(line=9, message="a")))
    assert [(item.line, item.message) for item in report.findings] == [(9, "a"), (9, "z"), (10, "m")]


def test_the_exit_code_is_a_column_of_the_registry() -> None:
    ranges = {
        "0": {70, 2},
        "10": {2},
        "11": {2},
        "12": {2},
        "13": {2},
        "14": {2},
        "15": {2, 3},
        "16": {1},
        "17": {1},
        **{tens: {1} for tens in ("20", "21", "22", "23", "24", "31", "32", "34", "40")},
        "30": {1, 3},
        "60": {1},
        "70": {3},
        "71": {1},
        "72": {3},
        "73": {1, 3},
        "74": {1, 3},
        "75": {1},
        "50": {1},
        "51": {1},
        "52": {1},
        "53": {1},
        "54": {1},
        "61": {1},
        "62": {3},
        "63": {2},
        "80": {3},
        "90": {2},
    }
    for code, row in CODES.items():
        number = code.removeprefix("FLOE-E")
        wanted = ranges["0"] if number.startswith("00") else ranges[number[:2]]
        assert int(row.exit) in wanted, code
    assert CODES["FLOE-E000"].exit is Exit.BUG


def test_the_json_report_has_exactly_this_shape() -> None:
    weakening = Finding(
        FINDING,
        "minimum_test_coverage 70 is weaker than 80",
        Place("sales.yaml", 12, 3),
        Severity.CRITICAL,
        why="because",
        fix="Raise it.",
        expected="at least 80",
        actual="70",
        related=(Related(Place("enterprise.yaml", 18, 5), "enterprise acme requires at least 80"),),
    )
    report = Report("compile", (weakening, finding(INPUT)), {"tiers": 2})
    assert json.loads(json.dumps(report.to_json())) == {
        "schema": "floe-report/1",
        "command": "compile",
        "exit_code": 2,
        "findings": [
            {
                "code": "FLOE-E160",
                "severity": "critical",
                "path": "sales.yaml",
                "line": 12,
                "column": 3,
                "message": "minimum_test_coverage 70 is weaker than 80",
                "why": "because",
                "fix": "Raise it.",
                "expected": "at least 80",
                "actual": "70",
                "docs": "https://docs.floe.dev/codes#floe-e160",
                "fingerprint": weakening.fingerprint,
                "related": [
                    {
                        "path": "enterprise.yaml",
                        "line": 18,
                        "column": 5,
                        "message": "enterprise acme requires at least 80",
                    }
                ],
            }
        ],
        "errors": [
            {
                "code": "FLOE-E121",
                "severity": "error",
                "path": "f.yaml",
                "line": 1,
                "column": 1,
                "message": "m",
                "why": CODES[INPUT].why,
                "fix": CODES[INPUT].fix,
                "expected": None,
                "actual": None,
                "docs": "https://docs.floe.dev/codes#floe-e121",
                "fingerprint": finding(INPUT).fingerprint,
                "related": [],
            }
        ],
        "summary": {"tiers": 2},
    }


def test_an_empty_report_keeps_its_shape() -> None:
    assert Report("doctor").to_json() == {
        "schema": "floe-report/1",
        "command": "doctor",
        "exit_code": 0,
        "findings": [],
        "errors": [],
        "summary": {},
    }


def test_a_fingerprint_follows_a_finding_through_its_file() -> None:
    here = finding(line=3)
    assert finding(line=300).fingerprint == here.fingerprint
    assert finding(line=3, severity=Severity.WARNING).fingerprint == here.fingerprint


def test_a_fingerprint_tells_findings_apart() -> None:
    others = [finding(message="n"), finding("FLOE-E161"), Finding(FINDING, "m", Place("g.yaml"))]
    assert len({item.fingerprint for item in (finding(), *others)}) == 4


def test_a_code_that_is_not_in_the_registry_cannot_be_printed() -> None:
    with pytest.raises(KeyError):
        Finding("FLOE-E999", "m", Place("f.yaml"))


def test_a_finding_without_words_of_its_own_takes_those_of_its_code() -> None:
    plain = finding()
    assert (plain.why, plain.fix) == (CODES[FINDING].why, CODES[FINDING].fix)


def test_paths_are_written_as_seen_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "products"
    here.mkdir()
    monkeypatch.chdir(here)
    above = Related(Place(str(tmp_path / "top.yaml"), 2), "set here")
    absolute = Finding(FINDING, "m", Place(str(here / "orders" / "floe.yaml"), 4, 5), related=(above,))
    short, kept = relative_to_cwd([absolute, finding()])
    assert short.place == Place("orders/floe.yaml", 4, 5)
    assert short.related[0].place == Place("../top.yaml", 2)
    assert kept == finding()
    assert short.fingerprint == Finding(FINDING, "m", Place("orders/floe.yaml")).fingerprint


def test_an_error_says_all_its_findings() -> None:
    error = FloeError(finding(line=2), finding(INPUT, line=3))
    assert str(error) == "FLOE-E160 f.yaml:2:1  m\nFLOE-E121 f.yaml:3:1  m"
    assert len(error.findings) == 2
