"""A contract by reference: a file, a file in the history of git, or a version in the catalog."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from floe_contracts.meaning import understand
from floe_contracts.read import parse_draft, read_draft
from floe_contracts.version import Rules
from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError, Place
from floe_core.source import MAX_BYTES

GIT = "git:"
CATALOG = "catalog:"


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference leads to: contracts, what speaks against reading them, how their versions are judged."""

    contracts: tuple[Contract, ...]
    findings: tuple[Finding, ...] = ()
    rules: Rules = field(default_factory=Rules)


def contract_at(reference: str) -> tuple[Contract, list[Finding]]:
    """The contract in a file, at git:REVISION:path, or catalog:[PRODUCT/]CONTRACT[:VERSION]. Raises FloeError."""
    if reference.startswith(CATALOG):
        from floe_contracts.registered import contract_in_catalog  # files need nothing of what a catalog needs

        return contract_in_catalog(reference), []
    draft, findings = (
        parse_draft(_from_git(reference), reference) if reference.startswith(GIT) else read_draft(Path(reference))
    )
    return understand(draft), findings


def _from_git(reference: str) -> bytes:
    revision, _, path = reference.removeprefix(GIT).partition(":")
    if not path or revision.startswith("-"):
        fix = "Write git:REVISION:path, like git:HEAD~1:datacontract.yaml."
        raise FloeError(Finding("FLOE-E100", f"{reference} names no file in git", Place(reference), fix=fix))
    inside = path if path.startswith(("./", "../")) else f"./{path}"
    command = ["git", "cat-file", "blob", f"{revision}:{inside}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - no shell, no option
    except OSError as exc:
        raise FloeError(Finding("FLOE-E100", f"git cannot be run: {exc.strerror}", Place(reference))) from exc
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["unknown reason"]
        message = f"{reference} cannot be read: {reason[0][:200]}"
        fix = "Check the revision and the path; paths are relative to the working directory."
        raise FloeError(Finding("FLOE-E100", message, Place(reference), fix=fix))
    return done.stdout[: MAX_BYTES + 1]
