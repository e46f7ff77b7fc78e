"""A lock in front of a catalog that cannot decide a race: waited for, given back, and not believed in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from sqlite_catalog import ABOUT, ELSEWHERE, HERE, PRODUCT, SqliteCatalog

from floe_core.findings import FloeError
from floe_core.identity import Actor, Consumer, ContractMetadata
from floe_core.patience import Patience
from floe_iceberg import LockingCatalogPlugin


@dataclass
class Locks:
    """Remembers who held what."""

    held: list[tuple[str, float]] = field(default_factory=list)
    open: set[str] = field(default_factory=set)

    @contextmanager
    def acquire(self, key: str, timeout: float) -> Iterator[None]:
        assert key not in self.open
        self.held.append((key, timeout))
        self.open.add(key)
        try:
            yield
        finally:
            self.open.discard(key)


@pytest.fixture
def weak(tmp_path: Path) -> SqliteCatalog:
    return SqliteCatalog(tmp_path, atomic_create=False)


def test_every_change_waits_for_the_products_lock(weak: SqliteCatalog) -> None:
    locks = Locks()
    catalog = LockingCatalogPlugin(weak, locks)
    assert catalog.register_product_namespace(PRODUCT, ABOUT).status == "created"
    assert catalog.register_product_identity(PRODUCT, HERE, "a").status == "already_owned"
    assert catalog.register_product_identity(PRODUCT, ELSEWHERE, "b").status == "conflict"
    assert catalog.update_product_metadata(PRODUCT, ABOUT).status == "already_owned"
    assert catalog.register_contract(PRODUCT, "c", "1.0.0", "s", ContractMetadata("o")).status == "created"
    assert catalog.register_consumer(PRODUCT, Consumer("hr.people", "c", "^1", "in")).status == "created"
    assert catalog.retire_product(PRODUCT, by=Actor(HERE)).status == "updated"
    assert locks.held == [("floe:namespace:lock:sales.customer_360", 30)] * 7
    assert locks.open == set()


def test_without_the_lock_the_catalog_still_refuses(weak: SqliteCatalog) -> None:
    LockingCatalogPlugin(weak, Locks()).register_product_namespace(PRODUCT, ABOUT)
    with pytest.raises(FloeError, match="FLOE-E623"):
        weak.update_product_metadata(PRODUCT, ABOUT)


def test_reading_needs_no_lock(weak: SqliteCatalog) -> None:
    locks = Locks()
    catalog = LockingCatalogPlugin(weak, locks)
    assert catalog.get_namespace_owner(PRODUCT) is None
    assert catalog.validate_product_identity(PRODUCT, HERE).status == "available"
    assert (catalog.list_products(), catalog.list_consumers(PRODUCT), locks.held) == ([], [], [])


def test_what_the_catalog_is_shows_through(weak: SqliteCatalog) -> None:
    catalog = LockingCatalogPlugin(weak, Locks())
    catalog.patience = Patience(1)
    assert (catalog.capabilities.atomic_create, catalog.warehouse) == (False, weak.warehouse)
    assert catalog.unlocked is weak
    assert weak.patience is catalog.patience


def test_a_claim_that_somebody_wrote_over_is_a_conflict(weak: SqliteCatalog) -> None:
    """A holder that slept past its lock wakes and takes the product, right after ours was written."""
    rival = SqliteCatalog(weak.home)

    def wake(name: str) -> None:
        if name == "create_namespace" and rival.get_namespace_owner(PRODUCT) == HERE:
            rival.transfer_product(PRODUCT, ELSEWHERE, "b", reason="woke up", admin=True)

    weak.calls.after = wake
    result = LockingCatalogPlugin(weak, Locks()).register_product_namespace(PRODUCT, ABOUT)
    assert (result.status, result.repository) == ("conflict", ELSEWHERE)
