"""What the line is given: the platform's answer to who judges, who owns, and what dbt said.

Each field that is None is something this floe has no answer for; its step then says "not checked" and why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from floe_core.artifacts import CompiledModel
from floe_core.findings import Finding, FloeError, Place
from floe_core.merge import Merged
from floe_core.order import show
from floe_core.resolve import Chain
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Scope
from floe_core.transforms import TransformPlugin, load_transform

if TYPE_CHECKING:
    from floe_core.contract import Contract

TransformLoader = Callable[[str, Place], TransformPlugin]


@dataclass(frozen=True, slots=True)
class Spec:
    """A product and everything it inherits, merged."""

    chain: Chain
    merged: Merged

    @property
    def product(self) -> DataProduct:
        return self.chain.product.document

    @property
    def folder(self) -> Path:
        return self.chain.product.folder

    @property
    def namespace(self) -> str:
        """Where the product's tables live, before their layer."""
        return ".".join(self.chain.namespace().parts)

    def facts(self) -> list[str]:
        """What the product inherits, in the words of the platform team."""
        lines = []
        for loaded in self.chain.manifests:
            metadata = loaded.document.metadata
            label = "Platform" if loaded.document.scope is Scope.ENTERPRISE else "Domain"
            lines.append(f"{label} version: {metadata.version or 'none'} ({metadata.name})")
        if compute := self.merged.get(("plugins", "compute")):
            lines.append(f"Compute: {compute.type} (enforced)")
        if pattern := self.merged.get(("data_architecture", "pattern")):
            naming = self.merged.get(("data_architecture", "naming", "enforcement"))
            lines.append(f"Architecture: {pattern.value} ({show(naming)} enforcement)")
        return lines or ["No platform: nothing is inherited"]


class Project(Protocol):
    """A dbt project as rules see it. The line only carries it from its reader to the rules."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one printed step has to say."""

    lines: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules found: step 3, step 4, and what they learned on the way."""

    naming: Verdict = field(default_factory=Verdict)
    gates: Verdict = field(default_factory=Verdict)
    models: Sequence[CompiledModel] = ()
    classifications: dict[str, dict[str, tuple[str, ...]]] | None = None
    summary: dict[str, Any] = field(default_factory=dict)


class Rules(Protocol):
    """Steps 3 and 4. Where `projects` is empty, what concerns the product itself is still judged."""

    def __call__(
        self, spec: Spec, projects: Sequence[Project], contracts: Sequence[Contract], today: date
    ) -> Judged: ...


@dataclass(frozen=True, slots=True)
class Identity:
    """What is known about the owner of the product's namespace."""

    lines: tuple[str, ...] = ()
    registered_at: str | None = None  # UTC, ISO 8601; None: not registered
    is_checked: bool = True
    unanswered: tuple[Finding, ...] = ()  # the catalog did not answer: step 5 need not wait for it again


class Identities(Protocol):
    """Steps 2 and 6. Raises FloeError when the catalog cannot be asked."""

    def validate(self, spec: Spec) -> tuple[Identity, list[Finding]]:
        """Who owns the namespace. Reads only."""

    def register(
        self, spec: Spec, identity: Identity, contracts: Sequence[Contract]
    ) -> tuple[Identity, list[Finding]]:
        """Claim the namespace and register the contracts."""


class Contracts(Protocol):
    """Step 5, and the contracts that rules look at. Raises FloeError when something cannot be read."""

    def read(self, spec: Spec, projects: Sequence[Project]) -> tuple[Sequence[Contract], list[Finding]]:
        """Parse, generate from ports, merge."""

    def check(
        self,
        spec: Spec,
        contracts: Sequence[Contract],
        models: Sequence[CompiledModel],
        unanswered: tuple[Finding, ...] = (),
    ) -> Verdict:
        """Lint, inheritance, version, drift; the models tell where their tables are.

        `unanswered`: the catalog has been asked in step 2, in vain.
        """


def clock() -> datetime:
    """The time that artifacts carry: now, or what SOURCE_DATE_EPOCH pins it to."""
    pinned = os.environ.get("SOURCE_DATE_EPOCH")
    if pinned is None:
        return datetime.now(UTC)
    try:
        if not re.fullmatch("[0-9]+", pinned):
            raise ValueError(pinned)
        return datetime.fromtimestamp(int(pinned), UTC)
    except (ValueError, OverflowError, OSError) as exc:
        message = f"SOURCE_DATE_EPOCH is {pinned[:40]!r}, not a number of seconds since 1970"
        fix = "Set it to whole seconds, like `git log -1 --format=%ct` prints them, or unset it."
        raise FloeError(Finding("FLOE-E001", message, Place("(environment)"), fix=fix)) from exc


@dataclass(frozen=True, slots=True)
class Env:
    """Everything outside the product that a compile depends on."""

    read_project: Callable[[Path, Path], Project] | None = None  # manifest.json, the folder of dbt_project.yml
    transforms: TransformLoader = load_transform
    rules: Rules | None = None
    identities: Identities | None = None
    contracts: Contracts | None = None
    dbt_manifest: Path | None = None  # made by the user's own dbt
    check: bool = False  # write nothing: not beside the product, not in the catalog
    register: bool = False  # also with uncommitted changes
    strict: bool = False  # warnings block
    now: Callable[[], datetime] = clock
