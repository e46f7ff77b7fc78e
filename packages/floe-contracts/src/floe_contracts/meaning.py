"""What a valid document means: tables, columns, rules, service levels, lifecycle."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

from floe_contracts.columns import read_columns
from floe_contracts.read import Draft
from floe_contracts.shorthand import DEPRECATION, OWNER
from floe_contracts.sla import read_slas
from floe_core.checks import Arguments, Operator, Rule, RuleKind
from floe_core.contract import Contract, Deprecation, Json, Status, Table
from floe_core.source import KeyPath
from floe_core.table import ITEM, KEY, VALUE

EXTENDS = "floe.extends"
WEIGHT = "floe.weight"
ARGUMENTS = ("validValues", "missingValues", "pattern", "properties")
_STATUSES = {item.value: item for item in Status}
# ODCS 3.0 calls the metric `rule` and leaves its words open; these are the ones its documentation uses.
_METRICS = {
    "duplicateCount": "duplicateValues",
    "duplicate": "duplicateValues",
    "unique": "duplicateValues",
    "nullCheck": "nullValues",
    "nullCount": "nullValues",
    "validValues": "invalidValues",
}


def understand(draft: Draft, *, prefix: str = "") -> Contract:
    """The meaning of a document; `prefix` is the part of its name that only repeats domain and product."""
    data = draft.data
    name = str(data.get("name") or data["id"])
    return Contract(
        name=name.removeprefix(prefix) or name,
        id=str(data["id"]),
        version=str(data["version"]),
        status=_STATUSES.get(str(data.get("status", "active")).casefold(), Status.ACTIVE),
        api_version=str(data["apiVersion"]),
        owner=owner_of(data),
        tables=tuple(_table(item, ("schema", number)) for number, item in enumerate(data.get("schema") or ())),
        slas=tuple(read_slas(data)[0]),
        deprecation=_deprecation(data),
        extends=str(custom(data, EXTENDS) or ""),
        document=data,
        origin=draft.origin,
    )


def custom(block: Json, name: str) -> Any:
    """The value of a custom property."""
    found = (item.get("value") for item in block.get("customProperties") or () if item.get("property") == name)
    return next(found, None)


def custom_path(block: Json, name: str) -> KeyPath:
    """Where the value of a custom property stands."""
    entries = block.get("customProperties") or ()
    numbers = (number for number, item in enumerate(entries) if item.get("property") == name)
    return next((("customProperties", number, "value") for number in numbers), ())


def owner_of(data: Json) -> str:
    """Who answers for a contract: the team's owner, the team, or its first member."""
    team = data.get("team")
    members = team if isinstance(team, list) else (team or {}).get("members") or []
    owners = [item for item in members if "owner" in str(item.get("role", "")).casefold()]
    named = [str(item.get("username") or item.get("name") or "") for item in (*owners, *members)]
    name = str(team.get("name") or "") if isinstance(team, dict) else ""
    return str(custom(data, OWNER) or (named[0] if owners else "") or name or next(iter(named), ""))


def read_date(value: Any) -> date | None:
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        return None


def _deprecation(data: Json) -> Deprecation | None:
    block = custom(data, DEPRECATION)
    if not isinstance(block, dict):
        return None
    return Deprecation(
        announced=read_date(block.get("announced")),
        sunset_date=read_date(block.get("sunset_date")),
        replacement=str(block.get("replacement") or ""),
        migration_guide=str(block.get("migration_guide") or ""),
        path=custom_path(data, DEPRECATION),
    )


def _table(item: Json, path: KeyPath) -> Table:
    return Table(
        str(item["name"]),
        read_columns(item.get("properties")),
        physical_name=str(item.get("physicalName") or ""),
        description=str(item.get("description") or ""),
        rules=tuple(_rules(item, "", path)),
        path=path,
    )


def _rules(block: Json, column: str, path: KeyPath) -> Iterator[Rule]:
    for number, item in enumerate(block.get("quality") or ()):
        yield _rule(item, column, (*path, "quality", number))
    for number, inner in enumerate(block.get("properties") or ()):
        name = str(inner["name"])
        yield from _rules(inner, f"{column}.{name}" if column else name, (*path, "properties", number))
    if isinstance(items := block.get("items"), dict):
        yield from _rules(items, f"{column}{ITEM}", (*path, "items"))
    if isinstance(mapping := block.get("map"), dict):
        for side, name in (("key", KEY), ("value", VALUE)):
            yield from _rules(mapping.get(side) or {}, f"{column}.{name}", (*path, "map", side))


def _rule(item: Json, column: str, path: KeyPath) -> Rule:
    operator = next((word for word in Operator if word.value in item), None)
    metric = str(item.get("metric") or item.get("rule") or "")
    weight = custom(item, WEIGHT)
    return Rule(
        kind=RuleKind(item.get("type") or "library"),
        column=column,
        name=str(item.get("name") or item.get("id") or ""),
        metric=_METRICS.get(metric, metric),
        arguments=_arguments(item),
        operator=operator,
        threshold=_frozen(item[operator.value]) if operator else None,
        unit=str(item.get("unit") or ""),
        query=str(item.get("query") or ""),
        engine=str(item.get("engine") or ""),
        implementation=json.dumps(item["implementation"], sort_keys=True) if "implementation" in item else "",
        severity=str(item.get("severity") or ""),
        weight=float(weight) if isinstance(weight, int | float) and weight >= 0 else 1.0,
        description=str(item.get("description") or ""),
        path=path,
    )


def _arguments(rule: Json) -> Arguments:
    """ODCS 3.0 writes arguments beside the rule, later versions under `arguments`."""
    beside = {name: rule[name] for name in ARGUMENTS if name in rule} if "rule" in rule else {}
    arguments = {**beside, **(rule.get("arguments") or {})}
    return tuple((name, _frozen(arguments[name])) for name in sorted(arguments))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
