"""From a product's folder to its contracts: written, generated, merged, inherited."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import product, put, told

from floe_contracts.stage import check_contracts, read_contracts
from floe_core import project
from floe_core.contract import Contract
from floe_core.findings import Finding, Severity
from floe_core.project import Column, Config, Constraint, Metadata, RawManifest, RawNode
from floe_core.schemas.levels import FieldClass
from floe_core.table import Kind

ENTERPRISE = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme}
    scope: enterprise
    data_contracts: {enforcement: ENFORCEMENT}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: customer-360, version: "1.2", owner: sales@acme.com, domain: sales}
    platform: platform/manifest.yaml
    output_ports:
      - name: customers
        table: gold_customers
        schema:
          - {name: customer_id, type: string, required: true, primary_key: true, description: The id}
          - {name: email, type: string, classification: pii}
        sla: {freshness: PT6H, availability: "99.9%"}
        classification: CONFIDENTIAL
"""
SPEC = (Path(__file__).parent / "contracts" / "spec-shorthand.yaml").read_text()


def node(name: str, **more: Any) -> RawNode:
    columns = {item.name: item for item in more.pop("columns", ())}
    given = {"unique_id": f"model.x.{name}", "name": name, "resource_type": "model", "package_name": "x"}
    return RawNode(**{**given, "original_file_path": f"models/{name}.sql", "columns": columns, **more})


def dbt_test(model: RawNode, column: str, name: str, config: Config | None = None, **kwargs: Any) -> RawNode:
    return RawNode(
        unique_id=f"test.x.{name}_{column}",
        name=f"{name}_{column}",
        resource_type="test",
        package_name="x",
        original_file_path="models/models.yml",
        column_name=column,
        attached_node=model.unique_id,
        test_metadata=project.TestMetadata(name, kwargs),
        config=config or Config(),
    )


@pytest.mark.parametrize("key", [True, 5, "email", [{"a": 1}], {"email": 1}])
def test_a_primary_key_in_another_form_is_none(tmp_path: Path, key: object) -> None:
    model = node("gold_customers", columns=[Column("email")], meta={"floe": {"primary_key": key}})
    [contract], findings = read(tmp_path, manifest(model))
    assert findings == []
    assert [column.name for column in contract.tables[0].columns if column.primary_key] == ["customer_id"]


def manifest(*nodes: RawNode) -> RawManifest:
    return RawManifest(Metadata(), {item.unique_id: item for item in nodes})


def read(
    folder: Path,
    dbt: RawManifest | None = None,
    files: dict[str, str] | None = None,
    *,
    enforcement: str = "block",
    floe: str = PRODUCT,
) -> tuple[tuple[Contract, ...], list[Finding]]:
    put(folder, {"platform/manifest.yaml": ENTERPRISE.replace("ENFORCEMENT", enforcement), "floe.yaml": floe})
    put(folder, files or {})
    loaded, merged = product(folder)
    return read_contracts(loaded, dbt, merged)


def test_a_port_without_a_contract_gets_one(tmp_path: Path) -> None:
    [contract], findings = read(tmp_path)
    assert findings == []
    assert (contract.name, contract.id, contract.version) == ("customers", "sales.customer_360/customers", "1.2.0")
    assert (contract.owner, contract.api_version) == ("sales@acme.com", "v3.1.0")
    [table] = contract.tables
    assert table.in_catalog == "gold_customers"
    assert [column.name for column in table.columns] == ["customer_id", "email"]
    assert table.columns[0].primary_key
    assert table.columns[1].classes == (FieldClass.PII,)
    assert [sla.text for sla in contract.slas] == ["PT6H", "99.9%"]


def test_generated_values_stand_where_the_port_says_them(tmp_path: Path) -> None:
    [contract], _ = read(tmp_path)
    line = (tmp_path / "floe.yaml").read_text().splitlines().index
    assert contract.place(("version",)).line == 3
    place = contract.place(("schema", 0, "properties", 1, "classification"))
    assert (tmp_path / "floe.yaml").read_text().splitlines()[place.line - 1].strip().startswith("- {name: email")
    assert (
        line('    sla: {freshness: PT6H, availability: "99.9%"}') + 1 == contract.place(("slaProperties", 0)).line
    )


def test_the_dbt_project_completes_what_the_port_leaves_open(tmp_path: Path) -> None:
    model = node(
        "gold_customers",
        description="All customers",
        patch_path="x://models/models.yml",
        constraints=[Constraint("primary_key", ["region"])],
        columns=[
            Column("email", description="Where to write", data_type="varchar(80)"),
            Column(
                "region", data_type="int", constraints=[Constraint("not_null")], meta={"classification": "internal"}
            ),
            Column("updated_at", data_type="timestamp", meta={"floe": {"classification": ["pii", "phi"]}}),
        ],
    )
    tests = (
        dbt_test(model, "email", "not_null"),
        dbt_test(model, "region", "unique"),
        dbt_test(model, "region", "accepted_values", values=[1, 2]),
        dbt_test(model, "region", "relationships", to="x"),
    )
    [contract], findings = read(tmp_path, manifest(model, *tests))
    assert findings == []
    table = contract.tables[0]
    columns = {column.name: column for column in table.columns}
    assert table.description == "All customers"
    assert (columns["email"].required, columns["email"].description) == (True, "Where to write")
    assert columns["email"].type.kind is Kind.STRING
    assert (columns["region"].primary_key, columns["region"].unique, columns["region"].required) == (True,) * 3
    assert columns["region"].type.kind is Kind.INT
    assert columns["updated_at"].classes == (FieldClass.PII, FieldClass.PHI)
    assert [(rule.column, rule.metric) for rule in table.rules] == [("region", "invalidValues")]
    assert contract.origin(("schema", 0, "description")).source == "dbt"
    assert contract.place(("schema", 0, "description")).path == "models/models.yml"


def test_tests_that_only_warn_or_look_at_some_rows_promise_nothing(tmp_path: Path) -> None:
    model = node("gold_customers", columns=[Column("email")])
    tests = [
        dbt_test(model, "email", "not_null", Config(severity="warn")),
        dbt_test(model, "email", "unique", Config(where="x > 1")),
        dbt_test(model, "email", "accepted_values", Config(error_if=">10"), values=["a"]),
    ]
    [contract], _ = read(tmp_path, manifest(model, *tests))
    assert contract.tables[0].rules == ()
    email = contract.tables[0].columns[1]
    assert (email.required, email.unique) == (False, False)


def test_an_explicit_contract_wins_field_by_field(tmp_path: Path) -> None:
    model = node("gold_customers", columns=[Column("updated_at", data_type="timestamp")])
    [contract], findings = read(tmp_path, manifest(model), files={"datacontract.yaml": SPEC})
    assert findings == []
    assert (contract.name, contract.version, contract.owner) == ("customers", "2.1.0", "sales-analytics@acme.com")
    assert contract.id == "sales.customer_360/customers"
    [table] = contract.tables
    assert (table.name, table.in_catalog) == ("customers", "gold_customers")
    assert [column.name for column in table.columns] == ["customer_id", "email", "lifetime_value", "updated_at"]
    sources = {
        path[-2]: contract.origin(("schema", 0, *path)).source
        for path in (("properties", 0, "description"), ("properties", 3, "name"))
    }
    assert sources == {0: "file", 3: "dbt"}
    loaded, merged = product(tmp_path)
    del loaded
    assert check_contracts([contract], merged, None, date(2026, 6, 1)) == []


def test_without_the_dbt_column_the_examples_sla_names_no_column(tmp_path: Path) -> None:
    contracts, _ = read(tmp_path, files={"datacontract.yaml": SPEC})
    _, merged = product(tmp_path)
    assert told(check_contracts(contracts, merged, None, date(2026, 6, 1))) == ["datacontract.yaml:36:14 FLOE-E503"]


def test_contracts_in_the_folder_take_their_ports_by_name_or_table(tmp_path: Path) -> None:
    second = PRODUCT + "      - {name: orders, table: gold_orders}\n"
    head = "apiVersion: v3.1.0\nkind: DataContract\nversion: 1.0.0\n"
    by_table = f"{head}name: anything\nmodels: {{gold_orders: {{elements: {{id: {{type: int}}}}}}}}\n"
    contracts, findings = read(tmp_path, floe=second, files={"contracts/a.yaml": by_table})
    assert findings == []
    assert sorted((item.name, item.tables[0].in_catalog) for item in contracts) == [
        ("anything", "gold_orders"),
        ("customers", "gold_customers"),
    ]


def test_a_real_odcs_file_keeps_its_version(tmp_path: Path) -> None:
    text = """\
        apiVersion: v3.0.2
        kind: DataContract
        id: my-id
        name: customers
        version: 3.0.0
        status: active
        schema:
          - name: customers
            properties:
              - {name: customer_id, logicalType: string, required: true}
    """
    model = node("gold_customers", columns=[Column("at", data_type="timestamp")])
    [contract], findings = read(
        tmp_path, manifest(model, dbt_test(model, "at", "not_null")), files={"datacontract.yaml": text}
    )
    assert findings == []
    assert (contract.api_version, contract.id, contract.owner) == ("v3.0.2", "my-id", "sales@acme.com")
    assert {column.name for column in contract.tables[0].columns} == {"customer_id", "email", "at"}


def test_a_broken_contract_does_not_hide_the_others(tmp_path: Path) -> None:
    contracts, findings = read(tmp_path, files={"contracts/a.yaml": "a: [", "contracts/b.yaml": "kind: x\n"})
    assert [item.name for item in contracts] == ["customers"]
    assert told(findings) == ["a.yaml:1:5 FLOE-E501", "b.yaml:1:1 FLOE-E501"]


@pytest.mark.parametrize(
    ("enforcement", "severity"),
    [("warn", Severity.WARNING), ("alert_only", Severity.ERROR), ("block", Severity.ERROR)],
)
def test_enforcement_decides_the_severity(tmp_path: Path, enforcement: str, severity: Severity) -> None:
    _, [finding] = read(tmp_path, enforcement=enforcement, files={"datacontract.yaml": "a: ["})
    assert finding.severity is severity


def test_off_reads_contracts_and_says_nothing(tmp_path: Path) -> None:
    contracts, findings = read(tmp_path, enforcement="off", files={"contracts/a.yaml": "a: ["})
    assert [item.name for item in contracts] == ["customers"]
    assert findings == []


def test_generation_can_be_switched_off(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"platform/manifest.yaml": ENTERPRISE.replace("ENFORCEMENT", "block, auto_generation: {enabled: false}")},
    )
    put(tmp_path, {"floe.yaml": PRODUCT})
    loaded, merged = product(tmp_path)
    assert read_contracts(loaded, None, merged) == ((), [])


INPUTS = """\
    input_ports:
      - {name: orders, source: {product: sales.web-orders, version: "^1"}}
      - {name: people, source: {product: crm.people, contract: everyone}}
      - {name: leads, source: {ingestion: salesforce}}
"""


@pytest.mark.parametrize("written", [False, True], ids=["generated", "completed"])
def test_a_contract_names_what_it_rests_on(tmp_path: Path, written: bool) -> None:
    """Contracts of other products only; an explicit contract keeps its own properties beside it."""
    mine = "id: x\nversion: 1.2.0\nkind: DataContract\napiVersion: v3.1.0\nstatus: active\nname: customers\n"
    mine += "schema: [{name: gold_customers}]\ncustomProperties: [{property: cost_center, value: x1}]\n"
    put(tmp_path, {"platform/manifest.yaml": ENTERPRISE.replace("ENFORCEMENT", "block")})
    put(tmp_path, {"floe.yaml": PRODUCT + INPUTS, **({"datacontract.yaml": mine} if written else {})})
    loaded, merged = product(tmp_path)
    [contract], _ = read_contracts(loaded, None, merged)
    known = {item["property"]: item["value"] for item in contract.document["customProperties"]}
    assert known == {
        **({"cost_center": "x1"} if written else {}),
        "floe.inputs": ["sales.web_orders/orders", "crm.people/everyone"],
    }
    place = contract.place(("customProperties", len(known) - 1, "value"))
    assert (tmp_path / "floe.yaml").read_text().splitlines()[place.line - 1].strip().startswith("input_ports")


def test_the_domain_of_a_mesh_names_the_contract(tmp_path: Path) -> None:
    put(tmp_path, {"platform/manifest.yaml": ENTERPRISE.replace("ENFORCEMENT", "block")})
    domain = "apiVersion: floe.dev/v1\nkind: Manifest\nmetadata: {name: crm}\nscope: domain\n"
    in_mesh = PRODUCT.replace("platform: platform/manifest.yaml", "domain: crm.yaml").replace(", domain: sales", "")
    put(tmp_path, {"crm.yaml": domain + "parent: platform/manifest.yaml\n", "floe.yaml": in_mesh})
    loaded, merged = product(tmp_path)
    [contract], _ = read_contracts(loaded, None, merged)
    assert contract.id == "crm.customer_360/customers"
