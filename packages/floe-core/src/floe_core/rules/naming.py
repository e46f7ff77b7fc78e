"""Names of models: any pattern of a tier will do, and every tier has its say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import re2  # type: ignore[import-untyped]  # ships no types

from floe_core.defaults import CONVENTIONS, NAMING, PATTERN
from floe_core.findings import Finding, Place, Related
from floe_core.merge import Merged
from floe_core.naming import LAYERS, Group
from floe_core.order import show
from floe_core.resolve import Chain
from floe_core.rules.context import Breach, Context, Model
from floe_core.schemas.manifest import Pattern
from floe_core.schemas.parts import NamePattern

GUIDE = "https://docs.floe.dev/naming-conventions"
HOLDS = {
    "bronze": "raw data",
    "silver": "cleaned data",
    "gold": "aggregated data",
    "stg": "staged data",
    "dim": "a dimension",
    "fact": "facts",
    "bridge": "a many-to-many relation",
    "hub": "business keys",
    "link": "relations of business keys",
    "sat": "attributes over time",
}
OTHER_PREFIXES = ("raw", "src", "source", "base", "int", "intermediate", "fct", "mart", "marts", "agg", "rpt")
_PREFIXES = frozenset((*(layer for layers in LAYERS.values() for layer in layers), *OTHER_PREFIXES))


def check_name(context: Context, model: Model) -> Iterator[Breach]:
    """E201: the name matches no pattern of some tier."""
    broken = broken_groups(model.name, context.merged)
    if not broken:
        return
    place = model.places.code(model.node)
    finding = name_finding(model.name, context.chain, context.merged, broken, place)
    yield Breach(finding, frozenset(tier for group in broken for tier in owners(group, context.merged)))


def check_patterns(context: Context) -> Iterator[Breach]:
    """E202: a regular expression that RE2 cannot read; whatever it should have judged is not judged."""
    for loaded in context.chain.manifests:
        for group in loaded.document.naming_conventions or ():
            for number, pattern in enumerate(group):
                if pattern.regex and isinstance(reason := _compiled(pattern.regex), str):
                    place = loaded.place(("naming_conventions", number, "regex"))
                    yield Breach(Finding("FLOE-E202", f"/{pattern.regex}/ is not valid RE2: {reason}", place))


def broken_groups(name: str, merged: Merged) -> list[Group]:
    """The groups of which no pattern matches the name."""
    groups = merged.get(CONVENTIONS, ())
    return [group for group in groups if group and not _matches_one(group, name)]


def _matches_one(group: Group, name: str) -> bool:
    for pattern in group:  # noqa: SIM110 - asked of every model: a generator costs more than the answer
        if matches(pattern, name):
            return True
    return False


def matches(pattern: NamePattern, name: str) -> bool:
    """Whether the whole name fits; a regular expression that cannot be read has a finding of its own."""
    if pattern.regex is None:
        return fits(pattern.glob or "", name)
    expression = _compiled(pattern.regex)
    return isinstance(expression, str) or bool(expression(name))


def fits(glob: str, name: str) -> bool:
    """Whether a glob matches a whole name."""
    if (prefix := _prefix(glob)) is not None:  # nearly all
        return name.startswith(prefix)
    expression = _compiled(_glob(glob))
    return not isinstance(expression, str) and bool(expression(name))


def owners(group: Group, merged: Merged) -> list[str]:
    """The first tier that demands a group."""
    leaf = merged.leaves[CONVENTIONS]
    return [said.tier for said in leaf.statements if group in said.value][:1]


def name_finding(name: str, chain: Chain, merged: Merged, broken: list[Group], place: Place) -> Finding:
    pattern = merged.get(PATTERN, Pattern.CUSTOM)
    label, expected = _expectation(broken[0])
    better = [*suggestions(name, broken[0], merged)]
    renames = tuple(f"Rename to {item.name}{f' ({item.holds})' if item.holds else ''}" for item in better)
    details: list[tuple[str, str | tuple[str, ...]]] = [
        ("Platform", platform(chain)),
        ("Pattern", show(pattern)),
        ("Enforcement", show(merged.get(NAMING))),
        (label, expected),
        ("Actual name", name),
        *((("Suggestions", renames),) if renames else ()),
        ("Documentation", GUIDE),
    ]
    leaf = merged.leaves[CONVENTIONS]
    return Finding(
        "FLOE-E201",
        f"Model '{name}' violates naming convention",
        place,
        fix="; or ".join(renames) + "." if renames else "",
        expected=expected,
        actual=name,
        related=tuple(
            Related(said.place, f"{said.tier} allows {show(group)}")
            for group in broken
            for said in [item for item in leaf.statements if group in item.value][:1]
        ),
        details=tuple(details),
    )


def platform(chain: Chain) -> str:
    """The platform and its version, as people call it."""
    if not chain.manifests:
        return "none"
    about = chain.manifests[0].document.metadata
    return f"{about.name} v{about.version}" if about.version else about.name


def _expectation(group: Group) -> tuple[str, str]:
    only_prefixes = all(re.fullmatch(r"[^*?]+\*", pattern.glob or "") for pattern in group)
    return "Expected prefixes" if only_prefixes else "Expected names", ", ".join(map(str, group))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name that would do, and what models of that name hold."""

    name: str
    holds: str


def suggestions(name: str, group: Group, merged: Merged) -> Iterator[Suggestion]:
    """Names like this one that every tier would accept."""
    first, _, rest = name.partition("_")
    stem = rest if rest and first in _PREFIXES else name
    for pattern in group:
        if pattern.glob and pattern.glob.count("*") == 1 and "?" not in pattern.glob:
            better = pattern.glob.replace("*", stem)
            if not broken_groups(better, merged):
                yield Suggestion(better, HOLDS.get(pattern.glob.removesuffix("_*"), ""))


@lru_cache(maxsize=1024)
def _prefix(glob: str) -> str | None:
    """What names must begin with, where that is all that a glob says."""
    prefix = glob.removesuffix("*")
    return prefix if prefix != glob and "*" not in prefix and "?" not in prefix else None


@lru_cache(maxsize=1024)
def _glob(glob: str) -> str:
    return "".join({"*": "(?s:.*)", "?": "(?s:.)"}.get(char, re.escape(char)) for char in glob)


@lru_cache(maxsize=1024)
def _compiled(expression: str) -> Callable[[str], object] | str:
    """A test of whole names, in linear time; or what is wrong with the expression."""
    options = re2.Options()
    options.log_errors = False
    try:
        return cast(Callable[[str], object], re2.compile(expression, options).fullmatch)
    except re2.error as exc:
        cause = exc.args[0] if exc.args else exc
        return cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)
