"""Versions: which one a change needs, and whether a contract says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from floe_contracts.changes import CLASSES, Bump, bump_of, compare, required_bump
from floe_contracts.judge import VERSION
from floe_core.contract import Baseline, Contract
from floe_core.findings import Finding, Place, Related, Severity
from floe_core.schemas.levels import InitialDevelopment, Widening
from floe_core.table import Change, ColumnChange

Release: TypeAlias = tuple[int, int, int]
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Rules:
    """How strictly versions are judged (`data_contracts.versioning`)."""

    widening: Widening = Widening.MAJOR
    initial: InitialDevelopment = InitialDevelopment.STRICT


def release(version: str) -> Release | None:
    """X.Y.Z as numbers; None for anything else."""
    if not VERSION.fullmatch(version):
        return None
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def raised(version: Release, bump: Bump) -> Release:
    """The smallest version above this one that says what the bump says."""
    major, minor, patch = version
    match bump:
        case Bump.MAJOR:
            return major + 1, 0, 0
        case Bump.MINOR:
            return major, minor + 1, 0
        case Bump.PATCH:
            return major, minor, patch + 1
        case Bump.NONE:
            return version


def bump_between(old: Release, new: Release) -> Bump:
    """Which part of a version grew."""
    for part, bump in zip(range(3), (Bump.MAJOR, Bump.MINOR, Bump.PATCH), strict=True):
        if old[part] != new[part]:
            return bump
    return Bump.NONE


@dataclass(frozen=True, slots=True)
class Verdict:
    """What changed, the bump it needs, and the smallest version that says so."""

    changes: tuple[Change, ...]
    required: Bump
    version: str
    widening: Widening = Widening.MAJOR


def verdict(old: Contract, new: Contract, rules: Rules = Rules()) -> Verdict:
    """Compare two contracts. A version that already says enough stays, and so does an older MAJOR line."""
    changes = tuple(compare(old, new))
    required = required_bump(changes, rules.widening)
    before, after = release(old.version), release(new.version)
    if before is None:
        return Verdict(changes, required, new.version if after else "1.0.0", rules.widening)
    required = _forgiven(required, before, rules)
    needed = raised(before, required)
    enough = after is not None and (after >= needed or after[0] < before[0] or (after > before and not changes))
    version = new.version if enough else _spell(needed)
    return Verdict(changes, required, version, rules.widening)


def _forgiven(required: Bump, old: Release, rules: Rules) -> Bump:
    """Below 1.0.0, where the platform lets it, every change only needs to be visible."""
    if rules.initial is InitialDevelopment.FREE and old[0] == 0 and required:
        return Bump.PATCH
    return required


def _spell(version: Release) -> str:
    return ".".join(map(str, version))


def check_version(old: Contract, new: Contract, rules: Rules = Rules()) -> list[Finding]:
    """Whether the new version says what the change is."""
    before, after = release(old.version), release(new.version)
    place = new.place(("version",))
    if after is None:
        message = f"version {new.version[:40]} is not X.Y.Z"
        return [Finding("FLOE-E521", message, place, actual=new.version[:40])]
    if before is None:
        return []  # the registered one cannot be compared; its own finding says so
    judged = verdict(old, new, rules)
    shown = _related(judged.changes, new, rules)
    findings = _warnings(judged.changes, new)
    if after < before:
        if after[0] == before[0]:
            message = f"version {new.version} is older than {old.version}, which is registered"
            fix = f"Use {judged.version} or later."
            return [Finding("FLOE-E524", message, place, fix=fix, expected=f"> {old.version}", actual=new.version)]
        return findings  # an older MAJOR line goes on beside the newer one
    if judged.version == new.version:
        return findings
    code, message = _complaint(old, new, judged, before == after)
    fix = f"Use version {judged.version}: `floe contract bump --write` does it."
    blocking = Finding(code, message, place, fix=fix, expected=judged.version, actual=new.version, related=shown)
    return [blocking, *findings]


def _complaint(old: Contract, new: Contract, judged: Verdict, same: bool) -> tuple[str, str]:
    needs = f"{old.version} → {new.version} needs a {judged.required.name} bump"
    if judged.required is Bump.MAJOR:
        return "FLOE-E520", f"breaking change without a MAJOR version: {needs}"
    if same and new.document_hash != old.document_hash:
        return "FLOE-E523", f"version {new.version} is registered with other content; {needs}"
    return "FLOE-E522", f"the contract changed: {needs}"


def _related(changes: Sequence[Change], new: Contract, rules: Rules) -> tuple[Related, ...]:
    """The changes that ask for the most, at the tables they are in."""
    most = required_bump(changes, rules.widening)
    told = [change for change in changes if bump_of(change, rules.widening) is most]
    lines = [Related(_place(change, new), describe(change)) for change in told[:SHOWN]]
    if more := len(told) - len(lines):
        lines.append(Related(new.place(), f"and {more} more"))
    return tuple(lines)


def _place(change: Change, contract: Contract) -> Place:
    table = contract.table(change.path[0]) if change.path else None
    if table is None:
        return contract.place()
    for number, column in enumerate(table.columns):
        if len(change.path) > 1 and column.name == change.path[1]:
            return contract.place((*table.path, "properties", number, "name"))
    return contract.place((*table.path, "name"))


def describe(change: Change) -> str:
    """A change in one line: what, where, from, to."""
    values = f": {change.old or 'nothing'} → {change.new or 'nothing'}" if change.old or change.new else ""
    text = f"{CLASSES[change.id].description}: {change.where}{values}"
    return text if len(text) <= 160 else text[:157] + "..."


def _warnings(changes: Iterable[Change], new: Contract) -> list[Finding]:
    return [
        Finding(
            "FLOE-E527",
            f"consumers of {change.where} may meet nulls",
            _place(change, new),
            Severity.WARNING,
        )
        for change in changes
        if change.id == ColumnChange.BECAME_OPTIONAL
    ]


@dataclass(frozen=True, slots=True)
class Registered:
    """A baseline made of contracts that are at hand: files, or what a registry returned."""

    contracts: Sequence[Contract]

    def previous(self, contract: Contract) -> Contract | None:
        """See `floe_core.contract.Baseline`."""
        same = [item for item in self.contracts if item.name == contract.name and release(item.version)]
        ordered = sorted(same, key=lambda item: release(item.version) or (0, 0, 0))
        wanted = release(contract.version)
        if wanted is None or not ordered:
            return ordered[-1] if ordered else None
        if known := [item for item in ordered if release(item.version) == wanted]:
            return known[-1]
        line = [item for item in ordered if (release(item.version) or (0, 0, 0))[0] == wanted[0]]
        return (line or ordered)[-1]


def settle(baseline: Baseline, new: Contract, rules: Rules = Rules()) -> tuple[Contract, Verdict] | None:
    """The registered contract that decides, and the smallest version that it lets pass; None where none is.

    A version that says enough after one registered version may be taken by the next one, with other content.
    """
    candidate = new
    while old := baseline.previous(candidate):
        judged = verdict(old, candidate, rules)
        if judged.version == candidate.version:
            return old, judged
        candidate = replace(new, version=judged.version)
    return None
