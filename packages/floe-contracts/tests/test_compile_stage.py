"""Step 5 of a compile: contracts are read, judged, and compared with what the catalog keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any, cast

import pytest

from floe_core.catalog import Capabilities, CatalogPlugin
from floe_core.compile import compile_project
from floe_core.contracts import PluginContracts
from floe_core.drift import NEXT_RUN
from floe_core.env import Env
from floe_core.findings import Finding, FloeError, Place
from floe_core.identity import Consumer, RegisteredContract
from floe_core.table import Column, Kind, Type

NOW = datetime(2026, 11, 18, tzinfo=UTC)
MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    data_contracts: {enforcement: LEVEL}
    identity: {enforcement: IDENTITY}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: orders, version: "1.0.0", owner: a@acme.com, domain: sales}
    platform: manifest.yaml
    input_ports:
      - {name: people, source: {product: crm.people, version: RANGE}}
    output_ports:
      - name: orders
        schema:
          - {name: id, type: string, required: true, primary_key: true}
          - {name: amount, type: TYPE}
"""


@dataclass
class Shelf:
    """What a catalog keeps of contracts, or why it does not answer."""

    kept: list[RegisteredContract] = field(default_factory=list)
    tables: dict[str, tuple[Column, ...]] = field(default_factory=dict)
    readers: list[Consumer] = field(default_factory=list)
    producer: list[RegisteredContract] = field(default_factory=list)
    silent: bool = False
    tables_are_silent: bool = False
    name: str = "shelf"
    capabilities: Capabilities = field(default_factory=Capabilities)

    def describe(self) -> str:
        return "a shelf"

    def list_registered_contracts(self, product_id: str) -> Sequence[RegisteredContract]:
        if product_id == "crm.people":
            return self.producer
        assert product_id == "sales.orders"
        if self.silent:
            raise FloeError(Finding("FLOE-E807", "the shelf is gone", Place("(catalog)")))
        return self.kept

    def list_consumers(self, product_id: str) -> list[Consumer]:
        assert product_id in ("sales.orders", "crm.people")
        return self.readers

    def session(self) -> AbstractContextManager[object]:
        return nullcontext()

    def columns_of(self, namespace: tuple[str, ...], table: str) -> tuple[Column, ...] | None:
        if self.tables_are_silent:
            raise FloeError(Finding("FLOE-E807", "the tables are gone", Place("(catalog)")))
        assert namespace == ("sales", "orders")
        return self.tables.get(table)


def compiled(
    folder: Path,
    shelf: Shelf,
    level: str = "block",
    kind: str = "double",
    identity: str = "warn",
    accepted: str = "^1",
    *,
    before_run: bool = False,
) -> Any:
    (folder / "manifest.yaml").write_text(dedent(MANIFEST).replace("LEVEL", level).replace("IDENTITY", identity))
    (folder / "floe.yaml").write_text(dedent(PRODUCT).replace("TYPE", kind).replace("RANGE", accepted))
    contracts = PluginContracts(
        lambda: NOW,
        open=lambda chain, merged: cast(CatalogPlugin, shelf),  # noqa: ARG005 - the test's own
        before_run=before_run,
    )
    return compile_project(folder, Env(contracts=contracts))


def codes(outcome: Any) -> list[str]:
    return [item.code for item in outcome.findings if item.code.startswith(("FLOE-E5", "FLOE-E8"))]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """A catalog that has registered the first version."""
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    shelf = Shelf()
    [contract] = compiled(tmp_path, shelf).written.artifacts.data_contracts
    document = json.dumps(contract["document"])
    hashes = (contract["schema_hash"], NOW)
    shelf.kept.append(RegisteredContract("orders", "1.0.0", *hashes, document=document))
    return shelf


def test_what_is_registered_and_has_not_changed_passes(tmp_path: Path, shelf: Shelf) -> None:
    outcome = compiled(tmp_path, shelf)
    assert codes(outcome) == []
    assert [item["name"] for item in outcome.written.artifacts.data_contracts] == ["orders"]


def test_a_breaking_change_needs_a_major_version(tmp_path: Path, shelf: Shelf) -> None:
    outcome = compiled(tmp_path, shelf, kind="string")
    [finding] = [item for item in outcome.findings if item.code == "FLOE-E520"]
    assert (finding.line, finding.expected, finding.details) == (3, "2.0.0", ())
    assert outcome.written.artifacts is None


def test_a_breaking_change_names_the_registered_consumers(tmp_path: Path, shelf: Shelf) -> None:
    shelf.readers.append(Consumer("finance.report", "orders", "^1", "in"))
    outcome = compiled(tmp_path, shelf, kind="string")
    [finding] = [item for item in outcome.findings if item.code == "FLOE-E520"]
    assert finding.details == (("Consumers", ("finance.report reads orders ^1 (port in)",)),)


@pytest.mark.parametrize(("level", "severities"), [("off", []), ("warn", ["warning"]), ("alert_only", ["error"])])
def test_the_platform_decides_what_a_broken_contract_weighs(
    tmp_path: Path, shelf: Shelf, level: str, severities: list[str]
) -> None:
    outcome = compiled(tmp_path, shelf, level, kind="string")
    assert [item.severity.value for item in outcome.findings if item.code == "FLOE-E520"] == severities


def test_a_silent_catalog_is_a_warning_where_its_last_answer_is_known(tmp_path: Path, shelf: Shelf) -> None:
    compiled(tmp_path, shelf)
    shelf.silent = True
    assert codes(compiled(tmp_path, shelf)) == ["FLOE-E540"]
    assert codes(compiled(tmp_path, shelf, kind="string")) == ["FLOE-E520", "FLOE-E540"]


def test_a_silent_catalog_that_was_never_seen_is_could_not_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    outcome = compiled(tmp_path, Shelf(silent=True))
    assert codes(outcome) == ["FLOE-E807"]
    assert outcome.written.artifacts is None


def has(shelf: Shelf, amount: Kind = Kind.DOUBLE, *more: str) -> None:
    kinds = {"id": Kind.STRING, "amount": amount} | dict.fromkeys(more, Kind.STRING)
    shelf.tables["orders"] = tuple(Column(name, Type(kind)) for name, kind in kinds.items())


def drifted(outcome: Any) -> list[str]:
    return [f"{item.code} {item.severity.value}" for item in outcome.findings if "E53" in item.code]


def test_a_table_that_is_not_what_a_registered_version_promises_is_a_finding(tmp_path: Path, shelf: Shelf) -> None:
    has(shelf, Kind.STRING, "more")
    outcome = compiled(tmp_path, shelf)
    assert drifted(outcome) == ["FLOE-E530 error", "FLOE-E532 info"]
    [first] = [item for item in outcome.findings if item.code == "FLOE-E530"]
    assert (first.expected, first.actual) == ("double", "string")
    assert outcome.written.artifacts is None


def test_a_table_that_was_never_made_says_nothing(tmp_path: Path, shelf: Shelf) -> None:
    assert drifted(compiled(tmp_path, shelf)) == []


def test_a_new_version_only_tells_what_the_next_run_will_change(tmp_path: Path, shelf: Shelf) -> None:
    has(shelf, Kind.STRING)
    shelf.kept.clear()
    outcome = compiled(tmp_path, shelf)
    assert drifted(outcome) == ["FLOE-E530 info"]
    assert [item.fix for item in outcome.findings if item.severity.value == "info"] == [NEXT_RUN]
    assert outcome.written.artifacts


def test_a_retired_version_is_not_judged_by_its_tables(tmp_path: Path, shelf: Shelf) -> None:
    has(shelf, Kind.STRING)
    shelf.kept = [replace(item, retired=True) for item in shelf.kept]
    assert drifted(compiled(tmp_path, shelf)) == ["FLOE-E530 info"]


def test_before_a_run_the_tables_are_the_runs_business(tmp_path: Path, shelf: Shelf) -> None:
    has(shelf, Kind.STRING)
    assert drifted(compiled(tmp_path, shelf, before_run=True)) == ["FLOE-E530 info"]


@pytest.mark.parametrize(
    ("level", "said"), [("off", []), ("warn", ["FLOE-E530 warning"]), ("alert_only", ["FLOE-E530 error"])]
)
def test_the_platform_decides_what_drift_weighs(tmp_path: Path, shelf: Shelf, level: str, said: list[str]) -> None:
    has(shelf, Kind.STRING)
    assert drifted(compiled(tmp_path, shelf, level)) == said


@pytest.mark.parametrize(("level", "code"), [("warn", "FLOE-E540"), ("register", "FLOE-E807")])
def test_tables_that_cannot_be_looked_at_are_could_not_check(
    tmp_path: Path, shelf: Shelf, level: str, code: str
) -> None:
    shelf.tables_are_silent = True
    outcome = compiled(tmp_path, shelf, identity=level)
    assert codes(outcome) == [code]
    assert bool(outcome.written.artifacts) == (level == "warn")


def people(version: str, announced: str, sunset: str, *, retired: bool = False) -> RegisteredContract:
    ending = {
        "announced": announced,
        "sunset_date": sunset,
        "replacement": "persons",
        "migration_guide": "https://wiki.acme.com/persons",
    }
    document = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": "crm.people/people",
        "name": "people",
        "version": version,
        "status": "active",
        "schema": [{"name": "people", "properties": [{"name": "id", "logicalType": "string"}]}],
        "customProperties": [{"property": "floe.deprecation", "value": ending}],
    }
    return RegisteredContract("people", version, "sha256:x", NOW, document=json.dumps(document), retired=retired)


PHASES = {
    "active": ("2026-12-01", "2027-01-31"),
    "deprecated": ("2026-11-01", "2027-01-31"),
    "sunset": ("2026-10-01", "2026-11-15"),
    "retired": ("2026-09-01", "2026-10-15"),
}


@pytest.mark.parametrize(
    ("phase", "known", "said"),
    [
        ("active", False, []),
        ("deprecated", False, ["warning"]),
        ("sunset", True, ["warning"]),
        ("sunset", False, ["error"]),
        ("retired", True, ["error"]),
    ],
)
def test_consumers_are_told_of_the_end_of_what_they_read(
    tmp_path: Path, shelf: Shelf, phase: str, known: bool, said: list[str]
) -> None:
    shelf.producer.append(people("1.0.0", *PHASES[phase]))
    if known:
        shelf.readers.append(Consumer("sales.orders", "people", "^1", "people"))
    found = [item for item in compiled(tmp_path, shelf).findings if item.code == "FLOE-E526"]
    assert [item.severity.value for item in found] == said
    for item in found:
        assert (Path(item.path).name, item.line) == ("floe.yaml", 6)
        assert item.fix == "Move to persons; see https://wiki.acme.com/persons."


def test_a_consumer_hears_of_the_versions_that_it_accepts(tmp_path: Path, shelf: Shelf) -> None:
    shelf.producer += [people("1.0.0", *PHASES["retired"], retired=True), people("2.0.0", *PHASES["active"])]
    assert codes(compiled(tmp_path, shelf)) == ["FLOE-E526"]
    assert codes(compiled(tmp_path, shelf, accepted='"*"')) == []
    assert codes(compiled(tmp_path, shelf, accepted="^3")) == []


def test_the_platform_decides_what_the_end_of_a_source_weighs(tmp_path: Path, shelf: Shelf) -> None:
    shelf.producer.append(people("1.0.0", *PHASES["retired"]))
    found = compiled(tmp_path, shelf, "warn").findings
    assert [item.severity.value for item in found if item.code == "FLOE-E526"] == ["warning"]
    assert codes(compiled(tmp_path, shelf, "off")) == []
