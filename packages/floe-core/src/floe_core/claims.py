"""Whether a product may have its name: what the levels ask for, what proves a repository, who is allowed.

Pure: what git, the CI system and the catalog say comes in as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from floe_core.findings import Finding, Place, Related, Severity
from floe_core.git import Checkout
from floe_core.identity import IdentityStatus, IdentityValidationResult, ProductMetadata, Retry
from floe_core.merge import Merged
from floe_core.namespaces import as_identifier
from floe_core.repository import is_allowed, is_same, normalise, proofs
from floe_core.resolve import Chain
from floe_core.schemas.levels import IdentityEnforcement, RegistrationMode
from floe_core.schemas.manifest import RegisteredProduct, Scope

IDENTITY = ("identity",)
REGISTRATION = ("governance", "product_registration")
REQUIRED = ("owner", "domain", "repository")


class Decision(Enum):
    """What a level makes of what the catalog says."""

    NOTHING = "nothing"  # not asked, or in order and nothing to write
    WARN = "warn"
    REGISTER = "register"  # claim it, or bring it up to date
    REFUSE = "refuse"


def decide(level: IdentityEnforcement, auto_register: bool, status: IdentityStatus) -> Decision:
    """The whole table of levels."""
    if level is IdentityEnforcement.OFF:
        return Decision.NOTHING
    if level is IdentityEnforcement.WARN:
        return Decision.NOTHING if status is IdentityStatus.VALID else Decision.WARN
    if status is IdentityStatus.CONFLICT:
        return Decision.REFUSE
    if status is IdentityStatus.VALID:
        return Decision.REGISTER
    return Decision.REGISTER if auto_register else Decision.REFUSE


@dataclass(frozen=True, slots=True)
class Rules:
    """What the merged manifests say about identity, and where."""

    level: IdentityEnforcement
    auto_register: bool
    mode: RegistrationMode
    allowed: tuple[tuple[str, ...], ...]  # one group per tier: each must match
    approved: tuple[RegisteredProduct, ...]
    places: Mapping[tuple[str, ...], tuple[Place, ...]]

    @property
    def severity(self) -> Severity:
        return Severity.WARNING if self.level <= IdentityEnforcement.WARN else Severity.ERROR

    def related(self, path: tuple[str, ...], message: str) -> tuple[Related, ...]:
        return tuple(Related(place, message) for place in self.places.get(path, ()))


def rules_of(merged: Merged) -> Rules:
    """The identity settings in force."""
    return Rules(
        merged.get((*IDENTITY, "enforcement"), IdentityEnforcement.WARN),
        merged.get((*IDENTITY, "auto_register"), True),
        merged.get((*REGISTRATION, "mode"), RegistrationMode.OPEN),
        merged.get((*REGISTRATION, "allowed_repositories"), ()),
        merged.get((*REGISTRATION, "registered_products"), ()),
        {
            path: tuple(said.place for said in leaf.setters if not said.default)
            for path, leaf in merged.leaves.items()
            if path[:1] == IDENTITY or path[:2] == REGISTRATION
        },
    )


def retry_of(merged: Merged) -> Retry:
    """How often and how patiently `registration:` wants it tried."""
    said = {
        key: merged.get((*IDENTITY, "registration", key))
        for key in ("max_attempts", "initial_backoff", "max_backoff", "jitter")
    }
    return Retry(**{key: value for key, value in said.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Claim:
    """A product that wants its name."""

    id: str
    metadata: ProductMetadata
    missing: tuple[str, ...]
    place: Callable[[str], Place]  # of a key of metadata

    @property
    def repository(self) -> str:
        return self.metadata.repository

    @property
    def path(self) -> str | None:
        return self.metadata.path


def claim_of(chain: Chain, checkout: Checkout) -> Claim:
    """What the product's file says about it, and where it lies in its repository."""
    written = chain.product.document.metadata
    domain = chain.manifests[-1].document if chain.mode == "mesh" else None
    metadata = ProductMetadata(
        written.name,
        chain.domain,
        written.owner or "",
        normalise(written.repository or ""),
        written.version,
        path=None if checkout.problem else checkout.path,
        domain_owner=domain.metadata.owner if domain and domain.scope is Scope.DOMAIN else None,
        catalog_namespace=chain.namespace().parts[0] if domain and domain.catalog_namespace else None,
    )
    missing = [key for key in REQUIRED if getattr(written, key) is None]
    if chain.mode == "mesh" and "domain" in missing:
        missing.remove("domain")

    def place(key: str) -> Place:
        at = ("metadata", key)
        return chain.product.place(at if chain.product.source.node(at) else ("metadata",))

    return Claim(chain.product_id, metadata, tuple(missing), place)


def judge(
    claim: Claim,
    rules: Rules,
    found: IdentityValidationResult | None,
    checkout: Checkout,
    env: Mapping[str, str],
    *,
    check: bool,
) -> list[Finding]:
    """Everything that speaks against the name. `found` None: the catalog has not been asked yet."""
    if rules.level is IdentityEnforcement.OFF:
        return []
    return [
        *_settings(rules),
        *_incomplete(claim, rules),
        *_unproven(claim, rules, checkout, env, check=check),
        *_not_allowed(claim, rules),
        *([] if found is None else _owned(claim, rules, found)),
    ]


def _settings(rules: Rules) -> Iterator[Finding]:
    if rules.level is IdentityEnforcement.REGISTER and not rules.auto_register:
        at = (*IDENTITY, "auto_register")
        place = next(iter(rules.places.get(at, ())), Place("manifest.yaml"))
        related = rules.related((*IDENTITY, "enforcement"), "the level is register")
        yield Finding("FLOE-E612", "auto_register: false makes `register` impossible", place, related=related)


def _incomplete(claim: Claim, rules: Rules) -> Iterator[Finding]:
    for key in claim.missing:
        message = f"{claim.id} has no metadata.{key}, which its registration needs"
        related = rules.related((*IDENTITY, "enforcement"), f"identity is {rules.level.value}")
        yield Finding("FLOE-E604", message, claim.place(key), rules.severity, related=related)


def _unproven(
    claim: Claim, rules: Rules, checkout: Checkout, env: Mapping[str, str], *, check: bool
) -> Iterator[Finding]:
    """Whether the files come from where they say. Nothing is demanded of a product that names no repository."""
    if not claim.repository:
        return
    known = proofs(checkout.remotes, env)
    writes = rules.level >= IdentityEnforcement.REGISTER and not check
    place = claim.place("repository")
    if any(is_same(claim.repository, repository) for repository in known):
        return
    if known:
        message = f"metadata.repository is {claim.repository}, and these files come from {' and '.join(known)}"
        yield Finding("FLOE-E605", message, place, _of(writes), expected=known[0], actual=claim.repository)
    else:
        why = checkout.problem or "the checkout has no remote"
        message = f"nothing shows that these files come from {claim.repository}: {why}"
        yield Finding("FLOE-E620" if writes else "FLOE-E614", message, place, _of(writes))


def _of(writes: bool) -> Severity:
    return Severity.ERROR if writes else Severity.WARNING


def _not_allowed(claim: Claim, rules: Rules) -> Iterator[Finding]:
    place = claim.place("repository")
    if claim.repository and not all(is_allowed(claim.repository, group) for group in rules.allowed):
        globs = "; and ".join(" or ".join(group) for group in rules.allowed)
        message = f"{claim.repository} may not register products here"
        related = rules.related((*REGISTRATION, "allowed_repositories"), "the repositories that may")
        yield Finding("FLOE-E606", message, place, rules.severity, expected=globs, related=related)
    if rules.mode is RegistrationMode.APPROVAL_REQUIRED and not any(
        _is_approved(claim, row) for row in rules.approved
    ):
        message = f"{claim.id} of {claim.repository or 'no repository'} is not on the approval list"
        related = rules.related((*REGISTRATION, "mode"), "products need approval")
        yield Finding("FLOE-E607", message, claim.place("name"), rules.severity, related=related)


def _is_approved(claim: Claim, row: RegisteredProduct) -> bool:
    is_named = as_identifier(row.name) == as_identifier(claim.metadata.name)
    return is_named and is_same(row.repository, claim.repository)


def _owned(claim: Claim, rules: Rules, found: IdentityValidationResult) -> Iterator[Finding]:
    decision = decide(rules.level, rules.auto_register, found.status)
    if found.status is IdentityStatus.CONFLICT:
        yield _conflict(claim, rules.severity, found)
    elif found.status is IdentityStatus.AVAILABLE and decision in (Decision.WARN, Decision.REFUSE):
        yield Finding("FLOE-E602", f"{claim.id} is not registered", claim.place("name"), rules.severity)
    wrong = [item for item in found.disagreements if item.is_tampering]
    if wrong:
        lines = tuple(str(item) for item in wrong)
        message = f"{len(wrong)} of the catalog's entries for {claim.id} are not what floe wrote"
        severity = rules.severity if found.status is IdentityStatus.AVAILABLE else Severity.WARNING
        yield Finding("FLOE-E609", message, claim.place("name"), severity, details=(("Found", lines),))


def _conflict(claim: Claim, severity: Severity, found: IdentityValidationResult) -> Finding:
    place = claim.place("name")
    if found.held_by:
        message = f"Namespace '{claim.id}' is in use by {found.held_by} of {found.repository}"
        return Finding("FLOE-E610", message, place, severity)
    if found.repository is None or not is_same(found.repository, claim.repository):
        owner = found.owner or "unknown"
        return Finding(
            "FLOE-E601",
            f"Namespace '{claim.id}' owned by different repository",
            place,
            severity,
            fix=f"`floe product show {claim.id}` tells since when it is theirs.",
            details=(
                ("Owner", found.repository or "unknown"),
                ("Expected", claim.repository or "none"),
                ("Resolution", f"Choose a different product name or contact the namespace owner: {owner}"),
            ),
        )
    if found.retired:
        return Finding("FLOE-E608", f"{claim.id} is retired", place, severity)
    return twins(claim.id, claim.path or "", found.path or "", place, severity)


def twins(own: str, here: str, there: str, place: Place, severity: Severity = Severity.ERROR) -> Finding:
    """Two folders of one repository whose products have the same id."""
    message = f"{own} is the name of two products of this repository: {here or '.'} and {there or '.'}"
    return Finding("FLOE-E603", message, place, severity)


def unreachable(findings: Iterable[Finding], rules: Rules, *, has_baseline: bool, place: Place) -> list[Finding]:
    """A catalog that cannot be asked about contracts: a warning where its last answer was enough, else exit 3."""
    if rules.level <= IdentityEnforcement.WARN and has_baseline:
        reason = "; ".join(item.message for item in findings)
        return [Finding("FLOE-E540", f"Contract validated but not registered: {reason}", place, Severity.WARNING)]
    return list(findings)
