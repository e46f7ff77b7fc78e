"""What the registry's facts say, and the names of the tables that hold them.

Every subject (a product, a contract version, a consumer) has a log: entries 1, 2, 3 …, each put once. Whoever puts
entry n + 1 has read entry n, so a change is a compare-and-swap. An entry holds the whole state after it.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from floe_core.identity import Action, Actor, Consumer, Product, RegisteredContract
from floe_iceberg.registry import Fact, Registry, damaged

WIDEST = 50  # characters of a part of a table's name: some catalogs end at 128
_PLAIN = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
_VERSION = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class ProductEntry:
    """A change of a product. `log` is the id it stands under: a reservation is in another product's log."""

    log: str
    action: Action
    product: Product
    at: datetime
    by: Actor
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ContractEntry:
    """A contract version, registered or retired."""

    log: str
    action: Action
    contract: RegisteredContract
    at: datetime
    by: Actor
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ConsumerEntry:
    """A consumer, recorded, changed or gone."""

    log: str
    action: Action
    consumer: Consumer
    at: datetime
    by: Actor
    reason: str = ""


E = TypeVar("E", ProductEntry, ContractEntry, ConsumerEntry)
KINDS: dict[type, str] = {ProductEntry: "product", ContractEntry: "contract", ConsumerEntry: "consumer"}
FORMS: dict[type, TypeAdapter[Any]] = {kind: TypeAdapter(kind) for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Stored(Generic[E]):
    """An entry with its number in its log."""

    number: int
    entry: E
    rewritten: bool = False
    table: str = ""


class Log(Generic[E]):
    """The entries of one subject."""

    def __init__(self, registry: Registry, kind: type[E], product: str, *subject: str) -> None:
        self.registry = registry
        self.kind: type[E] = kind
        self.product = product
        self.stem = stem(kind, product, *subject)

    def name(self, number: int) -> str:
        return f"{self.stem}__{number}"

    def at(self, number: int) -> Stored[E] | None:
        fact = self.registry.get(self.name(number))
        return self._read(number, fact) if fact else None

    def latest(self, known: Stored[E] | None = None) -> Stored[E] | None:
        """The last entry, found by doubling and halving from one that is known: a log has no gaps."""
        first = known or self.at(1)
        if first is None:
            return None
        low, step = first.number, 1
        while self.registry.has(self.name(low + step)):
            low, step = low + step, step * 2
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.registry.has(self.name(middle)) else (low, middle)
        return first if low == first.number else self.at(low)

    def append(self, number: int, entry: E) -> tuple[Stored[E], bool]:
        """Put an entry at a number: what stands there now, and whether it is this one."""
        put = self.registry.put_once(self.name(number), FORMS[self.kind].dump_json(entry).decode())
        return self._read(number, put.fact), put.won

    def _read(self, number: int, fact: Fact) -> Stored[E]:
        entry = parse(self.kind, self.name(number), fact)
        if entry.log != self.product:
            raise damaged(self.name(number), f"it is about {entry.log}")
        return Stored(number, entry, fact.rewritten, self.name(number))


def parse(kind: type[E], name: str, fact: Fact) -> E:
    """The entry that a fact holds."""
    try:
        entry: E = FORMS[kind].validate_json(fact.text)
    except ValidationError as exc:
        raise damaged(name, f"this floe cannot read it: {exc.errors()[0]['msg']}") from exc
    return entry


def stored(registry: Registry, kind: type[E], product: str = "", *, last_only: bool = False) -> list[Stored[E]]:
    """Every entry of one kind, of one product or of all, log by log, oldest first; or the last of each log."""
    found = []
    prefix = f"{stem(kind, product)}__" if product else f"{KINDS[kind]}__"
    for name, numbers in sorted(logs(registry.names(), prefix).items()):
        for number in numbers[-1:] if last_only else numbers:
            table = f"{name}__{number}"
            if fact := registry.get(table):
                found.append(Stored(number, parse(kind, table, fact), fact.rewritten, table))
    return [item for item in found if not product or item.entry.log == product]


def logs(names: list[str], prefix: str) -> dict[str, list[int]]:
    """The logs whose tables begin with a prefix, with the numbers of their entries in order."""
    found: dict[str, list[int]] = {}
    for name in names:
        subject, _, number = name.rpartition("__")
        if f"{subject}__".startswith(prefix) and number.isdecimal():
            found.setdefault(subject, []).append(int(number))
    return {subject: sorted(numbers) for subject, numbers in found.items()}


def stem(kind: type, product: str, *subject: str) -> str:
    """The name of a log's tables without the number: readable, with a hash where a table cannot be called so."""
    return "__".join((KINDS[kind], _part(*product.split(".")), *([_part(*subject)] if subject else [])))


def _part(*words: str) -> str:
    spelt = [word.replace(".", "_") if _VERSION.fullmatch(word) else word for word in words]
    plain = "__".join(spelt)
    if len(plain) <= WIDEST and all(_PLAIN.fullmatch(word) for word in spelt):
        return plain
    digest = hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
    readable = re.sub(r"[^a-z0-9]+", "_", plain.lower())[: WIDEST - 20].strip("_")
    return f"{readable}__h{digest}"
