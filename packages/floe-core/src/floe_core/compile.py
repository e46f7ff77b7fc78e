"""Compile is a visible straight line of stages, printed as six steps.

A stage is `(...) -> (value, findings)` and neither prints nor times itself. Only load, follow and merge stop the
line; everything after them always runs, so that all findings come at once, and registration comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floe_core.artifacts import FILE, CompiledArtifacts, write_artifacts
from floe_core.compiled import compiled
from floe_core.dbt import Dbt, read_dbt
from floe_core.env import Contracts, Env, Identities, Identity, Judged, Rules, Spec, Verdict
from floe_core.findings import Finding, FloeError, Place, Related, Severity
from floe_core.git import Checkout, look
from floe_core.line import Line
from floe_core.load import PLATFORM_KEYS, Loaded, load_product
from floe_core.merge import Leaf, Merged, merge_tiers
from floe_core.order import show
from floe_core.resolve import Chain, resolve
from floe_core.rules.judge import judge, read_project
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.levels import ContractEnforcement, IdentityEnforcement
from floe_core.schemas.manifest import PluginConfig

if TYPE_CHECKING:
    from floe_core.contract import Contract

LEVEL = ("identity", "enforcement")
CONTRACTS = ("data_contracts", "enforcement")
UNANSWERED = "FLOE-E807"


@dataclass(frozen=True, slots=True)
class Written:
    """How step 6 ended: what was made, and where it was written when it was."""

    artifacts: CompiledArtifacts | None = None
    path: Path | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a compile found, and what it made when nothing stopped it."""

    findings: tuple[Finding, ...]
    chain: Chain | None = None
    merged: Merged | None = None
    written: Written = field(default_factory=Written)
    not_checked: dict[str, str] = field(default_factory=dict)  # step -> why
    summary: dict[str, Any] = field(default_factory=dict)


def with_rules(env: Env) -> Env:
    """The same environment with floe's own rules."""
    return replace(env, read_project=read_project, rules=judge)


def compile_project(root: Path, env: Env | None = None, run: Line | None = None) -> Outcome:
    """Check the product in a folder (or its floe.yaml) against everything above it, and write its artifacts."""
    env, run = env or with_rules(Env()), run or Line()
    run.step("Loading platform artifacts")
    try:
        when = run.must(tell_time, env)
        product = run.must(load, root)
        chain = run.must(follow, product)
        merged = run.must(merge, chain)
    except FloeError:
        return _failed(run)
    spec = Spec(chain, merged)
    run.say(spec.facts())

    run.step("Validating product identity")
    identity = run(validate_identity, spec, env.identities)
    run.say(identity.lines)

    run.step("Validating naming conventions")
    dbt = run(read_dbt, spec, env, run.working)
    contracts = run(read_contracts, spec, dbt, env.contracts)
    judged = run(enforce, spec, dbt, contracts, env.rules, when)
    run.say(judged.naming.lines, later=judged.gates.findings)

    run.step("Checking quality gates")
    run.say(judged.gates.lines)

    run.step("Validating data contracts")
    promised = run(check_contracts, spec, identity, contracts, judged, env.contracts)
    run.say(promised.lines)

    unchecked = _not_checked(spec, identity, dbt, env)
    if run.blocked(strict=env.strict):
        return _failed(run, chain, merged, unchecked, judged)
    run.step("Registering and writing artifacts")
    written = run(register_and_write, spec, identity, dbt, contracts, judged, when, env)
    run.say(written.lines)
    return Outcome(tuple(run.findings), chain, merged, written, unchecked, judged.summary)


def _failed(
    run: Line,
    chain: Chain | None = None,
    merged: Merged | None = None,
    not_checked: dict[str, str] | None = None,
    judged: Judged | None = None,
) -> Outcome:
    run.last_step("Compilation FAILED")
    summary = judged.summary if judged else {}
    return Outcome(tuple(run.findings), chain, merged, Written(), not_checked or {}, summary)


def _not_checked(spec: Spec, identity: Identity, dbt: Dbt, env: Env) -> dict[str, str]:
    """The steps that could say nothing, for whoever reads the report instead of the terminal."""
    found = {}
    if not identity.is_checked:
        found["identity"] = identity.lines[-1].removeprefix("not checked: ")
    if dbt.problem or env.rules is None:
        found["naming"] = found["quality_gates"] = dbt.problem or NO_RULES
    if env.contracts is None and _asks_for_contracts(spec):
        found["data_contracts"] = NO_CONTRACTS
    return found


# Step 1


def tell_time(env: Env) -> tuple[datetime, list[Finding]]:
    """One moment for the whole compile: rules with dates and the artifacts agree on it."""
    return env.now(), []


def load(root: Path) -> tuple[Loaded[DataProduct], list[Finding]]:
    """The product's own file."""
    path = root.absolute()
    try:
        is_folder = path.is_dir()
    except OSError:  # a name too long, a forbidden folder: reading the file says so
        is_folder = False
    if is_folder and (path / "manifest.yaml").is_file() and not (path / "floe.yaml").exists():
        message = f"{path.name} is a platform: it has a manifest.yaml and no floe.yaml"
        raise FloeError(Finding("FLOE-E100", message, Place(str(path)), fix="Name the folder of a product."))
    return load_product(path / "floe.yaml" if is_folder else path), []


def follow(product: Loaded[DataProduct]) -> tuple[Chain, list[Finding]]:
    """Everything the product inherits from."""
    return resolve(product), []


def merge(chain: Chain) -> tuple[Merged, list[Finding]]:
    """One set of guardrails, each only ever strengthened."""
    merged, findings = merge_tiers(chain.tiers())
    return merged, [*findings, *_unapproved_plugins(merged), *_platform_keys(chain.product, merged)]


def _unapproved_plugins(merged: Merged) -> list[Finding]:
    """Plugins in force that no list of approved plugins holds."""
    findings: list[Finding] = []
    for kind in PluginConfig.model_fields:
        chosen, approved = merged.leaves.get(("plugins", kind)), merged.leaves.get(("approved_plugins", kind))
        if chosen and approved and chosen.value.type not in approved.value:
            place = chosen.setters[0].place
            message = f"the {kind} plugin {chosen.value.type} is not approved"
            fix = f"Use one of {show(approved.value)}."
            lists = (Related(said.place, f"{said.tier} approves {show(said.value)}") for said in approved.setters)
            findings.append(Finding("FLOE-E161", message, place, fix=fix, related=tuple(lists)))
    return findings


def _platform_keys(product: Loaded[DataProduct], merged: Merged) -> list[Finding]:
    """`compute` or `plugins` in floe.yaml: the platform has chosen already."""
    compute = merged.get(("plugins", "compute"))
    chosen = f"the platform's compute is {show(compute.type)}" if compute else "the platform chooses it"
    return [
        Finding("FLOE-E170", f"{key} cannot be set in floe.yaml; {chosen}", product.place((key,), of_key=True))
        for key in PLATFORM_KEYS
        if (node := product.source.node((key,))) and node.value is not None
    ]


# Step 2


def validate_identity(spec: Spec, identities: Identities | None) -> tuple[Identity, list[Finding]]:
    """Who owns the product's namespace. Nothing is registered here."""
    who = [f"Product ID: {spec.chain.product_id}"]
    if repository := spec.product.metadata.repository:
        who.append(f"Repository: {repository}")
    level = spec.merged.leaves[LEVEL]
    if level.value is IdentityEnforcement.OFF:
        return Identity((*who, "identity is off")), []
    if identities is None:
        return Identity((*who, "not checked: no catalog plugin can say who owns it"), is_checked=False), _nobody(
            level
        )
    try:
        identity, findings = identities.validate(spec)
    except FloeError as exc:
        silent = tuple(item for item in exc.findings if item.code == UNANSWERED)
        lines = (*who, f"not checked: {exc.findings[0].message}")
        return Identity(lines, is_checked=False, unanswered=silent), list(exc.findings)
    return replace(identity, lines=(*who, *identity.lines)), findings


def _nobody(level: Leaf) -> list[Finding]:
    """A warning where some tier asked for the check; where none did, the line in step 2 is enough."""
    if not level.is_stated:
        return []
    message = f"identity: {show(level.value)} is asked for, and no catalog plugin can check it"
    return [Finding("FLOE-E600", message, level.setters[0].place, Severity.WARNING)]


# Steps 3 and 4

NO_RULES = "this floe has no rules"
NO_TRANSFORMS = "no transforms: there is no dbt project to check"


def read_contracts(spec: Spec, dbt: Dbt, contracts: Contracts | None) -> tuple[tuple[Contract, ...], list[Finding]]:
    """The product's contracts, before anybody judges them."""
    if contracts is None:
        return (), []
    try:
        found, findings = contracts.read(spec, dbt.read())
    except FloeError as exc:
        return (), list(exc.findings)
    return tuple(found), findings


def enforce(
    spec: Spec, dbt: Dbt, contracts: Sequence[Contract], rules: Rules | None, when: datetime
) -> tuple[Judged, list[Finding]]:
    """What the rules say about the models and the product."""
    if rules is None:
        unknown = Verdict((f"not checked: {dbt.problem or NO_RULES}",))
        return Judged(unknown, unknown), []
    judged = rules(spec, dbt.read(), contracts, when.date())
    if dbt.problem:
        reason = f"not checked: {dbt.problem}"
    elif not spec.product.transforms:
        reason = NO_TRANSFORMS
    else:
        reason = ""
    if reason:
        naming, gates = (replace(part, lines=(reason, *part.lines)) for part in (judged.naming, judged.gates))
        judged = replace(judged, naming=naming, gates=gates)
    return judged, [*judged.naming.findings, *judged.gates.findings]


# Step 5

NO_CONTRACTS = "no contract plugin is installed"


def check_contracts(
    spec: Spec, identity: Identity, contracts: Sequence[Contract], judged: Judged, plugin: Contracts | None
) -> tuple[Verdict, list[Finding]]:
    """Whether the contracts keep what they promise."""
    if not _asks_for_contracts(spec):
        return Verdict(("data contracts are off",)), []
    if plugin is None:
        return Verdict((f"not checked: {NO_CONTRACTS}",)), []
    try:
        verdict = plugin.check(spec, contracts, judged.models, identity.unanswered)
    except FloeError as exc:
        return Verdict((f"not checked: {exc.findings[0].message}",)), list(exc.findings)
    return verdict, list(verdict.findings)


def _asks_for_contracts(spec: Spec) -> bool:
    return bool(spec.merged.get(CONTRACTS, ContractEnforcement.OFF) > ContractEnforcement.OFF)


# Step 6


def register_and_write(
    spec: Spec,
    identity: Identity,
    dbt: Dbt,
    contracts: Sequence[Contract],
    judged: Judged,
    when: datetime,
    env: Env,
) -> tuple[Written, list[Finding]]:
    """Claim what is to be claimed, then write the artifacts. Nothing above has found anything that blocks."""
    checkout = look(spec.folder)
    findings: list[Finding] = []
    lines: list[str] = []
    try:
        if env.identities and _asks_to_register(spec):
            identity, lines, findings = _register(spec, identity, contracts, checkout, env)
        artifacts = compiled(spec, identity, dbt, judged, contracts, checkout.commit, when)
        if env.check or any(item.blocks for item in findings):
            lines.append("nothing written: --check" if env.check else "nothing written")
            return Written(artifacts, None, tuple(lines)), findings
        path = spec.folder / FILE
        write_artifacts(artifacts, path)
    except FloeError as exc:
        return Written(lines=("nothing written",)), [*findings, *exc.findings]
    return Written(artifacts, path, (*lines, f"Artifacts: {FILE.as_posix()}")), findings


def _asks_to_register(spec: Spec) -> bool:
    return bool(spec.merged.get(LEVEL) >= IdentityEnforcement.REGISTER)


def _register(
    spec: Spec, identity: Identity, contracts: Sequence[Contract], checkout: Checkout, env: Env
) -> tuple[Identity, list[str], list[Finding]]:
    """Register unless that would record something that is in no commit."""
    assert env.identities  # noqa: S101 - the caller has looked
    if env.check or not (checkout.is_clean or env.register):
        why = "--check" if env.check else checkout.problem or f"uncommitted: {', '.join(checkout.changed[:3])}"
        return identity, [f"would register {spec.chain.product_id} ({why})"], []
    registered, findings = env.identities.register(spec, identity, contracts)
    return registered, list(registered.lines), findings
