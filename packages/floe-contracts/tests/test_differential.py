"""The change classes against datacontract-cli's breaking-change rules: agreement, or a written reason.

The reasons, and who is right, are told to users in docs/reference/contracts-differences.md.
"""

from __future__ import annotations

from typing import Any

import pytest
from datacontract.data_contract import DataContract
from generators import DOCUMENTS, with_version
from hypothesis import HealthCheck, given, settings
from open_data_contract_standard.model import OpenDataContractStandard
from test_changes import CHANGES

from floe_contracts.changes import Bump, bump_of, compare, required_bump
from floe_core.contract import Contract

# floe asks for MAJOR, datacontract-cli sees nothing broken
STRICTER = {
    "column-added-required": "the specification's table says MAJOR",
    "column-became-required": "the specification's table says MAJOR",
    "sla-relaxed": "datacontract-cli compares freshness only, and only when it names table.column",
    "sla-removed": "as above",
    "sla-changed": "as above",
    "rule-changed": "datacontract-cli warns that it cannot decide; floe never takes that for safe",
    "limit-changed": "as above",
    "classification-weakened": "metadata to datacontract-cli; a promise to floe",
    "classification-changed": "as above",
}
# datacontract-cli sees something broken, floe does not ask for MAJOR
LAXER = {
    "column-became-optional": "the specification says MINOR; floe warns with FLOE-E527",
    "type-respelt": "datacontract-cli compares text: bigint and long are one type",
}


def breaks(old: Contract, new: Contract) -> bool:
    """Whether datacontract-cli calls the change breaking for consumers."""
    one, two = (DataContract(data_contract=OpenDataContractStandard(**item.document)) for item in (old, new))
    return any(entry.level.value == "error" for entry in one.breaking(two).entries)


@pytest.mark.parametrize(
    ("old", "new", "change", "bump"), CHANGES, ids=[f"{n}-{item[2]}" for n, item in enumerate(CHANGES)]
)
def test_both_call_the_same_changes_breaking(old: Contract, new: Contract, change: str, bump: Bump) -> None:
    if breaks(old, new) != (bump is Bump.MAJOR):
        assert change in (STRICTER if bump is Bump.MAJOR else LAXER)


def test_every_reason_is_still_needed() -> None:
    differing = {change for old, new, change, bump in CHANGES if breaks(old, new) != (bump is Bump.MAJOR)}
    assert differing == {*STRICTER, *LAXER}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, DOCUMENTS)
def test_both_agree_on_any_two_contracts_but_for_the_written_reasons(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    one, two = with_version(old, "1.0.0"), with_version(new, "1.0.0")
    changes = compare(one, two)
    ours, theirs = required_bump(changes) is Bump.MAJOR, breaks(one, two)
    if theirs and not ours:
        assert {change.id for change in changes} & LAXER.keys()
    if ours and not theirs:
        assert {change.id for change in changes if bump_of(change) is Bump.MAJOR} <= STRICTER.keys()
