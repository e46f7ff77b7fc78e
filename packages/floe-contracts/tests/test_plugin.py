"""The plugin behind `floe.contracts`, asked through its interface."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders import column, contract, sla, table

from floe_contracts.plugin import ODCSDataContractPlugin
from floe_core.checks import CheckPlan, Snapshot, TableSource
from floe_core.contract_plugin import DataContractPlugin
from floe_core.findings import FloeError, Place
from floe_core.plugins import load_plugin
from floe_core.schemas.data_product import DataProductMetadata, OutputPort
from floe_core.table import Column, Kind, Type

SPEC = Path(__file__).parent / "contracts" / "spec-shorthand.yaml"
PLUGIN = ODCSDataContractPlugin()


class Memory:
    """A table that knows its answers."""

    def __init__(self, *columns: Column, age: timedelta | None = None, **answers: Any) -> None:
        self.columns, self.answers = columns, answers
        self.changed = None if age is None else datetime.now(UTC) - age

    def schema(self) -> tuple[Column, ...]:
        return self.columns

    def snapshot(self) -> Snapshot:
        return Snapshot(self.changed)

    def aggregate(self, plan: CheckPlan) -> Mapping[str, Any]:
        return {check.id: self.answers[check.metric] for check in plan.checks if check.metric in self.answers}


class Gone(Memory):
    def snapshot(self) -> Snapshot:
        raise ConnectionError("no route")


def test_the_plugin_is_found_by_its_name() -> None:
    found = load_plugin("floe.contracts", "odcs", DataContractPlugin, Place("x"))  # type: ignore[type-abstract]
    assert found is ODCSDataContractPlugin


def test_a_contract_is_parsed_linted_and_validated() -> None:
    parsed = PLUGIN.parse_contract(SPEC)
    assert parsed.version == "2.1.0"
    linted = PLUGIN.lint_contract_file(SPEC)
    assert linted.valid
    assert [item.code for item in linted.findings] == ["FLOE-E503"]
    assert not PLUGIN.validate_contract(parsed).valid
    with pytest.raises(FloeError):
        PLUGIN.parse_contract(SPEC.parent / "absent.yaml")


def test_the_linter_of_record_speaks_too(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(
        SPEC.read_text().replace("        unique: true", "        quality: [{metric: rowCount, mustBe: 1}]")
    )
    found = [item.message for item in PLUGIN.lint_contract_file(file).findings]
    assert any(message.startswith("datacontract-cli: ") for message in found)


def test_ports_become_a_contract_and_explicit_words_win() -> None:
    metadata = DataProductMetadata(name="crm", version="1.0", owner="a", domain="sales")
    port = OutputPort.model_validate({"name": "customers", "schema": [{"name": "id", "type": "int"}]})
    generated = PLUGIN.generate_contract_from_ports([port], [], metadata)
    assert generated.id == "sales.crm/customers"
    explicit = contract(table(column("id", description="The id"), name="customers"), name="sales-crm-customers")
    merged = PLUGIN.merge_contracts(generated, explicit)
    assert merged.name == "customers"
    [promised] = merged.tables[0].columns
    assert (promised.type.kind, promised.description) == (Kind.STRING, "The id")


def test_drift_is_found_with_the_specifications_codes() -> None:
    promised = contract(table(column("user_id"), column("name"), column("n", "integer")))
    actual = Memory(
        Column("user_id", Type(Kind.INT)), Column("n", Type(Kind.LONG)), Column("extra", Type(Kind.INT))
    )
    result = PLUGIN.detect_schema_drift(promised, actual)
    assert [(item.code, item.message) for item in result.violations] == [
        ("FLOE-E530", "Type mismatch for column 'user_id'"),
        ("FLOE-E531", "Column 'name' is missing in the table"),
        ("FLOE-E532", "Column 'extra' is not in the contract"),
    ]
    assert result.violations[0].details == (("Contract", "string, Table: int"),)
    assert result.violations[0].fix == "Update contract schema or table definition to match"
    assert not result.matches
    assert [item.code for item in PLUGIN.check_breaking_changes(promised, actual)] == ["FLOE-E530", "FLOE-E531"]


def test_a_type_that_floe_does_not_know_never_matches() -> None:
    promised = contract(table(column("a", physicalType="money")))
    assert not PLUGIN.detect_schema_drift(promised, Memory(Column("a", Type(Kind.STRING)))).matches


def test_schemas_are_compared() -> None:
    result = PLUGIN.compare_schemas([Column("a", Type(Kind.INT))], [Column("a", Type(Kind.LONG))])
    assert [change.id for change in result.changes] == ["type-widened"]


@pytest.mark.parametrize(
    ("source", "passed"),
    [
        (Memory(age=timedelta(hours=1)), True),
        (Memory(age=timedelta(hours=9)), False),
        (Memory(), None),
    ],
)
def test_freshness_is_the_age_of_the_last_change(source: TableSource, passed: bool | None) -> None:
    promised = contract(slaProperties=[sla("freshness", "PT6H")])
    assert PLUGIN.check_freshness(promised, source, None).passed is passed


def test_freshness_of_a_column_is_measured() -> None:
    promised = contract(table(column("at", "timestamp")), slaProperties=[sla("freshness", "PT6H")])
    assert PLUGIN.check_freshness(promised, Memory(freshness=60), "at").passed is True
    assert PLUGIN.check_freshness(promised, Memory(freshness=10**6), "at").passed is False
    assert PLUGIN.check_freshness(promised, Memory(), "at").passed is None
    assert PLUGIN.check_freshness(contract(), Memory(), None).passed is None


def test_availability_is_whether_the_table_can_be_read() -> None:
    assert PLUGIN.check_availability(contract(), Memory()).passed is True
    assert PLUGIN.check_availability(contract(), Gone()).passed is False


def test_quality_is_every_check_and_what_was_not_measured_is_no_pass() -> None:
    rules = [{"metric": "rowCount", "mustBeGreaterThan": 0}, {"type": "text", "description": "x"}]
    promised = contract(table(column("id", required=True, unique=True), quality=rules))
    results = PLUGIN.check_quality(promised, Memory(nullValues=0, rowCount=0))
    assert [(item.name, item.passed) for item in results] == [
        ("orders.id:nullValues", True),
        ("orders.id:duplicateValues", None),
        ("orders:rowCount", False),
        ("orders:text", None),
    ]


def test_version_bumps_are_judged_in_words() -> None:
    old, new = contract(table(column("a"), column("b"))), contract(table(column("a")), version="1.1.0")
    valid, reason = PLUGIN.validate_version_bump(old, new)
    assert not valid
    assert reason.startswith("FLOE-E520: breaking change without a MAJOR version")
    assert PLUGIN.validate_version_bump(old, contract(table(column("a")), version="2.0.0")) == (
        True,
        "1.0.0 → 2.0.0: MAJOR",
    )
