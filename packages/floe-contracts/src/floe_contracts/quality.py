"""How quality rules change: which of two asks for more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from floe_core.checks import Operator, Rule, RuleKind
from floe_core.table import Change


def counted(items: Iterable[tuple[str, Any]]) -> dict[tuple[str, int], Any]:
    """Things by their key; the second of the same key is another thing."""
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], Any] = {}
    for key, item in items:
        found[(key, seen[key])] = item
        seen[key] += 1
    return found


def rule_changes(old: Sequence[Rule], new: Sequence[Rule]) -> Iterator[Change]:
    """Rules that ask the same are one rule, whatever they are called and wherever they stand.

    The others have names, or are known by what they measure; a text is for readers and promises nothing.
    """
    left, right = _differing(old, new)
    before, after = (counted((_rule_key(rule), rule) for rule in rules) for rules in (left, right))
    for key, rule in before.items():
        if key not in after:
            yield Change("rule-removed", _rule_path(rule), old=rule.label)
        elif change := _rule_change(rule, after[key]):
            yield Change(change, _rule_path(rule), rule.label, after[key].label)
    for key, rule in after.items():
        if key not in before:
            yield Change("rule-added", _rule_path(rule), new=rule.label)


def _differing(old: Sequence[Rule], new: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """Both lists without the rules that the other has too."""
    left, unmatched = [], defaultdict[str, list[Rule]](list)
    for rule in new:
        if rule.kind is not RuleKind.TEXT:
            unmatched[rule.column].append(rule)
    for rule in old:
        if rule.kind is RuleKind.TEXT:
            continue
        same = next((other for other in unmatched[rule.column] if not _rule_change(rule, other)), None)
        if same is None:
            left.append(rule)
        else:
            unmatched[rule.column].remove(same)
    return left, [rule for rules in unmatched.values() for rule in rules]


def _rule_key(rule: Rule) -> str:
    told = rule.name or rule.metric or rule.query or rule.implementation
    return "\0".join((rule.column, told))


def _rule_path(rule: Rule) -> tuple[str, ...]:
    return tuple(filter(None, (*rule.column.split("."), "quality", rule.name or rule.metric or rule.kind.value)))


def _rule_change(old: Rule, new: Rule) -> str:
    if _measured(old) != _measured(new):
        return "rule-changed"
    steps = [_bound_change(old, new), _severity_change(old, new), _values_change(old, new)]
    directions = {step for step in steps if step}
    if not directions:
        return ""
    return f"rule-{directions.pop()}" if len(directions) == 1 else "rule-changed"


def _measured(rule: Rule) -> tuple[object, ...]:
    """What a rule measures, without what is legal."""
    arguments = tuple(item for item in rule.arguments if item[0] not in _VALUES)
    counted = rule.metric, arguments, rule.query, rule.engine, rule.implementation
    return rule.kind, *counted, _is_percent(rule)


def _is_percent(rule: Rule) -> bool:
    return rule.unit.casefold() in ("percent", "%")


_SEVERITIES = {"info": 0, "warning": 1, "warn": 1, "error": 2, "": 2, "critical": 3}


def _severity_change(old: Rule, new: Rule) -> str:
    before, after = (_SEVERITIES.get(rule.severity.casefold()) for rule in (old, new))
    if before == after:
        return "" if before is not None or old.severity == new.severity else "changed"
    if before is None or after is None:
        return "changed"
    return "tightened" if after > before else "loosened"


def _bound_change(old: Rule, new: Rule) -> str:
    if (old.operator, old.threshold) == (new.operator, new.threshold):
        return ""
    before, after = _legal(old), _legal(new)
    if before is None or after is None:
        return "changed"
    if before == after:
        return ""
    if _within(after, before):
        return "tightened"
    return "loosened" if _within(before, after) else "changed"


_VALUES = {"validValues": "loosened", "missingValues": "tightened"}  # what one more value does to a rule


def _values_change(old: Rule, new: Rule) -> str:
    """Lists of values in the arguments; of a rule that asks for many of the bad ones nothing can be said."""
    before, after = dict(old.arguments), dict(new.arguments)
    changed = [name for name in _VALUES if before.get(name) != after.get(name)]
    if not changed:
        return ""
    [name, *more] = changed
    one, two = before.get(name), after.get(name)
    if more or not isinstance(one, tuple) or not isinstance(two, tuple):
        return "changed"
    smaller, larger = (all(item in theirs for item in mine) for mine, theirs in ((one, two), (two, one)))
    if smaller == larger:
        return "" if smaller else "changed"
    if not _is_ceiling(old, new):
        return "changed"
    grown = _VALUES[name]
    return grown if smaller else "tightened" if grown == "loosened" else "loosened"


def _is_ceiling(*rules: Rule) -> bool:
    return all(
        rule.operator in (Operator.LESS, Operator.AT_MOST)
        or (rule.operator is Operator.EQUAL and rule.threshold == 0)
        for rule in rules
    )


_INFINITE = float("inf")
Interval: TypeAlias = tuple[float, bool, float, bool]  # low, open, high, open


def _legal(rule: Rule) -> Interval | None:
    """The legal values as one interval; None when they are none."""
    value = rule.threshold
    numbers = value if isinstance(value, tuple) else (value,)
    if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in numbers):
        return None
    match rule.operator:
        case Operator.EQUAL:
            return (value, False, value, False)
        case Operator.GREATER:
            return (value, True, _INFINITE, False)
        case Operator.AT_LEAST:
            return (value, False, _INFINITE, False)
        case Operator.LESS:
            return (-_INFINITE, False, value, True)
        case Operator.AT_MOST:
            return (-_INFINITE, False, value, False)
        case Operator.BETWEEN:
            return (value[0], False, value[1], False)
        case _:
            return None


def _within(inner: Interval, outer: Interval) -> bool:
    low, low_open, high, high_open = inner
    from_, from_open, to, to_open = outer
    starts = low > from_ or (low == from_ and (low_open or not from_open))
    ends = high < to or (high == to and (high_open or not to_open))
    return starts and ends
