"""JUnit XML: a test case for each finding, which fails when the finding makes the command fail."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from floe_core.codes import Exit
from floe_core.findings import Finding, Report

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report) -> str:
    errors = [item for item in report.found if _is_error(item)]
    failures = [item for item in report.found if report.fails(item) and not _is_error(item)]
    suite = ET.Element(
        "testsuite",
        name=_clean(report.command),
        tests=str(len(report.found) or 1),
        failures=str(len(failures)),
        errors=str(len(errors)),
    )
    for item in report.listed:
        suite.append(_case(item, report))
    if not report.found:
        ET.SubElement(suite, "testcase", classname=_clean(report.command), name="nothing found")
    if report.left_out:
        ET.SubElement(suite, "system-out").text = f"… and {report.left_out:,} more"
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}'


def _case(item: Finding, report: Report) -> ET.Element:
    name = _clean(f"{item.code} {item.place}")
    case = ET.Element(
        "testcase", classname=_clean(item.path), name=name, file=_clean(item.path), line=str(item.line)
    )
    if _is_error(item) or report.fails(item):
        kind = "error" if _is_error(item) else "failure"
        ET.SubElement(case, kind, type=item.code, message=_clean(item.message)).text = _clean(_body(item))
    else:
        ET.SubElement(case, "system-out").text = _clean(f"{item.severity.value}: {item.message}\n{_body(item)}")
    return case


def _is_error(item: Finding) -> bool:
    """Not a broken rule, but something that kept floe from checking."""
    return item.row.exit > Exit.FINDINGS


def _body(item: Finding) -> str:
    others = (f"{other.place}  {other.message}" for other in item.related)
    return "\n".join((*others, f"Fix: {item.fix}", item.row.docs))


def _clean(text: str) -> str:
    """The text without characters that no XML file may hold; they are spelt out."""
    return _NOT_XML.sub(lambda found: f"\\x{ord(found.group()):02x}", text)
