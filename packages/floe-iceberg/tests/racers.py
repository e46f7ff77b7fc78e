"""Work for other processes: they import this module, and make their own catalog from a folder."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.context import ForkServerContext
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path

from sqlite_catalog import ABOUT, SqliteCatalog

from floe_core.identity import Actor, Consumer, ContractMetadata

PATIENCE = 120  # seconds that racers wait for one another; only one that hangs takes longer
_barrier: Barrier | None = None


def _start(barrier: Barrier) -> None:
    global _barrier
    _barrier = barrier


def meet() -> None:
    """Wait until all racers are here."""
    assert _barrier
    _barrier.wait(PATIENCE)


def forkserver() -> ForkServerContext:
    """Processes that are forked from one that has imported what takes long."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["floe_iceberg.plugin", "pyiceberg.catalog.sql", "pyiceberg.io.pyarrow"])
    return context


@contextmanager
def processes(number: int) -> Iterator[Pool]:
    """A pool whose processes can wait for one another."""
    context = forkserver()
    with context.Pool(number, _start, (context.Barrier(number),)) as pool:
        yield pool


def claim(home: Path, racer: int, rounds: int) -> list[str]:
    """Claim the same new product as everybody else, round after round: how each ended."""
    catalog = SqliteCatalog(home)
    found = []
    for number in range(rounds):
        meet()
        about = replace(ABOUT, name=f"p{number}", repository=f"github.com/acme/r{racer}", path=None)
        result = catalog.register_product_namespace(f"race.p{number}", about)
        found.append(f"{result.status} {result.repository}")
    return found


def tell_one_another(home: Path, racer: int, rounds: int) -> list[str]:
    """Change the same product as everybody else: every change must be in its history."""
    catalog = SqliteCatalog(home)
    meet()
    return [
        catalog.transfer_product(
            "race.shared", "github.com/acme/r", f"o{racer}-{number}", reason="x", admin=True
        ).status
        for number in range(rounds)
    ]


WORK: dict[str, Callable[[SqliteCatalog], object]] = {
    "claim": lambda catalog: catalog.register_product_namespace("sales.customer_360", ABOUT),
    "reserve": lambda catalog: catalog.register_product_namespace(
        "retail.customer_360", replace(ABOUT, domain="retail", catalog_namespace="shop")
    ),
    "update": lambda catalog: catalog.register_product_namespace("sales.orders", replace(ABOUT, version="9.0.0")),
    "transfer": lambda catalog: catalog.transfer_product(
        "sales.orders", "github.com/acme/new", "new@acme.com", by=Actor(ABOUT.repository)
    ),
    "retire": lambda catalog: catalog.retire_product("sales.orders", by=Actor(ABOUT.repository)),
    "contract": lambda catalog: catalog.register_contract(
        "sales.orders",
        "orders",
        "1.0.0",
        "s",
        ContractMetadata("a", document_hash="d", registered_at=ABOUT.registered_at),
    ),
    "consumer": lambda catalog: catalog.register_consumer(
        "sales.orders", Consumer("finance.reports", "orders", "^1", "in", registered_at=ABOUT.registered_at)
    ),
}


def die_at(home: Path, work: str, number: int) -> None:
    """Do it, and be killed right before the client's call of that number."""
    catalog = SqliteCatalog(home)

    def kill(name: str) -> None:
        del name
        if len(catalog.calls.names) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    catalog.calls.before = kill
    WORK[work](catalog)


def killed(home: Path, work: str, number: int) -> bool:
    """Whether another process died of it."""
    process = forkserver().Process(target=die_at, args=(home, work, number))
    process.start()
    process.join(PATIENCE)
    return process.exitcode == -signal.SIGKILL
