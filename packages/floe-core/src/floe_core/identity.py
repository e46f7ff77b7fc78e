"""Who owns which product, and what it has promised: the facts that a catalog's registry keeps.

A product is named by its id, `{domain}.{product}` (`sales.customer_360`). The first repository that registers it
owns it. Times are UTC; a path is that of the product's folder inside its repository, `""` for the top.
"""

from __future__ import annotations

import getpass
import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from time import monotonic, sleep


def moment() -> datetime:
    """The time that lines of the history carry."""
    return datetime.now(UTC)


def now() -> datetime:
    """The time that registrations carry, to the second."""
    return moment().replace(microsecond=0)


class RegistrationStatus(StrEnum):
    """How a registration ended. What could not be tried at all raises FloeError instead."""

    CREATED = "created"
    SUCCESS = "created"  # the same, by its other name
    ALREADY_OWNED = "already_owned"
    UPDATED = "updated"
    CONFLICT = "conflict"


class IdentityStatus(StrEnum):
    """Whose namespace it is, seen from one repository."""

    VALID = "valid"
    CONFLICT = "conflict"
    AVAILABLE = "available"


class Action(StrEnum):
    """What a line of the history records."""

    CLAIM = "claim"
    RESERVE = "reserve"  # another product's id, because its namespace is used
    UPDATE = "update"
    TRANSFER = "transfer"
    RETIRE = "retire"
    REGISTER_CONTRACT = "register_contract"
    RETIRE_CONTRACT = "retire_contract"
    REGISTER_CONSUMER = "register_consumer"
    REMOVE_CONSUMER = "remove_consumer"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something: the checkout, the CI run and the person, as far as they are known."""

    repository: str = ""
    run: str = ""
    user: str = ""
    commit: str = ""

    @classmethod
    def here(cls, environ: Mapping[str, str] | None = None, repository: str = "", commit: str = "") -> Actor:
        """Whoever runs this process."""
        env = os.environ if environ is None else environ
        run = env.get("CI_JOB_URL") or env.get("BUILD_URL") or _github_run(env)
        user = env.get("GITHUB_ACTOR") or env.get("GITLAB_USER_LOGIN") or env.get("USER") or _login()
        return cls(repository, run, user, commit or env.get("GITHUB_SHA") or env.get("CI_COMMIT_SHA") or "")


def _github_run(env: Mapping[str, str]) -> str:
    if not (run := env.get("GITHUB_RUN_ID")):
        return ""
    server = env.get("GITHUB_SERVER_URL", "https://github.com")
    return f"{server}/{env.get('GITHUB_REPOSITORY', '')}/actions/runs/{run}"


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user without a name
        return ""


@dataclass(frozen=True, slots=True)
class ProductMetadata:
    """What a product says about itself when it is registered."""

    name: str  # customer_360
    domain: str
    owner: str
    repository: str  # github.com/acme/sales-customer-360
    version: str
    registered_at: datetime = field(default_factory=now)
    path: str | None = None  # None: not compared
    domain_owner: str | None = None
    catalog_namespace: str | None = None  # the domain's name in the catalog, where it differs


@dataclass(frozen=True, slots=True)
class Product:
    """A product as the registry has it."""

    id: str
    name: str
    domain: str
    owner: str
    repository: str
    version: str
    registered_at: datetime
    namespace: tuple[str, ...]  # where its tables live
    path: str | None = None
    domain_owner: str | None = None
    retired: bool = False
    revision: int = 1  # how many lines its history has


@dataclass(frozen=True, slots=True)
class RegistrationResult:
    """How a registration ended; for a conflict, with whom."""

    status: RegistrationStatus
    message: str
    existing_owner: str | None = None  # the owning repository, if conflict
    repository: str | None = None  # the owning repository, whoever it is
    owner: str | None = None  # who answers for it
    registered_at: datetime | None = None

    @property
    def ok(self) -> bool:
        return self.status is not RegistrationStatus.CONFLICT


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A `floe.*` property that is not what the registry says. `actual` None: it is missing."""

    key: str
    expected: str | None  # None: it should not be there
    actual: str | None
    namespace: tuple[str, ...] = ()

    @property
    def is_tampering(self) -> bool:
        """A property that says something else; one that is only missing is a registration that did not finish."""
        return self.actual is not None

    def __str__(self) -> str:
        was = "is missing" if self.actual is None else f"is {self.actual!r}"
        should = "should not be there" if self.expected is None else f"the registry says {self.expected!r}"
        return f"{'.'.join(self.namespace)}: {self.key} {was}, {should}"


@dataclass(frozen=True, slots=True)
class IdentityValidationResult:
    """Whose namespace it is, and what is wrong with its readable copy."""

    status: IdentityStatus
    owner: str | None = None
    repository: str | None = None
    path: str | None = None
    version: str | None = None
    registered_at: datetime | None = None
    retired: bool = False
    held_by: str | None = None  # another product that uses this namespace
    exists: bool = False  # the namespace is there; available and existing: it would be adopted
    disagreements: tuple[Disagreement, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractMetadata:
    """What is kept of a contract version beside its schema hash."""

    owner: str
    description: str | None = None
    registered_at: datetime = field(default_factory=now)
    document: str = ""  # the whole contract, as it was registered
    document_hash: str = ""  # decides whether a version is the same
    repository: str | None = None  # who registers it; None: not compared with the product's


@dataclass(frozen=True, slots=True)
class RegisteredContract:
    """A contract version in the registry. It never changes; it can only be retired."""

    name: str
    version: str
    schema_hash: str
    registered_at: datetime
    owner: str = ""
    description: str | None = None
    document: str = ""
    document_hash: str = ""
    retired: bool = False

    def id(self, product_id: str) -> str:
        return f"{product_id}/{self.name}:{self.version}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A product that reads a contract of another one, because an input port says so."""

    product: str  # the consumer's id
    contract: str
    version: str  # the range it accepts, like ^1
    port: str
    repository: str = ""
    owner: str = ""
    registered_at: datetime = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One change: who, what, when, before, after, and why."""

    product: str
    action: Action
    at: datetime
    by: Actor
    subject: str  # what changed: a product, a contract version, a consumer
    before: Mapping[str, str] | None = None
    after: Mapping[str, str] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Retry:
    """How a call is tried again after a passing failure; a conflict never is."""

    max_attempts: int = 3
    initial_backoff: timedelta = timedelta(seconds=1)
    max_backoff: timedelta = timedelta(seconds=10)
    jitter: float = 0.2
    patience: timedelta = timedelta(seconds=6)  # no new try after calls have taken that long, waits not counted
    pause: Callable[[float], None] = sleep

    def delays(self) -> Iterator[float]:
        """Seconds to wait before each further try; the first try starts now."""
        return self._delays(monotonic())

    def _delays(self, started: float) -> Iterator[float]:
        waited = 0.0
        wait = self.initial_backoff.total_seconds()
        for _ in range(self.max_attempts - 1):
            chosen = wait * (1 + random.uniform(-self.jitter, self.jitter))  # noqa: S311 - spreads load, hides nothing
            if monotonic() - started - waited > self.patience.total_seconds():
                return
            yield chosen
            waited += chosen
            wait = min(wait * 2, self.max_backoff.total_seconds())
