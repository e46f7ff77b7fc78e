"""Reads each output format back."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree as ET

import click


def count(text: str, output: str) -> int:
    """How many findings a reader of the format sees."""
    match output:
        case "text":
            return len(re.findall(r"^[✗!i] FLOE-", click.unstyle(text), re.MULTILINE))
        case "json":
            report = json.loads(text)
            return len(report["findings"]) + len(report["errors"])
        case "sarif":
            return len(json.loads(text)["runs"][0]["results"])
        case "junit":
            cases = ET.fromstring(text).iter("testcase")  # noqa: S314 - our own output
            return sum(len(case) for case in cases)
        case "github":
            return len(re.findall(r"^::(error|warning|notice) ", text, re.MULTILINE))
        case _:
            return len(json.loads(text))
