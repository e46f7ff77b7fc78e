"""Turns a contract file into a valid ODCS document, or into every reason why it is none, each at its line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from floe_contracts.schemas import VERSIONS, WRITTEN, later_versions, schema_text, validator
from floe_contracts.shorthand import SIGNS, is_shorthand, to_odcs
from floe_core.checks import Operator
from floe_core.contract import Json, Origin
from floe_core.findings import Finding, FloeError, Place
from floe_core.order import show
from floe_core.source import KeyPath, Source, cut, parse, read_source, spell

MAX_ERRORS = 100
EXPLICIT = "datacontract.yaml"
FOLDER = "contracts"
OPERATORS = "mustBe, mustNotBe, mustBeGreaterThan, mustBeGreaterOrEqualTo, mustBeLessThan, mustBeLessOrEqualTo, \
mustBeBetween or mustNotBeBetween"
_TYPES = {
    "string": "text",
    "object": "a mapping of keys",
    "array": "a list",
    "boolean": "true or false",
    "number": "a number",
    "integer": "a whole number",
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A valid ODCS document, and where each of its values comes from."""

    data: Json
    origin: Callable[[KeyPath], Origin]
    path: str
    shorthand: bool = False
    filled: tuple[str, ...] = ()  # what ODCS demands and the shorthand may leave out


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long, a forbidden folder: reading the file says so
        return False


def contract_files(folder: Path) -> list[Path]:
    """Where a product's contracts are written."""
    return [file for file in (folder / EXPLICIT, *sorted((folder / FOLDER).glob("*.yaml"))) if file.is_file()]


def read_draft(path: Path) -> tuple[Draft, list[Finding]]:
    """Read a contract file. Raises FloeError when it is no contract."""
    return as_draft(_as_contract(lambda: read_source(path)))


def parse_draft(data: bytes, path: str) -> tuple[Draft, list[Finding]]:
    """The same for bytes that come from elsewhere; `path` is what to call them."""
    return as_draft(_as_contract(lambda: parse(data, path)))


def _as_contract(read: Callable[[], Source]) -> Source:
    """The reader's refusals with the codes of contracts: broken syntax is E501, everything else E509."""
    try:
        return read()
    except FloeError as exc:
        raise FloeError(*map(_refusal, exc.findings)) from exc


def _refusal(finding: Finding) -> Finding:
    if finding.code == "FLOE-E100":  # there is no contract to speak of
        return replace(finding, fix="Check the path and its permissions.")
    if finding.code == "FLOE-E112":  # YAML, and no mapping
        return replace(
            finding, code="FLOE-E501", fix=f"Start with `apiVersion: {WRITTEN}` and `kind: DataContract`."
        )
    return replace(finding, code="FLOE-E501" if finding.code == "FLOE-E101" else "FLOE-E509")


def as_draft(source: Source) -> tuple[Draft, list[Finding]]:
    """A document from a file that has been read."""
    version = _declared_version(source)
    findings: list[Finding] = []
    shorthand = is_shorthand(source.root)
    if shorthand:
        root, findings = to_odcs(source.root, source.path)
        source, version = Source(source.path, root), WRITTEN
    data: Json = source.root.plain()
    filled: Json = {}
    if shorthand:
        fallback = data.get("name") or Path(source.path).stem
        filled = {"id": fallback if isinstance(fallback, str) else "", "status": "active"}
    data = {**filled, **data}
    if errors := schema_errors(data, version, source.place) or list(_bounds(data, source.place)):
        raise FloeError(*errors, *findings)
    unwritten = tuple(key for key in filled if source.node((key,)) is None)
    origin = lambda path: Origin("file", source.place(path))  # noqa: E731 - a closure over the file
    return Draft(data, origin, source.path, shorthand, unwritten), findings


def _declared_version(source: Source) -> str:
    """kind and apiVersion come first: they say how to read everything else."""
    kind, version = source.node(("kind",)), source.node(("apiVersion",))
    missing = [name for name, node in (("kind", kind), ("apiVersion", version)) if node is None]
    if missing:
        place = source.place()
        fixes = {"kind": "kind: DataContract", "apiVersion": f"apiVersion: {WRITTEN}"}
        raise FloeError(
            *(Finding("FLOE-E501", f"{name} is missing", place, fix=f"Add `{fixes[name]}`.") for name in missing)
        )
    assert kind is not None  # noqa: S101 - both are there
    assert version is not None  # noqa: S101
    if kind.value != "DataContract":
        message = f"kind is {_shown(kind.value)}, not DataContract"
        raise FloeError(Finding("FLOE-E501", message, source.place(("kind",)), expected="DataContract"))
    if not isinstance(version.value, str) or version.value not in VERSIONS:
        given = version.text or _shown(version.value)
        near = f"v{given}" if f"v{given}" in VERSIONS else ""
        raise FloeError(
            Finding(
                "FLOE-E502",
                f"apiVersion {cut(given)} is not a version of ODCS that floe reads",
                source.place(("apiVersion",)),
                expected=" | ".join(VERSIONS),
                actual=cut(given),
                fix=f"Write {near}." if near else "",
            )
        )
    return version.value


class Locate(Protocol):
    """Where a value stands, or its key."""

    def __call__(self, path: KeyPath, *, of_key: bool = False) -> Place: ...


def schema_errors(data: Json, version: str, locate: Locate) -> list[Finding]:
    """Everything that the schema of the declared version has against the document."""
    declared = VERSIONS[version]
    if validator(declared).is_valid(data):
        return []
    problems = _problems(data, declared)
    elsewhere = {later: {problem.key for problem in _problems(data, later)} for later in later_versions(declared)}
    found = []
    for problem in problems[:MAX_ERRORS]:
        since = next((later for later, theirs in elsewhere.items() if problem.key not in theirs), "")
        found.append(_finding(problem, data, version, since, locate))
    if more := len(problems) - len(found):
        found[-1] = replace(found[-1], message=f"{found[-1].message} (and {more:,} more errors in this file)")
    return found


def _bounds(data: Json, locate: Locate) -> Iterator[Finding]:
    """Thresholds that are none: ODCS 3.0 leaves them unchecked for SQL rules, and nothing could be compared."""
    for path, rule in rules_in(data):
        for operator in Operator:
            if operator.value in rule and not _is_threshold(operator, rule[operator.value]):
                expected = "two numbers, the smaller first" if "Between" in operator.value else "a number"
                message = f"{_named(path, data)}.{operator.value}: must be {expected}"
                yield Finding("FLOE-E501", message, locate((*path, operator.value)), expected=expected)


def _is_threshold(operator: Operator, value: Any) -> bool:
    if operator in (Operator.EQUAL, Operator.NOT_EQUAL):
        return True
    if operator in (Operator.BETWEEN, Operator.NOT_BETWEEN):
        return isinstance(value, list) and len(value) == 2 and all(map(_is_number, value)) and value[0] <= value[1]
    return _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def rules_in(document: Json) -> Iterator[tuple[KeyPath, Json]]:
    """Every quality rule of a document with its path."""
    for path, block in blocks(document):
        for number, rule in enumerate(block.get("quality") or ()):
            yield (*path, "quality", number), rule


def blocks(document: Json) -> list[tuple[KeyPath, Json]]:
    """Every table and every property of a document with its path."""
    found: list[tuple[KeyPath, Json]] = []
    waiting: list[tuple[KeyPath, Json]] = [
        (("schema", number), table) for number, table in enumerate(document.get("schema") or ())
    ]
    while waiting:
        path, block = waiting.pop()
        found.append((path, block))
        for number, item in enumerate(block.get("properties") or ()):
            waiting.append(((*path, "properties", number), item))
        if isinstance(items := block.get("items"), dict):
            waiting.append(((*path, "items"), items))
        if isinstance(mapping := block.get("map"), dict):
            waiting += [((*path, "map", side), mapping[side]) for side in ("key", "value") if side in mapping]
    return found


@dataclass(frozen=True, slots=True)
class _Problem:
    path: KeyPath
    kind: str
    subject: str
    detail: Any = None

    @property
    def key(self) -> tuple[KeyPath, str, str]:
        return self.path, self.kind, self.subject


def _problems(data: Json, version: str) -> list[_Problem]:
    """The schema's errors, each once, without those that only follow from another."""
    found = {problem.key: problem for error in validator(version).iter_errors(data) for problem in _split(error)}
    others = [problem.path for problem in found.values() if problem.kind != "unknown"]
    known = _names_in(version)
    return sorted(
        (
            problem
            for problem in found.values()
            if problem.kind != "unknown"
            or problem.subject not in known
            or not any(path[: len(problem.path)] == problem.path for path in others)
        ),
        key=lambda problem: [str(step) for step in problem.path],
    )


def _split(error: Any) -> Iterator[_Problem]:
    path, kind, about = tuple(error.instance_path), error.kind.name, error.kind.as_dict()
    match kind:
        case "required":
            yield _Problem(path, "missing", about["property"])
        case "additionalProperties" | "unevaluatedProperties":
            for name in about["unexpected"]:
                yield _Problem(path, "unknown", name)
        case "enum":
            yield _Problem(path, "enum", "", about["options"])
        case "type":
            yield _Problem(path, "type", "", about["types"])
        case "oneOf" | "anyOf" if "mustBe" in str(about.get("context", "")):
            yield _Problem(path, "operator", "")
        case _:
            yield _Problem(path, kind, "", error.message)


@cache
def _names_in(version: str) -> frozenset[str]:
    """Every key that the standard has anywhere."""

    def walk(schema: Any) -> Iterator[str]:
        if isinstance(schema, dict):
            properties = schema.get("properties")
            yield from properties if isinstance(properties, dict) else ()
            for value in schema.values():
                yield from walk(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from walk(value)

    return frozenset(walk(json.loads(schema_text(version))))


def _finding(problem: _Problem, data: Json, version: str, since: str, locate: Locate) -> Finding:
    dotted = _named(problem.path, data)
    place = locate(problem.path)
    later = f"Declare `apiVersion: v{since}`, or remove it." if since else ""
    told = f"; ODCS v{since} has it, the file declares {version}" if since else ""
    match problem.kind:
        case "missing":
            name = problem.subject
            message = f"{dotted}: {name} is missing" if problem.path else f"{name} is missing"
            if since and problem.path:  # the block is written as the later version wants it
                message += f"; ODCS v{since} does not ask for it, the file declares {version}"
            fix = (
                f"Add `{name}:`, or declare `apiVersion: v{since}`."
                if since and problem.path
                else f"Add `{name}:`."
            )
            return Finding("FLOE-E501", message, place, fix=fix)
        case "unknown":
            name = cut(problem.subject)
            at = locate((*problem.path, problem.subject), of_key=True)
            message = f"unknown key {dotted}.{name}{told}" if problem.path else f"unknown key {name}{told}"
            return Finding("FLOE-E501", message, at, actual=name, fix=later or _instead(problem, version))
        case "enum":
            given = _shown(_value(problem.path, data))
            legal = " | ".join(map(show, problem.detail))
            message = f"{dotted}: {given} is not one of {legal}{told}"
            return Finding("FLOE-E501", message, place, expected=legal, actual=given, fix=later)
        case "type":
            expected = " or ".join(_TYPES.get(name, name) for name in problem.detail)
            return Finding("FLOE-E501", f"{dotted}: must be {expected}{told}", place, expected=expected, fix=later)
        case "operator":
            message = f"{dotted}: a rule needs exactly one of {OPERATORS}"
            return Finding("FLOE-E501", message, place, fix=later or "Keep one of them.")
        case "anyOf" | "oneOf":
            given = _shown(_value(problem.path, data))
            message = f"{dotted}: {given} has none of the forms that ODCS allows here{told}"
            return Finding("FLOE-E501", message, place, actual=given, fix=later)
        case _:
            return Finding("FLOE-E501", f"{dotted}: {_brief(problem.detail)}{told}", place, fix=later)


def _named(path: KeyPath, data: Any) -> str:
    """A path as a person would say it: tables, columns and service levels by their names."""
    steps: list[str | int] = []
    for step in path:
        data = data[step]
        name = data.get("name") or data.get("property") if isinstance(data, dict) else None
        steps.append(name if isinstance(step, int) and isinstance(name, str) else step)
    return spell(tuple(steps))


def _instead(problem: _Problem, version: str) -> str:
    if not problem.path and problem.subject in SIGNS:
        return "Remove `schema` to write floe's shorthand, or use ODCS's own keys."
    import difflib  # slow to import, and few files need it

    near = difflib.get_close_matches(problem.subject[:60], _names_in(VERSIONS[version]), 1, 0.75)
    return f"Rename it to `{near[0]}`." if near else "Remove it, or move it under customProperties."


def _value(path: KeyPath, data: Any) -> object:
    for step in path:
        data = data[step]
    return cast(object, data)


def _shown(value: object) -> str:
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return cut(show(value))


def _brief(message: object) -> str:
    """A message of the validator without the value it quotes: that is in the file."""
    text = str(message)
    return text if len(text) <= 120 else f"…{text[-100:]}"
