"""What no JSON Schema can see: promises about absent columns, words without meaning, names said twice."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from floe_contracts.columns import classes_of
from floe_contracts.meaning import read_date
from floe_contracts.read import blocks
from floe_contracts.sla import elements, read_slas
from floe_core.checks import RuleKind
from floe_core.contract import Contract, Json, Status
from floe_core.findings import Finding, Related, Severity
from floe_core.schemas.levels import FieldClass
from floe_core.source import KeyPath, cut
from floe_core.table import Column, dotted, walk

VERSION = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")

Parts: TypeAlias = list[tuple[KeyPath, Json]]  # every table and every property, with its path


def judge(contract: Contract, *, in_product: bool) -> list[Finding]:
    """floe's own rules. Inside a product they are errors; about a bare file they warn."""
    severity = Severity.ERROR if in_product else Severity.WARNING
    parts = blocks(contract.document)
    found = [
        *_basics(contract, severity),
        *_names_twice(contract, parts, severity),
        *_elements(contract, severity),
        *_slas(contract, severity),
        *_classes(contract, parts, severity),
        *_values(contract, parts, severity),
        *_patterns(contract, parts, severity),
        *_queries(contract, severity),
    ]
    return sorted(found, key=lambda item: (item.place, item.code))


def _basics(contract: Contract, severity: Severity) -> Iterator[Finding]:
    if not contract.owner:
        fix = "Add `owner:` to the shorthand, a `team` to ODCS, or metadata.owner to floe.yaml."
        yield Finding("FLOE-E501", "the contract has no owner", contract.place(), severity, fix=fix)
    if not contract.tables:
        fix = "Add `models:` to the shorthand, or `schema:` to ODCS."
        yield Finding("FLOE-E501", "the contract describes no table", contract.place(), severity, fix=fix)
    if not VERSION.fullmatch(contract.version):
        message = f"version {cut(contract.version)} is not X.Y.Z"
        yield Finding("FLOE-E521", message, contract.place(("version",)), severity, actual=cut(contract.version))
    status = str(contract.document.get("status", "active"))
    if status.casefold() not in {item.value for item in Status}:
        legal = " | ".join(item.value for item in Status)
        message = f"status {cut(status)} is not one of {legal}"
        yield Finding(
            "FLOE-E525", message, contract.place(("status",)), severity, expected=legal, fix=f"Use {legal}."
        )


def _names_twice(contract: Contract, parts: Parts, severity: Severity) -> Iterator[Finding]:
    yield from _twice(contract, contract.document.get("schema") or [], ("schema",), "table", severity)
    for path, block in parts:
        if items := block.get("properties"):
            yield from _twice(contract, items, (*path, "properties"), "column", severity)


def _twice(
    contract: Contract, items: Sequence[Json], path: KeyPath, what: str, severity: Severity
) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for number, item in enumerate(items):
        name = str(item["name"])
        folded = name.casefold()
        if folded in seen:  # catalogs do not tell Id from id
            first = contract.place((*path, seen[folded], "name"))
            message = f"the {what} {cut(name)} stands here a second time"
            place = contract.place((*path, number, "name"))
            related = (Related(first, "the first one stands here"),)
            yield Finding("FLOE-E505", message, place, severity, related=related)
        seen.setdefault(folded, number)


def _elements(contract: Contract, severity: Severity) -> Iterator[Finding]:
    """Columns that a service level is measured on."""
    if not contract.tables or not any(sla.element for sla in contract.slas):
        return
    known = {name for table in contract.tables for name in _spellings(table.name, table.columns)}
    for sla in contract.slas:
        for element in elements(sla.element):
            if element not in known:
                message = f"SLA {sla.name} is about {cut(element)}, which is no column of the contract"
                place = contract.place((*sla.path, "element"))
                yield Finding("FLOE-E503", message, place, severity, actual=cut(element))


def _spellings(table: str, columns: Sequence[Column]) -> Iterator[str]:
    yield table
    for path, column in walk(columns):
        for name in (dotted(path), dotted((*path[:-1], column.in_table))):
            yield name
            yield f"{table}.{name}"


def _slas(contract: Contract, severity: Severity) -> Iterator[Finding]:
    for path, message, fix in read_slas(contract.document)[1]:
        yield Finding("FLOE-E504", cut_line(message), contract.place(path), severity, fix=fix)


def _classes(contract: Contract, parts: Parts, severity: Severity) -> Iterator[Finding]:
    legal = ", ".join(item.value for item in FieldClass)
    for path, block in parts:
        for word in classes_of(block.get("classification"))[1]:
            message = f"classification {cut(word)} is not one of {legal}"
            place = contract.place((*path, "classification"))
            yield Finding("FLOE-E506", message, place, severity, expected=legal, actual=cut(word))


def _values(contract: Contract, parts: Parts, severity: Severity) -> Iterator[Finding]:
    """The lists of legal values that ODCS 3.2 has: each value once, and no null where null is not legal."""
    for path, block in parts:
        seen: dict[tuple[str, Any], int] = {}
        for number, entry in enumerate(block.get("enum") or ()):
            value = entry.get("value")
            kind = "number" if type(value) in (int, float) else type(value).__name__
            at = (*path, "enum", number, "value")
            if value is None and block.get("required") is True:
                message = "null is a legal value of a column that is required"
                yield Finding("FLOE-E505", message, contract.place(at), severity, fix="Remove the null.")
            if isinstance(value, dict | list):
                continue
            if (kind, value) in seen:
                message = f"the value {cut(str(value))} stands here a second time"
                yield Finding("FLOE-E505", message, contract.place(at), severity)
            seen[(kind, value)] = number


def _patterns(contract: Contract, parts: Parts, severity: Severity) -> Iterator[Finding]:
    """Regular expressions that can match nothing, because no engine reads them."""
    options = ((path, block.get("logicalTypeOptions")) for path, block in parts)
    written = [((*path, "logicalTypeOptions"), said) for path, said in options if isinstance(said, dict)]
    rules = (rule for table in contract.tables for rule in table.rules)
    for path, said in [*written, *(((*rule.path, "arguments"), dict(rule.arguments)) for rule in rules)]:
        text = said.get("pattern")
        if isinstance(text, str) and (problem := _unreadable(text)):
            message = f"the pattern {cut(text)} is no regular expression: {problem}"
            yield Finding("FLOE-E501", message, contract.place((*path, "pattern")), severity)


def _unreadable(pattern: str) -> str:
    """Why nobody reads a pattern; "" when somebody does. Engines differ, and the one that matches is not here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what another Python may read differently
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as exc:
        problem = str(exc) or type(exc).__name__
    else:
        return ""
    import re2  # type: ignore[import-untyped] # ships no types; slow to import, and few patterns need it

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error:
        return problem
    return ""


def _queries(contract: Contract, severity: Severity) -> Iterator[Finding]:
    rules = [rule for table in contract.tables for rule in table.rules if rule.kind is RuleKind.SQL]
    if not rules:
        return
    from floe_contracts.sql import refusal  # sqlglot takes as long to import as everything else here takes to run

    for rule in rules:
        if reason := refusal(rule.query):
            place = contract.place((*rule.path, "query"))
            yield Finding("FLOE-E507", f"the query of a quality rule {reason}", place, severity)


def dates(contract: Contract) -> Iterator[tuple[str, Any]]:
    """The dates of the deprecation block as they are written."""
    entries = contract.document.get("customProperties") or ()
    block = next((item["value"] for item in entries if item.get("property") == "floe.deprecation"), None)
    for name in ("announced", "sunset_date"):
        if isinstance(block, dict) and name in block and read_date(block[name]) is None:
            yield name, block[name]


def cut_line(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."
