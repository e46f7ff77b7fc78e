"""Whether a product may have its name: every level, every proof, every list."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from datetime import timedelta
from itertools import product as every
from pathlib import Path
from textwrap import dedent

import pytest

from floe_core.claims import Claim, Decision, Rules, claim_of, decide, judge, retry_of, rules_of, unreachable
from floe_core.compile import follow, load, merge
from floe_core.findings import Finding, Place, Severity
from floe_core.git import Checkout
from floe_core.identity import (
    Actor,
    Disagreement,
    IdentityStatus,
    IdentityValidationResult,
    ProductMetadata,
    Retry,
)
from floe_core.monorepo import same_name
from floe_core.schemas.levels import IdentityEnforcement, RegistrationMode
from floe_core.schemas.manifest import RegisteredProduct

OFF, WARN, REGISTER, ENFORCE = IdentityEnforcement
VALID, CONFLICT, AVAILABLE = IdentityStatus
HERE = "github.com/acme/sales-customer-360"
CHECKOUT = Checkout("c0ffee", "", (), (f"git@github.com:acme/{HERE.rpartition('/')[2]}.git",))
CLAIM = Claim(
    "sales.customer_360",
    ProductMetadata("customer-360", "sales", "a@acme.com", HERE, "1.0", path=""),
    (),
    lambda key: Place("floe.yaml", 3, len(key)),
)
RULES = Rules(ENFORCE, True, RegistrationMode.OPEN, (), (), {})
OURS = IdentityValidationResult(VALID, "a@acme.com", HERE)


@pytest.mark.parametrize(
    ("level", "auto_register", "status", "expected"),
    [
        *((OFF, auto, status, Decision.NOTHING) for auto in (True, False) for status in IdentityStatus),
        *((WARN, auto, VALID, Decision.NOTHING) for auto in (True, False)),
        *((WARN, auto, status, Decision.WARN) for auto in (True, False) for status in (AVAILABLE, CONFLICT)),
        *((level, auto, VALID, Decision.REGISTER) for level in (REGISTER, ENFORCE) for auto in (True, False)),
        *((level, auto, CONFLICT, Decision.REFUSE) for level in (REGISTER, ENFORCE) for auto in (True, False)),
        *((level, True, AVAILABLE, Decision.REGISTER) for level in (REGISTER, ENFORCE)),
        *((level, False, AVAILABLE, Decision.REFUSE) for level in (REGISTER, ENFORCE)),
    ],
)
def test_every_level_has_its_answer(
    level: IdentityEnforcement, auto_register: bool, status: IdentityStatus, expected: Decision
) -> None:
    assert decide(level, auto_register, status) is expected


def test_the_table_above_is_complete() -> None:
    assert len(list(every(IdentityEnforcement, (True, False), IdentityStatus))) == 24


def found(
    rules: Rules = RULES,
    result: IdentityValidationResult | None = OURS,
    claim: Claim = CLAIM,
    checkout: Checkout = CHECKOUT,
    env: dict[str, str] | None = None,
    check: bool = False,
) -> list[tuple[str, Severity]]:
    return [(item.code, item.severity) for item in judge(claim, rules, result, checkout, env or {}, check=check)]


def test_a_product_of_this_repository_is_fine_at_every_level() -> None:
    assert [found(replace(RULES, level=level)) for level in IdentityEnforcement] == [[], [], [], []]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (OFF, []),
        (WARN, [("FLOE-E601", Severity.WARNING)]),
        (REGISTER, [("FLOE-E601", Severity.ERROR)]),
        (ENFORCE, [("FLOE-E601", Severity.ERROR)]),
    ],
)
def test_somebody_elses_namespace_weighs_what_the_level_says(
    level: IdentityEnforcement, expected: list[tuple[str, Severity]]
) -> None:
    theirs = IdentityValidationResult(CONFLICT, "other-team@acme.com", "github.com/acme/other-repo")
    assert found(replace(RULES, level=level), theirs) == expected


def test_a_conflict_is_told_in_the_specifications_words() -> None:
    theirs = IdentityValidationResult(CONFLICT, "other-team@acme.com", "github.com/acme/other-repo")
    [finding] = judge(CLAIM, RULES, theirs, CHECKOUT, {}, check=False)
    assert finding.message == "Namespace 'sales.customer_360' owned by different repository"
    assert finding.details == (
        ("Owner", "github.com/acme/other-repo"),
        ("Expected", HERE),
        ("Resolution", "Choose a different product name or contact the namespace owner: other-team@acme.com"),
    )


def test_a_free_namespace_is_asked_for_a_registration_where_nobody_makes_one() -> None:
    free = IdentityValidationResult(AVAILABLE)
    assert found(replace(RULES, level=WARN), free) == [("FLOE-E602", Severity.WARNING)]
    assert found(replace(RULES, level=REGISTER), free) == []
    assert found(RULES, free) == []
    assert found(replace(RULES, auto_register=False), free) == [("FLOE-E602", Severity.ERROR)]


def test_register_without_auto_register_contradicts_itself() -> None:
    codes = [code for code, _ in found(replace(RULES, level=REGISTER, auto_register=False))]
    assert codes == ["FLOE-E612"]


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (IdentityValidationResult(CONFLICT, "a", HERE, path="other"), "FLOE-E603"),
        (IdentityValidationResult(CONFLICT, "a", HERE, retired=True), "FLOE-E608"),
        (IdentityValidationResult(CONFLICT, "a", HERE, held_by="retail.x"), "FLOE-E610"),
    ],
)
def test_other_conflicts_have_codes_of_their_own(result: IdentityValidationResult, code: str) -> None:
    assert found(result=result) == [(code, Severity.ERROR)]


def test_tampering_is_a_warning_while_the_registry_knows_better() -> None:
    changed = (Disagreement("floe.product.repo", HERE, "evil", ("sales", "customer_360")),)
    missing = (Disagreement("floe.product.repo", HERE, None, ("sales", "customer_360")),)
    assert found(result=replace(OURS, disagreements=changed)) == [("FLOE-E609", Severity.WARNING)]
    assert found(result=replace(OURS, disagreements=missing)) == []
    free = IdentityValidationResult(AVAILABLE, disagreements=changed)
    assert found(result=free) == [("FLOE-E609", Severity.ERROR)]


@pytest.mark.parametrize(
    ("checkout", "env", "level", "check", "expected"),
    [
        (CHECKOUT, {}, ENFORCE, False, []),
        (Checkout("c", "", (), ("x.com/y", HERE)), {}, ENFORCE, False, []),
        (Checkout(problem="no git"), {"GITHUB_REPOSITORY": HERE.partition("/")[2]}, ENFORCE, False, []),
        (Checkout("c", "", (), ("x.com/y/z",)), {}, ENFORCE, False, [("FLOE-E605", Severity.ERROR)]),
        (Checkout("c", "", (), ("x.com/y/z",)), {}, ENFORCE, True, [("FLOE-E605", Severity.WARNING)]),
        (Checkout("c", "", (), ("x.com/y/z",)), {}, WARN, False, [("FLOE-E605", Severity.WARNING)]),
        (Checkout(problem="no git"), {}, ENFORCE, False, [("FLOE-E620", Severity.ERROR)]),
        (Checkout(problem="no git"), {}, REGISTER, False, [("FLOE-E620", Severity.ERROR)]),
        (Checkout(problem="no git"), {}, ENFORCE, True, [("FLOE-E614", Severity.WARNING)]),
        (Checkout("c"), {}, WARN, False, [("FLOE-E614", Severity.WARNING)]),
    ],
)
def test_what_writes_needs_proof_and_what_looks_is_warned(
    checkout: Checkout,
    env: dict[str, str],
    level: IdentityEnforcement,
    check: bool,
    expected: list[tuple[str, Severity]],
) -> None:
    assert found(replace(RULES, level=level), checkout=checkout, env=env, check=check) == expected


def test_no_proof_at_all_could_not_be_checked() -> None:
    [finding] = judge(CLAIM, RULES, None, Checkout(problem="no git"), {}, check=False)
    assert (finding.row.exit, finding.message) == (
        3,
        f"nothing shows that these files come from {HERE}: no git",
    )


def test_every_tiers_globs_must_match() -> None:
    both = (("github.com/acme/*",), ("github.com/acme/hr-*", "github.com/acme/sales-*"))
    assert found(replace(RULES, allowed=both)) == []
    refused = replace(RULES, allowed=(*both, ("github.com/other/*",)))
    assert found(refused) == [("FLOE-E606", Severity.ERROR)]
    assert found(replace(refused, level=WARN)) == [("FLOE-E606", Severity.WARNING)]


@pytest.mark.parametrize(
    ("name", "repository", "is_approved"),
    [
        ("customer_360", HERE, True),
        ("customer-360", f"https://{HERE}.git", True),
        ("customer-360", "github.com/acme/x", False),
        ("orders", HERE, False),
    ],
)
def test_approval_is_for_a_name_and_a_repository(name: str, repository: str, is_approved: bool) -> None:
    row = RegisteredProduct(name=name, repository=repository)
    rules = replace(RULES, mode=RegistrationMode.APPROVAL_REQUIRED, approved=(row,))
    assert found(rules) == ([] if is_approved else [("FLOE-E607", Severity.ERROR)])


def test_what_is_missing_is_named_key_by_key() -> None:
    claim = replace(CLAIM, metadata=replace(CLAIM.metadata, repository=""), missing=("owner", "repository"))
    findings = judge(claim, replace(RULES, level=WARN), None, CHECKOUT, {}, check=False)
    assert [(item.code, item.severity, item.column) for item in findings] == [
        ("FLOE-E604", Severity.WARNING, 5),
        ("FLOE-E604", Severity.WARNING, 10),
    ]


@pytest.mark.parametrize(
    ("level", "has_baseline", "expected"),
    [
        (OFF, True, ("FLOE-E540", False)),
        (WARN, True, ("FLOE-E540", False)),
        (WARN, False, ("FLOE-E807", True)),
        (REGISTER, True, ("FLOE-E807", True)),
        (ENFORCE, False, ("FLOE-E807", True)),
    ],
)
def test_a_silent_catalog_is_a_warning_only_where_its_last_answer_is_enough(
    level: IdentityEnforcement, has_baseline: bool, expected: tuple[str, bool]
) -> None:
    place = Place("floe.yaml")
    silent = [Finding("FLOE-E807", "nobody listens", place)]
    [told] = unreachable(silent, replace(RULES, level=level), has_baseline=has_baseline, place=place)
    assert (told.code, told.blocks) == expected


MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: sales, owner: sales-platform@acme.com}
    scope: domain
    parent: enterprise.yaml
    catalog_namespace: sls
    identity: {enforcement: enforce, registration: {max_attempts: 7, initial_backoff: 2s}}
    governance:
      product_registration: {mode: approval_required, allowed_repositories: ["github.com/acme/sales-*"]}
"""
ENTERPRISE = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme}
    scope: enterprise
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: NAME, version: "1.2.3", owner: a@acme.com, repository: "git@github.com:acme/mono.git"}
    domain: ../domain.yaml
"""


@pytest.fixture
def mono(tmp_path: Path) -> Path:
    """A git repository with two products whose names are one in the catalog, and a third."""
    (tmp_path / "enterprise.yaml").write_text(dedent(ENTERPRISE))
    (tmp_path / "domain.yaml").write_text(dedent(MANIFEST))
    for folder, name in (("one", "customer-360"), ("two", "customer_360"), ("three", "orders")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "floe.yaml").write_text(dedent(PRODUCT).replace("NAME", name))
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_what_the_files_say_becomes_the_claim(mono: Path) -> None:
    chain = follow(load(mono / "one")[0])[0]
    claim = claim_of(chain, Checkout("c", "one"))
    assert (claim.id, claim.path, claim.missing) == ("sales.customer_360", "one", ())
    about = claim.metadata
    assert (about.repository, about.domain_owner, about.catalog_namespace) == (
        "github.com/acme/mono",
        "sales-platform@acme.com",
        "sls",
    )
    merged, _ = merge(chain)
    rules, retry = rules_of(merged), retry_of(merged)
    assert (rules.level, rules.mode, rules.allowed) == (
        ENFORCE,
        RegistrationMode.APPROVAL_REQUIRED,
        (("github.com/acme/sales-*",),),
    )
    assert (retry.max_attempts, retry.initial_backoff.seconds, retry.max_backoff.seconds) == (7, 2, 10)


def test_two_products_of_a_monorepo_with_one_name_are_named_with_both_paths(mono: Path) -> None:
    claim = claim_of(follow(load(mono / "one")[0])[0], Checkout("c", "one"))
    [finding] = same_name(claim, mono / "one", Severity.ERROR)
    assert finding.code == "FLOE-E603"
    assert finding.message == "sales.customer_360 is the name of two products of this repository: one and two"
    other = claim_of(follow(load(mono / "three")[0])[0], Checkout("c", "three"))
    assert same_name(other, mono / "three", Severity.ERROR) == []


def test_without_git_there_are_no_others(tmp_path: Path) -> None:
    assert same_name(CLAIM, tmp_path, Severity.ERROR) == []


@pytest.mark.parametrize(
    ("env", "run", "user"),
    [
        (
            {"GITHUB_RUN_ID": "7", "GITHUB_REPOSITORY": "acme/x", "GITHUB_ACTOR": "ann"},
            "https://github.com/acme/x/actions/runs/7",
            "ann",
        ),
        ({"CI_JOB_URL": "https://git.acme.com/j/1", "GITLAB_USER_LOGIN": "bob"}, "https://git.acme.com/j/1", "bob"),
        ({"USER": "carol"}, "", "carol"),
    ],
)
def test_the_history_knows_the_run_and_the_person(env: dict[str, str], run: str, user: str) -> None:
    actor = Actor.here(env, HERE, "c0ffee")
    assert actor == Actor(HERE, run, user, "c0ffee")


def test_a_first_try_that_took_too_long_is_the_last() -> None:
    slow = Retry(patience=timedelta(seconds=-1))  # as if the call had taken a second more than allowed
    assert list(slow.delays()) == []
    assert len(list(Retry(patience=timedelta(hours=1)).delays())) == 2
