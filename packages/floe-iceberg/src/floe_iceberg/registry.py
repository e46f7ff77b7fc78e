"""put_once: facts that are written once and never changed, as marker tables of one namespace.

Of all operations that catalogs offer, only "create this table, unless it is there" is atomic everywhere, so every
fact is a table: its properties hold the fact as JSON, its name says what the fact is about. What a client answers
is never believed. A winner finds its own nonce in the catalog, a loser somebody else's, and both may have been told
the opposite: by a server error, a lost response, or a race inside the client.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.noop import NoopCatalog
from pyiceberg.exceptions import (
    BadRequestError,
    CommitFailedException,
    ForbiddenError,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    RESTError,
    TableAlreadyExistsError,
    UnauthorizedError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.typedef import Identifier, Properties
from pyiceberg.types import NestedField, StringType

from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import Retry
from floe_core.patience import Patience

NAMESPACE = ("floe__registry",)
HIDDEN = "floe__"  # namespaces that no listing shows
SCHEMA = Schema(NestedField(1, "floe", StringType(), required=False))  # a table must have a column
FACT, NONCE, DIGEST = "floe.fact", "floe.nonce", "floe.digest"

PASSING = (OSError, RESTError, CommitFailedException, TableAlreadyExistsError, NamespaceAlreadyExistsError)
LASTING = (BadRequestError, ForbiddenError, PermissionError, UnauthorizedError)  # the same answer next time

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact:
    """What a marker says; `rewritten`: somebody has changed the table since."""

    text: str
    nonce: str
    rewritten: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    """The fact that stands in the catalog now, and whether it is ours."""

    fact: Fact
    won: bool


class Nowhere(NoopCatalog):
    """A catalog that has not been made yet: nothing is in it."""

    def load_table(self, identifier: str | Identifier) -> Table:
        raise NoSuchTableError(identifier)

    def table_exists(self, identifier: str | Identifier) -> bool:
        del identifier
        return False

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        raise NoSuchNamespaceError(namespace)

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        raise NoSuchNamespaceError(namespace)


class Registry:
    """The marker tables of one open catalog."""

    def __init__(
        self,
        catalog: Catalog,
        retry: Retry,
        *,
        passing: tuple[type[Exception], ...] = (),
        may_create: bool = True,
        patience: Patience | None = None,
    ) -> None:
        self.catalog = catalog
        self.retry = retry
        self.patience = patience or Patience()
        self.passing: tuple[type[Exception], ...] = (*PASSING, *passing)
        self.may_create = may_create

    def put_once(self, name: str, text: str) -> Put:
        """Write a fact unless one of that name stands; whatever happens, the answer is what the catalog has."""
        nonce = secrets.token_hex(16)  # the same in every try: one that seemed lost may land later
        marks = {FACT: text, NONCE: nonce, DIGEST: _digest(name, text)}
        delays = self.retry.delays()
        is_made = False
        while True:
            try:
                with self.patience.one():
                    found = _fact(name, self.catalog.create_table((*NAMESPACE, name), SCHEMA, properties=marks))
            except NoSuchNamespaceError as exc:
                if not is_made:
                    self.init()
                    is_made = True
                    continue
                failure: Exception = exc
            except Exception as exc:  # noqa: BLE001 - any failure may hide a success: only what stands there counts
                failure = exc
            else:
                return Put(found, won=found.nonce == nonce)
            if stands := self.get(name):
                return Put(stands, won=stands.nonce == nonce)
            self._wait(failure, delays)

    def get(self, name: str) -> Fact | None:
        """The fact of that name, if there is one."""

        def read() -> Fact | None:
            try:
                return _fact(name, self.catalog.load_table((*NAMESPACE, name)))
            except (NoSuchTableError, NoSuchNamespaceError):
                return None

        try:
            return self.attempt(read)
        except FileNotFoundError as exc:  # the catalog knows the table, and its metadata is gone
            raise damaged(name, "its metadata file is missing") from exc

    def has(self, name: str) -> bool:
        try:
            return self.attempt(lambda: self.catalog.table_exists((*NAMESPACE, name)))
        except NoSuchNamespaceError:
            return False
        except FileNotFoundError:
            return True

    def names(self) -> list[str]:
        """The name of every fact."""
        try:
            tables = self.attempt(lambda: self.catalog.list_tables(NAMESPACE))
        except NoSuchNamespaceError:
            return []
        return sorted(identifier[-1] for identifier in tables)

    def init(self, *, by_hand: bool = False) -> bool:
        """Make the registry's namespace; False when it was there."""
        if not (self.may_create or by_hand):
            message = f"the catalog has no namespace {'.'.join(NAMESPACE)}"
            raise FloeError(Finding("FLOE-E621", message, Place("(catalog)")))
        return self.make_namespace(NAMESPACE, {"floe.registry": "1"})

    def make_namespace(self, namespace: tuple[str, ...], properties: dict[str, str]) -> bool:
        """Make a namespace unless it is there. That it stands afterwards is what counts."""
        delays = self.retry.delays()
        while True:
            try:
                with self.patience.one():
                    self.catalog.create_namespace(namespace, properties)
            except Exception as exc:  # noqa: BLE001 - as in put_once
                failure = exc
            else:
                return True
            if self.attempt(lambda: self.catalog.namespace_exists(namespace)):
                return False
            self._wait(failure, delays)

    def attempt(self, call: Callable[[], T]) -> T:
        """Do it, and do it again after a failure that may pass."""
        delays = self.retry.delays()
        while True:
            try:
                with self.patience.one():
                    return call()
            except self.passing as exc:
                self._wait(exc, delays)

    def _wait(self, failure: Exception, delays: Iterator[float]) -> None:
        """Wait for the next try, or give up with the failure of the last."""
        lasting = isinstance(failure, LASTING) or not isinstance(failure, self.passing)
        if lasting or (delay := next(delays, None)) is None:
            raise failure
        self.retry.pause(delay)


def _digest(name: str, text: str) -> str:
    return hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()


def _fact(name: str, table: Table) -> Fact:
    marks = table.properties
    if not {FACT, NONCE, DIGEST} <= set(marks):
        raise damaged(name, "it is not an entry of floe's")
    if marks[DIGEST] != _digest(name, marks[FACT]):
        raise damaged(name, "its content does not match its digest")
    return Fact(marks[FACT], marks[NONCE], rewritten=bool(table.metadata.metadata_log))


def damaged(name: str, how: str) -> FloeError:
    """An entry that cannot be believed."""
    message = f"{'.'.join(NAMESPACE)}.{name}: {how}"
    return FloeError(Finding("FLOE-E622", message, Place("(catalog)")))
