"""A contract as checks: each answered by the cheapest source that gives an exact answer.

Iceberg's metadata knows row counts, null counts and the bounds of numbers and dates. One pass over the table
answers everything else that is about single columns. Queries that users wrote run by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from floe_contracts.sla import elements
from floe_core.checks import Arguments, Check, CheckPlan, Operator, Rule, RuleKind, Source
from floe_core.contract import Contract, Sla, Table
from floe_core.source import KeyPath
from floe_core.table import ITEM, KEY, VALUE, Column, Kind, dotted

METRIC_COLUMNS = 100  # Iceberg keeps metrics of the first hundred columns unless told otherwise
_EXACT_BOUNDS = frozenset(
    {Kind.INTEGER, Kind.INT, Kind.LONG, Kind.DECIMAL, Kind.DATE, Kind.TIME, Kind.TIMESTAMP}
    | {Kind.TIMESTAMP_NTZ, Kind.TIMESTAMP_TZ}
)  # not text, whose bounds are cut, and not floats, where NaN hides
_LIMITS: dict[str, tuple[str, Operator]] = {
    "minimum": ("minimum", Operator.AT_LEAST),
    "exclusiveMinimum": ("minimum", Operator.GREATER),
    "maximum": ("maximum", Operator.AT_MOST),
    "exclusiveMaximum": ("maximum", Operator.LESS),
    "minLength": ("minLength", Operator.AT_LEAST),
    "maxLength": ("maxLength", Operator.AT_MOST),
    "minItems": ("minItems", Operator.AT_LEAST),
    "maxItems": ("maxItems", Operator.AT_MOST),
}
FORMATS = {
    "email": r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
    "uuid": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    "ipv4": r"^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(\.|$)){4}$",
    "uri": r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$",
    "date": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "phone": r"^\+?[0-9][0-9 ()./-]{4,}$",
}
_LIBRARY = frozenset({"rowCount", "nullValues", "missingValues", "invalidValues", "duplicateValues"})


def plan(contract: Contract) -> CheckPlan:
    """Every check of a contract. Two rules with the same metric stay two checks."""
    checks = [
        *_service_levels(contract),
        *(check for table in contract.tables for check in _table(table)),
    ]
    seen: Counter[str] = Counter()
    numbered = []
    for check in checks:
        subject = f"{check.table}.{check.column}" if check.column else check.table
        name = f"{subject}:{check.metric}" if subject else check.metric
        seen[name] += 1
        numbered.append(replace(check, id=name if seen[name] == 1 else f"{name}#{seen[name]}"))
    return CheckPlan(contract.name, tuple(numbered))


def _service_levels(contract: Contract) -> Iterator[Check]:
    for sla in contract.slas:
        for element in elements(sla.element) or ("",):
            subjects = list(_subjects(contract, element))
            checks: list[Check] = []
            if sla.name == "freshness" and isinstance(sla.value, timedelta):
                checks = [_freshness(table, spot, sla, sla.value) for table, spot in subjects]
            elif sla.name == "availability":
                checks = [_availability(table, sla) for table in dict.fromkeys(table for table, _ in subjects)]
            yield from checks or [_unmeasured(sla, element)]


def _subjects(contract: Contract, element: str) -> Iterator[tuple[Table, _Spot | None]]:
    """What an element names, in any of the spellings that floe accepts: a table, or a column of one."""
    for table in contract.tables:
        if element in ("", table.name):
            yield table, None
            continue
        bare = element.removeprefix(f"{table.name}.")
        for spot in _spots(table):
            if bare in (spot.name, spot.in_table, spot.half_in_table):
                yield table, spot


def _unmeasured(sla: Sla, element: str) -> Check:
    """A promise that no check covers is listed as such, never left out."""
    reason = "floe does not measure it"
    if sla.name == "freshness":
        reason = "its value cannot be read" if sla.value is None else f"{element} is no column"
    elif sla.name == "quality":
        reason = "the score of all checks together"
    told = f"SLA {sla.text}"
    return Check(
        "", "", element, sla.name, Source.NOBODY, None, sla.text, origin=told, reason=reason, path=sla.path
    )


def _availability(table: Table, sla: Sla) -> Check:
    return _check(table, "", "availability", Source.METADATA, Operator.EQUAL, 1, f"SLA {sla.text}", sla.path)


def _freshness(table: Table, spot: _Spot | None, sla: Sla, limit: timedelta) -> Check:
    """Seconds since the newest value of the element, or since the table last changed."""
    source = Source.METADATA
    if spot:
        source = _source_of_bound(table, spot.column) if spot.top else Source.PASS
    name, seconds = spot.in_table if spot else "", limit.total_seconds()
    return _check(table, name, "freshness", source, Operator.AT_MOST, seconds, f"SLA {sla.text}", sla.path)


@dataclass(frozen=True, slots=True)
class _Spot:
    """A column or a field inside one: as the contract calls it, as the table does, and where it is written."""

    column: Column
    name: str
    in_table: str
    path: KeyPath
    top: bool

    @property
    def half_in_table(self) -> str:
        """As the contract calls what it is in, and the table the column itself."""
        return f"{self.name.removesuffix(self.column.name)}{self.column.in_table}"


def _spots(table: Table) -> Iterator[_Spot]:
    yield from _inside(table.columns, (), (), table.path)


def _inside(
    columns: Sequence[Column], names: tuple[str, ...], in_table: tuple[str, ...], path: KeyPath
) -> Iterator[_Spot]:
    steps: dict[str, KeyPath] = {ITEM: ("items",), KEY: ("map", "key"), VALUE: ("map", "value")}
    for number, column in enumerate(columns):
        name, spelt = (*names, column.name), (*in_table, column.in_table)
        at = (*path, *steps.get(column.name, ("properties", number)))
        yield _Spot(column, dotted(name), dotted(spelt), at, not names)
        yield from _inside(column.fields, name, spelt, at)


def _table(table: Table) -> Iterator[Check]:
    spots = list(_spots(table))
    yield from _key(table, spots)
    for spot in spots:
        yield from _column(table, spot)
    names = {spot.name: spot.in_table for spot in reversed(spots)}
    for rule in table.rules:
        yield _rule(table, rule, names)


def _key(table: Table, spots: Sequence[_Spot]) -> Iterator[Check]:
    keys = [spot for spot in spots if spot.top and spot.column.primary_key]
    if not keys:
        return
    for key in keys:
        source = _source_of_nulls(table, key.in_table)
        path = (*key.path, "primaryKey")
        yield _check(table, key.in_table, "nullValues", source, Operator.EQUAL, 0, "primary key", path)
    arguments: Arguments = (("properties", tuple(key.in_table for key in keys)),)
    column = keys[0].in_table if len(keys) == 1 else ""
    path = (*keys[0].path, "primaryKey")
    yield _check(table, column, "duplicateValues", Source.PASS, Operator.EQUAL, 0, "primary key", path, arguments)


def _column(table: Table, spot: _Spot) -> Iterator[Check]:
    column, name = spot.column, spot.in_table
    if column.required and not (spot.top and column.primary_key):
        source = _source_of_nulls(table, name) if spot.top else Source.PASS
        path = (*spot.path, "required")
        yield _check(table, name, "nullValues", source, Operator.EQUAL, 0, "required", path)
    if column.unique:
        path = (*spot.path, "unique")
        yield _check(table, name, "duplicateValues", Source.PASS, Operator.EQUAL, 0, "unique", path)
    for limit, value in column.limits:
        yield _limit(table, spot, limit, value)


def _limit(table: Table, spot: _Spot, limit: str, value: Any) -> Check:
    name = spot.in_table
    path = (*spot.path, limit) if limit == "enum" else (*spot.path, "logicalTypeOptions", limit)
    if limit in _LIMITS:
        metric, operator = _LIMITS[limit]
        is_bound = metric in ("minimum", "maximum")
        source = _source_of_bound(table, spot.column) if is_bound and spot.top else Source.PASS
        return _check(table, name, metric, source, operator, value, limit, path)
    if limit == "enum":
        arguments: Arguments = (("validValues", value),)
        return _check(table, name, "invalidValues", Source.PASS, Operator.EQUAL, 0, limit, path, arguments)
    pattern = value if limit == "pattern" else FORMATS.get(str(value)) if limit == "format" else None
    if pattern is not None:
        arguments = (("pattern", pattern),)
        return _check(table, name, "invalidValues", Source.PASS, Operator.EQUAL, 0, limit, path, arguments)
    reason = f"floe has no check for {limit} {value}"
    return replace(_check(table, name, limit, Source.NOBODY, None, value, limit, path), reason=reason)


def _rule(table: Table, rule: Rule, names: Mapping[str, str]) -> Check:
    """A rule's check; `names` tells how the table calls what the contract names."""
    base = Check(
        id="",
        table=table.in_catalog,
        column=names.get(rule.column, rule.column),
        metric=rule.metric or rule.kind.value,
        source=Source.PASS,
        operator=rule.operator,
        threshold=rule.threshold,
        arguments=tuple(_in_table(name, value, names) for name, value in rule.arguments),
        percent=rule.unit.casefold() in ("percent", "%"),
        severity=rule.severity,
        weight=rule.weight,
        origin=f"rule {rule.name}".strip(),
        path=rule.path,
    )
    match rule.kind:
        case RuleKind.SQL:
            from floe_contracts.sql import refusal  # sqlglot is slow to import, and few contracts need it

            reason = refusal(rule.query)
            source = Source.NOBODY if reason else Source.QUERY
            told = f"the query {reason}" if reason else ""
            return replace(base, query=rule.query, source=source, reason=told)
        case RuleKind.TEXT:
            return replace(base, source=Source.NOBODY, reason="a text, for readers")
        case RuleKind.CUSTOM:
            return replace(base, source=Source.NOBODY, reason=f"run by {rule.engine or 'another tool'}")
        case RuleKind.LIBRARY:
            return _library(table, rule, base)


def _in_table(name: str, value: Any, names: Mapping[str, str]) -> tuple[str, Any]:
    if name == "properties" and isinstance(value, tuple):
        return name, tuple(names.get(item, item) if isinstance(item, str) else item for item in value)
    return name, value


def _library(table: Table, rule: Rule, base: Check) -> Check:
    if rule.metric not in _LIBRARY:
        return replace(
            base, source=Source.NOBODY, reason=f"floe does not know the metric {rule.metric or '(none)'}"
        )
    if rule.operator is None:
        return replace(base, source=Source.NOBODY, reason="the rule compares with nothing")
    arguments = dict(rule.arguments)
    if rule.metric == "rowCount" and not arguments:
        return replace(base, column="", source=Source.METADATA)
    if rule.metric == "invalidValues" and not {"validValues", "pattern"} & arguments.keys():
        return replace(base, source=Source.NOBODY, reason="the rule names neither validValues nor a pattern")
    if not rule.column and rule.metric != "duplicateValues":
        return replace(base, source=Source.NOBODY, reason="the rule is about a column and names none")
    only_nulls = rule.metric == "nullValues" or set(arguments.get("missingValues", ())) <= {None}
    if rule.metric in ("nullValues", "missingValues") and only_nulls and "." not in rule.column:
        return replace(base, source=_source_of_nulls(table, base.column))
    return base


def _check(
    table: Table,
    column: str,
    metric: str,
    source: Source,
    operator: Operator | None,
    threshold: Any,
    origin: str,
    path: KeyPath,
    arguments: Arguments = (),
) -> Check:
    name = table.in_catalog
    return Check("", name, column, metric, source, operator, threshold, arguments, origin=origin, path=path)


def _source_of_nulls(table: Table, name: str) -> Source:
    names = [column.in_table for column in table.columns[:METRIC_COLUMNS] if not column.fields]
    return Source.METADATA if name in names else Source.PASS


def _source_of_bound(table: Table, column: Column) -> Source:
    known = column in table.columns[:METRIC_COLUMNS] and column.type.kind in _EXACT_BOUNDS
    return Source.METADATA if known else Source.PASS
