"""What registering a product's contracts would change, and whom that breaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from floe_contracts.changes import CLASSES, Direction
from floe_contracts.registered import is_read_by, restored
from floe_contracts.stage import versioning
from floe_contracts.version import Registered, Verdict, settle
from floe_core.contract import Contract
from floe_core.identity import Consumer, RegisteredContract
from floe_core.table import Change
from floe_core.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Impact:
    """A contract beside the registered one that it would replace, and whom that breaks."""

    old: Contract
    new: Contract
    verdict: Verdict
    broken: tuple[Consumer, ...] = ()


def impacts(here: Workplace, contracts: Iterable[Contract]) -> list[Impact]:
    """What registering these contracts would change. Raises FloeError when the catalog cannot be asked."""
    product = here.product(None)
    with here.catalog.session():
        registered = here.catalog.list_registered_contracts(product)
        readers = here.catalog.list_consumers(product)
    living = [item for item in registered if item.document and not item.retired]
    baseline = Registered([restored(item, product) for item in living])
    found = []
    for contract in contracts:
        if settled := settle(baseline, contract, versioning(here.merged)):
            old, judged = settled
            mine = [reader for reader in readers if reader.contract == contract.name]
            found.append(Impact(old, contract, judged, tuple(broken(judged.changes, mine, living))))
    return found


def broken(
    changes: Iterable[Change], readers: Iterable[Consumer], registered: Iterable[RegisteredContract]
) -> list[Consumer]:
    """The consumers that changes of a contract break: those of every version of it that is not retired."""
    if not any(CLASSES[change.id].consumers is Direction.BREAKS for change in changes):
        return []
    living = [item for item in registered if not item.retired]
    return [reader for reader in readers if any(is_read_by(item, reader) for item in living)]
