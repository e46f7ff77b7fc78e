"""What a registry must say, as a value: every operation takes one state to the next, or is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Actor, RegistrationResult
from floe_testing.conformance.catalog.products import OWNER, contract, metadata

CONTRACT = "customers"


@dataclass(frozen=True, slots=True)
class State:
    """One product: everything about it that anybody can see."""

    repository: str | None = None
    version: str = ""
    retired: bool = False
    contracts: frozenset[tuple[str, str, bool]] = frozenset()  # version, hash, retired
    lines: int = 0  # of its history

    def kept(self, version: str) -> tuple[str, str, bool] | None:
        return next((found for found in self.contracts if found[0] == version), None)

    def is_open_to(self, repository: str) -> bool:
        return self.repository == repository and not self.retired


Outcome = tuple[State, str]  # the state afterwards, and what whoever asked is told


@dataclass(frozen=True, slots=True)
class Operation:
    """One call: what it should do, and how it is done."""

    name: str
    repository: str
    argument: str = ""
    content: str = ""

    def expected(self, state: State) -> Outcome:
        after, status = EXPECTED[self.name](state, self)
        changed = status in ("created", "updated")
        return (replace(after, lines=state.lines + 1) if changed else state), status

    def perform(self, catalog: CatalogPlugin, product: str) -> RegistrationResult:
        return PERFORM[self.name](catalog, product, self)


def _claim(state: State, asked: Operation) -> Outcome:
    if state.repository is None:
        return replace(state, repository=asked.repository), "created"
    return state, "already_owned" if state.is_open_to(asked.repository) else "conflict"


def _publish(state: State, asked: Operation) -> Outcome:
    if state.repository is None:
        return replace(state, repository=asked.repository, version=asked.argument), "created"
    if not state.is_open_to(asked.repository):
        return state, "conflict"
    if state.version == asked.argument:
        return state, "already_owned"
    return replace(state, version=asked.argument), "updated"


def _transfer(state: State, asked: Operation) -> Outcome:
    if state.is_open_to(asked.argument):  # as it should be, whoever asks: a transfer can be repeated after a crash
        return state, "already_owned"
    if state.repository is None or state.repository != asked.repository:
        return state, "conflict"
    return replace(state, repository=asked.argument, retired=False), "updated"


def _retire(state: State, asked: Operation) -> Outcome:
    if state.retired:
        return state, "already_owned"
    if state.repository is None or state.repository != asked.repository:
        return state, "conflict"
    return replace(state, retired=True), "updated"


def _promise(state: State, asked: Operation) -> Outcome:
    if not state.is_open_to(asked.repository):
        return state, "conflict"
    if kept := state.kept(asked.argument):
        return state, "already_owned" if kept[1] == asked.content else "conflict"
    return replace(state, contracts=state.contracts | {(asked.argument, asked.content, False)}), "created"


def _withdraw(state: State, asked: Operation) -> Outcome:
    kept = state.kept(asked.argument)
    if not kept:
        return state, "conflict"
    if kept[2]:
        return state, "already_owned"
    if state.repository != asked.repository:
        return state, "conflict"
    return replace(state, contracts=state.contracts - {kept} | {(*kept[:2], True)}), "updated"


EXPECTED: dict[str, Callable[[State, Operation], Outcome]] = {
    "claim": _claim,
    "publish": _publish,
    "transfer": _transfer,
    "retire": _retire,
    "promise": _promise,
    "withdraw": _withdraw,
}


def _by(asked: Operation) -> Actor:
    return Actor(repository=asked.repository)


PERFORM: dict[str, Callable[[CatalogPlugin, str, Operation], RegistrationResult]] = {
    "claim": lambda catalog, product, asked: catalog.register_product_identity(
        product, asked.repository, OWNER, by=_by(asked)
    ),
    "publish": lambda catalog, product, asked: catalog.register_product_namespace(
        product, metadata(product, repository=asked.repository, version=asked.argument), by=_by(asked)
    ),
    "transfer": lambda catalog, product, asked: catalog.transfer_product(
        product, asked.argument, OWNER, by=_by(asked)
    ),
    "retire": lambda catalog, product, asked: catalog.retire_product(product, by=_by(asked)),
    "promise": lambda catalog, product, asked: catalog.register_contract(
        product,
        CONTRACT,
        asked.argument,
        "s1",
        contract(repository=asked.repository, document_hash=asked.content),
        by=_by(asked),
    ),
    "withdraw": lambda catalog, product, asked: catalog.retire_contract(
        product, CONTRACT, asked.argument, by=_by(asked)
    ),
}


def observe(catalog: CatalogPlugin, product: str) -> State:
    """The state, as the catalog tells it."""
    found = catalog.get_product(product)
    contracts = catalog.list_registered_contracts(product)
    return State(
        repository=found.repository if found else None,
        version=found.version if found else "",
        retired=bool(found and found.retired),
        contracts=frozenset((item.version, item.document_hash, item.retired) for item in contracts),
        lines=len(catalog.product_history(product)),
    )
