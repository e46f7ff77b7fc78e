"""The checks of contracts, run on Spark and on Iceberg's metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError, RESTError
from pyspark.sql import SparkSession

from floe_contracts.drift import drift
from floe_contracts.plan import plan
from floe_core.checks import Check
from floe_core.contract import Contract, Table
from floe_core.verdicts import Answer, Answered, TableVerdict, judge
from floe_iceberg.measures import IcebergSource
from floe_spark.checks.memory import Memory
from floe_spark.checks.relation import FAILED, why
from floe_spark.checks.source import Answers, SparkSource


@dataclass(frozen=True, slots=True)
class Located:
    """Where a table of a contract lives: its name with the namespace, and whether it is a view."""

    identifier: tuple[str, ...]
    is_view: bool = False


@dataclass(frozen=True, slots=True)
class Subject:
    """A contract, and where each of its tables lives, by the name that the contract gives it in the catalog."""

    contract: Contract
    places: Mapping[str, Located]


@dataclass(frozen=True, slots=True)
class _Promise:
    """What one contract asks of one of its tables."""

    contract: Contract
    table: Table
    checks: tuple[Check, ...]
    place: Located | None


def check_contracts(
    session: SparkSession, catalog: Catalog, subjects: Sequence[Subject], memory: Path, now: datetime
) -> list[TableVerdict]:
    """A verdict for each table of each contract. Spark must know the catalog by the same name.

    A table that several contracts promise is read once for all of them.
    """
    promises = [promise for subject in subjects for promise in _promises(subject)]
    found: dict[Located | None, Iterator[TableVerdict]] = {}
    for place in dict.fromkeys(item.place for item in promises):
        mine = [item for item in promises if item.place == place]
        found[place] = iter(_check(session, catalog, place, mine, Memory(memory), now))
    return [next(found[item.place]) for item in promises]


def _promises(subject: Subject) -> Iterator[_Promise]:
    checks = plan(subject.contract).checks
    first = subject.contract.tables[:1]
    for table in subject.contract.tables:
        mine = [item for item in checks if item.table == table.in_catalog]
        mine += [item for item in checks if not item.table and table in first]
        yield _Promise(subject.contract, table, tuple(mine), subject.places.get(table.in_catalog))


def _check(
    session: SparkSession,
    catalog: Catalog,
    place: Located | None,
    promises: Sequence[_Promise],
    memory: Memory,
    now: datetime,
) -> list[TableVerdict]:
    """What all contracts of one table find there, in one pass."""
    if place is None:
        return [_unknown(item, (), "nothing makes the table") for item in promises]
    asked = [[_numbered(number, check) for check in item.checks] for number, item in enumerate(promises)]
    try:
        source = open_source(session, catalog, place, memory, now)
        found = source.answers([check for checks in asked for check in checks])
        columns = source.schema()
    except (NoSuchTableError, NoSuchNamespaceError):
        return [_unknown(item, place.identifier, "the table is not there", is_absent=True) for item in promises]
    except (OSError, RESTError) as exc:
        return [_unknown(item, place.identifier, str(exc).partition("\n")[0][:200]) for item in promises]
    except FAILED as exc:
        return [_unknown(item, place.identifier, why(exc)) for item in promises]
    verdicts = []
    for item, checks in zip(promises, asked, strict=True):
        answers = (found.get(check.id) for check in checks)
        results = tuple(judge(check, answer) for check, answer in zip(item.checks, answers, strict=True))
        changed = tuple(drift(item.contract, item.table, columns))
        name = item.table.in_catalog
        verdicts.append(TableVerdict(item.contract, name, place.identifier, results, source.cost, changed))
    return verdicts


def _numbered(number: int, check: Check) -> Check:
    """A check by a name that no other contract's check has."""
    return replace(check, id=f"{number} {check.id}")


def open_source(
    session: SparkSession, catalog: Catalog, place: Located, memory: Memory | None, now: datetime
) -> SparkSource:
    """A relation as something that can be asked. Raises NoSuchTableError."""
    iceberg = None if place.is_view else IcebergSource(catalog.load_table(place.identifier), now)
    return SparkSource(session, (catalog.name, *place.identifier), iceberg, memory, now)


def _unknown(
    promise: _Promise, identifier: tuple[str, ...], reason: str, *, is_absent: bool = False
) -> TableVerdict:
    checks = promise.checks
    answers: Answers = {check.id: Answer(None, Answered.NOBODY, reason=reason) for check in checks}
    if is_absent:
        answers |= {check.id: Answer(0, Answered.METADATA) for check in checks if check.metric == "availability"}
    results = tuple(judge(item, answers[item.id]) for item in checks)
    return TableVerdict(promise.contract, promise.table.in_catalog, identifier, results)
