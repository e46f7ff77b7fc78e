"""One contract file, judged by itself."""

from __future__ import annotations

from pathlib import Path

from floe_contracts.judge import judge
from floe_contracts.meaning import understand
from floe_contracts.read import Draft, read_draft
from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError


def lint(path: Path, *, of_record: bool = False) -> tuple[Contract | None, list[Finding]]:
    """Everything that is wrong with a file. `of_record` asks datacontract-cli as well, which takes seconds."""
    try:
        draft, findings = read_draft(path)
    except FloeError as exc:
        return None, list(exc.findings)
    contract = understand(draft)
    findings += judge(contract, in_product=False)
    if of_record:
        findings += _of_record(draft)
    return contract, findings


def _of_record(draft: Draft) -> list[Finding]:
    from floe_contracts.record import lint_of_record  # brings ruamel.yaml and, when run, datacontract-cli

    return list(lint_of_record(draft.data, draft.origin(()).place))
