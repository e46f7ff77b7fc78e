"""An explicit contract completed by the generated one, field by field, each field knowing where it came from."""

from __future__ import annotations

from typing import Any

from floe_contracts.read import Draft
from floe_contracts.writer import Find
from floe_core.contract import Json, Origin
from floe_core.source import KeyPath

# Lists whose entries have a name: merged entry by entry. Every other list is replaced as a whole.
_NAMED = {"schema": "name", "properties": "name", "slaProperties": "property", "customProperties": "property"}
# Words of the generated contract that an explicit one does not inherit.
_OWN = frozenset({"apiVersion", "kind"})


def merge(explicit: Draft, generated: Draft) -> Draft:
    """The explicit contract; what it leaves open comes from the generated one."""
    weaver = _Weaver(explicit.origin, generated.origin)
    written = {key: value for key, value in explicit.data.items() if key not in explicit.filled}
    other = generated.data
    if str(written["apiVersion"]).startswith("v3.0."):
        other = as_3_0(other)
    data = weaver.mapping(written, other, (), (), ())
    missing = {key: explicit.data[key] for key in explicit.filled if key not in data}

    def origin(path: KeyPath) -> Origin:
        for end in range(len(path), -1, -1):
            if path[:end] in weaver.origins:
                find, start = weaver.origins[path[:end]]
                return find((*start, *path[end:]))
        return explicit.origin(())

    return Draft({**missing, **data}, origin, explicit.path, explicit.shorthand, tuple(missing))


class _Weaver:
    """Builds the merged document and notes, for every subtree, whose it is and where it stands there."""

    def __init__(self, mine: Find, theirs: Find) -> None:
        self.mine, self.theirs = mine, theirs
        self.origins: dict[KeyPath, tuple[Find, KeyPath]] = {(): (mine, ())}

    def mapping(self, explicit: Json, generated: Json, at: KeyPath, mine: KeyPath, theirs: KeyPath) -> Json:
        merged: Json = {}
        for key, value in explicit.items():
            other = generated.get(key)
            here, in_mine, in_theirs = (*at, key), (*mine, key), (*theirs, key)
            self.origins[here] = (self.mine, in_mine)
            if key in _NAMED and isinstance(value, list) and isinstance(other, list):
                merged[key] = self.named(key, value, other, here, in_mine, in_theirs)
            elif key == "quality" and isinstance(value, list) and isinstance(other, list):
                merged[key] = self.rules(value, other, here, in_theirs)
            elif isinstance(value, dict) and isinstance(other, dict):
                merged[key] = self.mapping(value, other, here, in_mine, in_theirs)
            else:
                merged[key] = value
        for key, value in generated.items():
            if key not in explicit and not (key in _OWN and not at) and not _spoken_for(key, explicit, generated):
                merged[key] = value
                self.origins[(*at, key)] = (self.theirs, (*theirs, key))
        return merged

    def named(
        self, key: str, explicit: list[Any], generated: list[Any], at: KeyPath, mine: KeyPath, theirs: KeyPath
    ) -> list[Any]:
        name = _NAMED[key]
        others = {item[name]: number for number, item in enumerate(generated)}
        merged: list[Any] = []
        for number, item in enumerate(explicit):
            here = (*at, number)
            self.origins[here] = (self.mine, (*mine, number))
            other = others.pop(item[name], None)
            merged.append(
                item
                if other is None
                else self.mapping(item, generated[other], here, (*mine, number), (*theirs, other))
            )
        for number in others.values():
            self.origins[(*at, len(merged))] = (self.theirs, (*theirs, number))
            merged.append(generated[number])
        return merged

    def rules(self, explicit: list[Any], generated: list[Any], at: KeyPath, theirs: KeyPath) -> list[Any]:
        """Quality rules add up: two rules of the same metric stay two."""
        merged = list(explicit)
        for number, rule in enumerate(generated):
            if rule not in merged:
                self.origins[(*at, len(merged))] = (self.theirs, (*theirs, number))
                merged.append(rule)
        return merged


def _spoken_for(key: str, explicit: Json, generated: Json) -> bool:
    """A type is one thing said in two keys: whoever writes one of them has chosen. Its limits still add up."""
    if key == "logicalTypeOptions":
        return explicit.get("logicalType") not in (None, generated.get("logicalType"))
    return key in ("logicalType", "physicalType") and ("logicalType" in explicit or "physicalType" in explicit)


def as_3_0(block: Json) -> Json:
    """A generated document in the words of ODCS 3.0: no team object, fewer types, rules without `metric`."""
    if isinstance(team := block.get("team"), dict):
        block = {**block, "team": team.get("members") or []}
    if isinstance(rules := block.get("quality"), list):
        block = {**block, "quality": [_rule_3_0(rule) for rule in rules]}
    if block.get("logicalType") in ("timestamp", "time"):
        word = block["logicalType"]
        block = {key: value for key, value in block.items() if key != "logicalType"}
        block.setdefault("physicalType", word)
    for key in ("schema", "properties"):
        if isinstance(inner := block.get(key), list):
            block = {**block, key: [as_3_0(item) for item in inner]}
    return block


def _rule_3_0(rule: Json) -> Json:
    beside = {key: value for key, value in rule.items() if key != "arguments"}
    named = {"rule" if key == "metric" else key: value for key, value in beside.items()}
    return {**named, **rule.get("arguments", {})}
