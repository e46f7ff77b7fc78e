"""`policy_overrides`: dated exceptions that a tier makes from the rules it set itself."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from floe_core.codes import CODES
from floe_core.findings import Finding, Place, Severity
from floe_core.rules.context import Breach, Context
from floe_core.rules.naming import fits
from floe_core.rules.plugins import tier_name
from floe_core.schemas.manifest import OverrideAction, PolicyOverride

PROTECTED = re.compile(r"FLOE-E(16|51|6[0-9])[0-9]")  # weakenings, contract inheritance, identity
DOWN = {
    Severity.CRITICAL: Severity.ERROR,
    Severity.ERROR: Severity.WARNING,
    Severity.WARNING: Severity.INFO,
    Severity.INFO: Severity.INFO,
}


@dataclass(frozen=True, slots=True)
class Hit:
    """A breach as the engine caught it: with its severity, its step, and the model it is about."""

    breach: Breach
    step: int
    model: str | None = None

    @property
    def finding(self) -> Finding:
        return self.breach.finding


@dataclass(eq=False, slots=True)
class Override:
    """An exception, who made it, and what came of it."""

    said: PolicyOverride
    tier: str
    place: Place
    used: bool = False
    stopped: str = ""  # the tiers whose rule it wanted to reach

    def is_expired(self, today: date) -> bool:
        return self.said.expires is not None and date.fromisoformat(self.said.expires) < today

    def wants(self, hit: Hit) -> bool:
        return hit.model is not None and fits(self.said.pattern, hit.model)


def overrides_of(context: Context) -> list[Override]:
    """Every exception of the chain, topmost tier first."""
    return [
        Override(said, tier_name(loaded), loaded.place(("governance", "policy_overrides", number)))
        for loaded in context.chain.manifests
        if loaded.document.governance
        for number, said in enumerate(loaded.document.governance.policy_overrides or ())
    ]


def apply_overrides(context: Context, hits: Iterable[Hit], judged: Collection[str]) -> list[Hit]:
    """The hits that are left, weakened where an exception says so, and what is to be said about the exceptions.

    `judged` are the codes that this run could have found; an exception from another code is not judged here.
    """
    overrides = overrides_of(context)
    by_code: defaultdict[str, list[Override]] = defaultdict(list)
    for override in overrides:
        if not override.is_expired(context.today) and not PROTECTED.fullmatch(override.said.code):
            by_code[override.said.code].append(override)
    left = [kept for hit in hits if (kept := _soften(hit, by_code.get(hit.finding.code, ())))]
    remarks = (remark for item in overrides for remark in _remarks(context, item, judged))
    return [*left, *(Hit(Breach(remark), step=4) for remark in remarks)]


def _soften(hit: Hit, overrides: Iterable[Override]) -> Hit | None:
    actions: set[OverrideAction] = set()
    for override in overrides:
        if not override.wants(hit):
            continue
        if hit.breach.owners == {override.tier}:
            override.used = True
            actions.add(override.said.action)
        else:
            override.stopped = ", ".join(sorted(hit.breach.owners - {override.tier})) or "floe itself"
    if OverrideAction.EXCLUDE in actions:
        return None
    if OverrideAction.DOWNGRADE in actions:
        weaker = replace(hit.finding, severity=DOWN[hit.finding.severity])
        return replace(hit, breach=replace(hit.breach, finding=weaker))
    return hit


def _remarks(context: Context, override: Override, judged: Collection[str]) -> Iterator[Finding]:
    said, place = override.said, override.place
    what = f"the override of {said.code} for {said.pattern}"
    if PROTECTED.fullmatch(said.code):
        yield Finding("FLOE-E179", f"{what}: nobody can override {said.code}", place, Severity.WARNING)
    elif override.is_expired(context.today):
        yield Finding("FLOE-E177", f"{what} expired on {said.expires}", place, Severity.WARNING)
    elif override.stopped:
        message = f"{what} does not reach a rule that {override.stopped} set"
        yield Finding("FLOE-E179", message, place, Severity.WARNING)
    elif said.code not in CODES:
        yield Finding("FLOE-E178", f"{what}: there is no such code", place, Severity.INFO)
    elif not override.used and context.projects and said.code in judged:
        yield Finding("FLOE-E178", f"{what} matches no finding", place, Severity.INFO)
