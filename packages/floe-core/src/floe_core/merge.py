"""The strengthen-only fold: enterprise, domain and product become one; every setting remembers who said what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from floe_core.defaults import CONVENTIONS, PATTERN, implied, with_prefixes
from floe_core.findings import Finding, Place, PolicyViolationError, Related, Severity
from floe_core.naming import some_name_matches
from floe_core.order import Own, Strategy, show
from floe_core.schemas.manifest import Manifest
from floe_core.settings import SettingPath, Settings, flatten, strategies, strategy_at, unflatten


@dataclass(frozen=True, slots=True)
class Tier:
    """One file of the chain: what it says, and where."""

    name: str
    settings: Settings
    locate: Callable[[SettingPath], Place]
    is_manifest: bool = True


@dataclass(frozen=True, slots=True)
class Statement:
    """What one tier said about one setting."""

    tier: str
    value: Any
    place: Place
    default: bool = False


@dataclass(frozen=True, slots=True)
class Leaf:
    """A merged setting: the value in force, and everything that was said about it, topmost tier first."""

    path: SettingPath
    strategy: Strategy
    value: Any
    statements: tuple[Statement, ...]

    @property
    def is_stated(self) -> bool:
        """Whether any tier said it, rather than a default."""
        return not all(item.default for item in self.statements)

    @property
    def setters(self) -> tuple[Statement, ...]:
        """Who the value comes from: the first tier to say it, or every tier that added to it."""
        same = tuple(item for item in self.statements if item.value == self.value)
        return same[:1] or self.statements


@dataclass(frozen=True, slots=True)
class Merged:
    """The settings in force."""

    leaves: dict[SettingPath, Leaf] = field(default_factory=dict)
    blocks: frozenset[SettingPath] = frozenset()

    def get(self, path: SettingPath, default: Any = None) -> Any:
        leaf = self.leaves.get(path)
        return leaf.value if leaf else default

    def manifest(self) -> Manifest:
        """The merged manifest, as if one tier had said it all."""
        return unflatten(Settings({path: leaf.value for path, leaf in self.leaves.items()}, self.blocks))


def merge_tiers(tiers: Iterable[Tier], *, defaults: bool = True) -> tuple[Merged, list[Finding]]:
    """Fold the tiers from the top down. A weaker value is reported and the stricter one stays."""
    merged, findings = Merged(), list[Finding]()
    for tier in tiers:
        merged, found = _strengthen(merged, tier, defaults)
        findings += found
    return merged, findings


def merge_manifests(parent: Manifest, child: Manifest) -> Manifest:
    """Merge a child with its parent; raise PolicyViolationError with every weakening there is."""
    tiers = (
        Tier("parent", flatten(parent), lambda _: Place("parent")),
        Tier("child", flatten(child), lambda _: Place("child")),
    )
    merged, findings = merge_tiers(tiers, defaults=False)
    if weakenings := [item for item in findings if item.blocks]:
        raise PolicyViolationError(*weakenings)
    return merged.manifest()


def _strengthen(above: Merged, tier: Tier, defaults: bool) -> tuple[Merged, list[Finding]]:
    settings = with_prefixes(tier.settings, above.get(PATTERN))
    said = {
        path: Statement(tier.name, value, tier.locate(path if path in tier.settings.values else PATTERN))
        for path, value in settings.values.items()
    }
    if defaults:
        inherited = {path: leaf.value for path, leaf in above.leaves.items()}
        spoken = frozenset(path for path, leaf in above.leaves.items() if leaf.is_stated)
        brings = settings if tier.is_manifest else Settings({}, frozenset())  # a product's gate opens no others
        for default in implied(brings, inherited, above.blocks, spoken):
            place = tier.locate(default.since)
            said[default.path] = Statement(tier.name, default.value, place, default=True)
    leaves = {
        path: leaf
        for path, leaf in above.leaves.items()
        if not (tier.is_manifest and isinstance(leaf.strategy, Own))
    }
    findings: list[Finding] = []
    for path, statement in said.items():
        leaf = leaves.get(path)
        if leaf is None:
            leaves[path] = Leaf(path, strategy_at(path), statement.value, (statement,))
        elif leaf.strategy.holds(statement.value, leaf.value):
            leaves[path] = _joined(leaf, statement)
            findings += _contradictions(leaf, leaves[path], statement)
        else:
            findings.append(_weakening(leaf, statement))
    return Merged(leaves, above.blocks | settings.blocks), findings


def _joined(leaf: Leaf, statement: Statement) -> Leaf:
    value = leaf.strategy.join(leaf.value, statement.value)
    return Leaf(leaf.path, leaf.strategy, value, (*leaf.statements, statement))


def _weakening(leaf: Leaf, statement: Statement) -> Finding:
    strategy, parent, child = leaf.strategy, leaf.value, statement.value
    demands = [said for said in leaf.statements if not strategy.holds(child, said.value)]
    return Finding(
        strategy.code,
        f"{short_name(leaf.path)} {strategy.complaint(child, parent)}",
        statement.place,
        fix=f"{strategy.cure(child, parent)[0].upper()}{strategy.cure(child, parent)[1:]}.",
        expected=strategy.demand(parent),
        actual=show(child),
        related=tuple(
            Related(
                said.place,
                f"{said.tier} requires {strategy.demand(said.value)}{' (by default)' if said.default else ''}",
            )
            for said in demands
        ),
    )


def _contradictions(before: Leaf, after: Leaf, statement: Statement) -> list[Finding]:
    """Naming patterns of several tiers that leave no name, or that cannot be compared."""
    if after.path != CONVENTIONS or len(after.value) == len(before.value):
        return []
    verdict = some_name_matches(after.value)
    if verdict:
        return []
    related = tuple(
        Related(said.place, f"{said.tier} allows {show(said.value[0])}")
        for said in before.statements
        if said.value and said.value[0]
    )
    if verdict is None:
        written = any(pattern.regex for group in after.value for pattern in group)
        reason = "they use regular expressions" if written else "there are too many"
        message = f"whether a name can match every tier's patterns is not decided: {reason}"
        return [Finding("FLOE-E163", message, statement.place, Severity.INFO, related=related)]
    message = f"no name can match {show(statement.value[0])} and every parent's patterns"
    return [Finding("FLOE-E163", message, statement.place, related=related)]


@cache
def _last_names() -> Sequence[str]:
    return [path[-1] for path in strategies()]


def short_name(path: SettingPath) -> str:
    """The last word of a setting where that is unmistakable, its whole path otherwise."""
    unmistakable = path in strategies() and _last_names().count(path[-1]) == 1  # not under a name the user chose
    return path[-1] if unmistakable else ".".join(path)
