"""Contested claims on a real REST catalog: who believes to own a product must own it, and nobody else.

python -m testing.attack.rest [--processes 16] [--rounds 100] [--database sqlite|postgres]
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from floe_core.catalog import CatalogPlugin
from floe_testing.conformance.catalog.processes import Done, Process, processes, race
from floe_testing.conformance.catalog.products import Claim, claimed, contract
from floe_testing.conformance.catalog.subject import Subject
from floe_testing.conformance.catalog.test_model import RUNS_PER_ROUND
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.postgres import postgres

CONTRACTS = 32  # versions that are registered at the same moment


@dataclass
class Tally:
    """What the attack found."""

    claims: Counter[str] = field(default_factory=Counter)
    double_owners: int = 0
    lost_acknowledgements: int = 0  # a winner that the registry does not know, or one that was never told
    lost_contracts: int = 0
    unanswered: int = 0  # FLOE-E807: neither a claim nor a conflict

    @property
    def is_clean(self) -> bool:
        return not (self.double_owners or self.lost_acknowledgements or self.lost_contracts)

    def __str__(self) -> str:
        told = ", ".join(f"{number} {status}" for status, number in sorted(self.claims.items()))
        return (
            f"{told}; {self.double_owners} double owners, {self.lost_acknowledgements} lost acknowledgements, "
            f"{self.lost_contracts} lost contracts, {self.unanswered} unanswered"
        )


def attack(catalog: CatalogPlugin, racers: Sequence[Process], rounds: int) -> Tally:
    """Round after round, everybody claims the same product."""
    tally, domain = Tally(), f"attack{secrets.token_hex(4)}"
    for number in range(1, rounds + 1):
        contest(catalog, racers, f"{domain}.product_{number}", tally)
        if number % 20 == 0 or number == rounds:
            print(f"  {number:4} rounds: {tally}", flush=True)
    return tally


def contest(catalog: CatalogPlugin, racers: Sequence[Process], product: str, tally: Tally) -> None:
    repositories = [f"github.com/acme/rival-{number}" for number in range(len(racers))]
    answers = race(racers, [Claim(product, name).arguments() for name in repositories])
    pairs = zip(repositories, answers, strict=True)
    told = {name: answer.value for name, answer in pairs if isinstance(answer, Done)}
    tally.claims.update(str(result.status) for result in told.values())
    tally.unanswered += len(answers) - len(told)
    winners = [name for name, result in told.items() if result.status == "created"]
    tally.double_owners += len(winners) > 1
    owner = catalog.get_namespace_owner(product)
    if owner in told or owner is None:  # an owner without an answer learns it when it asks again
        tally.lost_acknowledgements += winners != [owner]
    losers = [result for result in told.values() if result.status == "conflict"]
    tally.lost_acknowledgements += any(result.existing_owner != owner for result in losers)


def promise(catalog: CatalogPlugin, racers: Sequence[Process], product: str, tally: Tally) -> None:
    claimed(catalog, product)
    versions = [f"1.{number}.0" for number in range(len(racers))]
    said = contract(repository=None)
    answers = race(racers, [("register_contract", product, "customers", each, "s1", said) for each in versions])
    acknowledged = {each for each, answer in zip(versions, answers, strict=True) if isinstance(answer, Done)}
    kept = {found.version for found in catalog.list_registered_contracts(product)}
    tally.lost_contracts += len(acknowledged - kept)
    print(f"  {len(acknowledged)} of {len(versions)} contract versions acknowledged, {len(kept)} kept", flush=True)


def histories(name: str, config: dict[str, Any], folder: Path, examples: int) -> bool:
    """Random histories with crashes and tampering, against the model of the conformance kit."""
    print(f"{examples} random histories", flush=True)
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--pyargs", "floe_testing.conformance.catalog.test_model", "-q"]
    command += ["-p", "no:cacheprovider", f"--floe-catalog={name}", f"--floe-config={file}"]
    rounds = -(-examples // RUNS_PER_ROUND)
    return subprocess.run([*command, f"--floe-rounds={rounds}"], check=False).returncode == 0


@contextmanager
def server(folder: Path, database: str) -> Iterator[str]:
    if database == "postgres":
        with postgres() as behind, iceberg_rest(folder, behind.jdbc) as uri:
            yield uri
    else:
        with iceberg_rest(folder) as uri:
            yield uri


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--examples", type=int, default=200)
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    asked = parser.parse_args()
    print(f"REST on {asked.database}: {asked.processes} processes × {asked.rounds} contested claims", flush=True)
    with tempfile.TemporaryDirectory(prefix="floe-attack-") as folder, server(Path(folder), asked.database) as uri:
        subject = Subject("rest", {"uri": uri}, Path(folder) / ".floe")
        catalog = subject.make()
        catalog.init_registry()
        claimed(catalog, f"warm{secrets.token_hex(4)}.up")
        with processes(subject, max(asked.processes, CONTRACTS)) as racers:
            tally = attack(catalog, racers[: asked.processes], asked.rounds)
            promise(catalog, racers[:CONTRACTS], f"attack{secrets.token_hex(4)}.promises", tally)
        print("clean" if tally.is_clean else "NOT CLEAN", flush=True)
        agrees = not asked.examples or histories("rest", {"uri": uri}, Path(folder), asked.examples)
    return 0 if tally.is_clean and agrees else 1


if __name__ == "__main__":
    sys.exit(main())
