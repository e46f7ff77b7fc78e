"""Contested claims on SQL catalogs, and the registry against its model: minutes to an hour, never in CI.

python -m testing.attack.sql [--processes 16] [--rounds 500] [--examples 2000] [--database sqlite|postgres]
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from testing.attack.rest import CONTRACTS, attack, histories, promise

from floe_testing.conformance.catalog.processes import processes
from floe_testing.conformance.catalog.products import claimed
from floe_testing.conformance.catalog.subject import Subject
from floe_testing.services.postgres import postgres

TESTS = Path(__file__).parents[2] / "packages" / "floe-iceberg" / "tests"


@contextmanager
def settings(database: str, folder: Path) -> Iterator[dict[str, Any]]:
    if database == "postgres":
        with postgres() as server:
            yield {"uri": server.uri, "password": server.password, "warehouse": str(folder / "warehouse")}
    else:
        yield {}


def contest(database: str, number: int, rounds: int, examples: int) -> bool:
    """Everybody claims the same product, and 32 contract versions come at once: whether nothing was lost."""
    print(f"{database}: {number} processes × {rounds} contested claims", flush=True)
    with tempfile.TemporaryDirectory(prefix="floe-attack-") as folder, settings(database, Path(folder)) as config:
        subject = Subject("sql", config, Path(folder) / ".floe")
        catalog = subject.make()
        claimed(catalog, f"warm{secrets.token_hex(4)}.up")
        with processes(subject, max(number, CONTRACTS)) as racers:
            tally = attack(catalog, racers[:number], rounds)
            promise(catalog, racers[:CONTRACTS], f"attack{secrets.token_hex(4)}.promises", tally)
        print("clean" if tally.is_clean else "NOT CLEAN", flush=True)
        agrees = not examples or histories("sql", config, Path(folder), examples)
    return tally.is_clean and agrees


def model(examples: int) -> bool:
    """The registry against its model, and processes that are killed before every call."""
    print(f"{examples} random histories, and every crash point", flush=True)
    command = [sys.executable, "-m", "pytest", str(TESTS / "test_machine.py"), str(TESTS / "test_races.py"), "-q"]
    environment = {**os.environ, "FLOE_EXAMPLES": str(examples), "FLOE_ROUNDS": "20"}
    return subprocess.run(command, env=environment, check=False).returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--database", choices=["sqlite", "postgres"], action="append")
    asked = parser.parse_args()
    databases = asked.database or ["sqlite", "postgres"]
    few = asked.examples // 10  # a service takes longer for each
    clean = [contest(database, asked.processes, asked.rounds, few) for database in databases]
    if asked.examples:
        clean.append(model(asked.examples))
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
