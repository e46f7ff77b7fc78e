"""Inheritance: a contract may strengthen what is above it, never weaken it; silence inherits."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import product, put, told

from floe_contracts.stage import read_contracts
from floe_core.contract import Contract
from floe_core.findings import Finding

ENTERPRISE = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme}
    scope: enterprise
    data_contracts: {enforcement: block, base: [base.yaml]}
    sla_minimums: {freshness: 6h, availability: "99%"}
"""
BASE = """\
    apiVersion: v3.1.0
    kind: DataContract
    name: base
    version: 1.0.0
    models:
      customers:
        elements:
          email: {type: string, classification: pii, required: true, maxLength: 80, pattern: "@"}
          score: {type: double, minimum: 1}
          address:
            elements:
              street: {type: string, classification: pii}
          phones:
            items:
              elements:
                number: {type: string, required: true}
          loaded_at: {type: timestamp, required: true}
    slaProperties:
      freshness: {value: PT12H}
      retention: {value: P1Y}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata: {name: crm, version: "1.0", owner: a, domain: sales}
    platform: platform/manifest.yaml
"""
HEAD = "apiVersion: v3.1.0\nkind: DataContract\nname: customers\nversion: 1.0.0\n"


def read(folder: Path, contract: str, **files: str) -> tuple[tuple[Contract, ...], list[Finding]]:
    put(folder, {"platform/manifest.yaml": ENTERPRISE, "platform/base.yaml": BASE, "floe.yaml": PRODUCT})
    put(folder, {"datacontract.yaml": HEAD + contract, **files})
    loaded, merged = product(folder)
    return read_contracts(loaded, None, merged)


def test_the_specifications_messages(tmp_path: Path) -> None:
    text = """\
models:
  customers:
    elements:
      email: {type: string, classification: public}
slaProperties:
  freshness: {value: PT12H}
"""
    _, [classification, freshness] = read(tmp_path, text)
    assert freshness.code == "FLOE-E510"
    assert freshness.message == "Child contract weakens 'freshness' SLA"
    assert freshness.related[0].message.startswith("Parent requires PT6H, child specifies PT12H")
    assert freshness.fix == "Strengthen 'freshness' to at least match parent: PT6H"
    assert freshness.related[0].place.path.endswith("manifest.yaml")
    assert classification.code == "FLOE-E511"
    assert classification.message == "Classification weakening for field 'customers.email'"
    assert classification.related[0].message.startswith("Parent requires 'pii', child specifies 'public'")
    assert classification.fix == "Use classification 'pii' or stronger for 'customers.email'"


def test_silence_inherits(tmp_path: Path) -> None:
    [contract], findings = read(tmp_path, "models: {customers: {elements: {email: {type: string}}}}\n")
    assert findings == []
    slas = {sla.name: sla.text for sla in contract.slas}
    assert slas == {"freshness": "PT6H", "availability": "99%", "retention": "P1Y"}
    columns = {column.name: column for column in contract.tables[0].columns}
    assert columns["email"].required
    assert columns["loaded_at"].required
    assert columns["email"].limits == (("maxLength", 80), ("pattern", "@"))
    assert contract.place(("schema", 0, "properties", 4, "name")).path.endswith("base.yaml")


@pytest.mark.parametrize(
    ("element", "code"),
    [
        ("{type: string, required: false}", "FLOE-E513"),
        ("{type: int}", "FLOE-E513"),
        ("{type: string, maxLength: 100}", "FLOE-E513"),
        ("{type: string, classification: phi}", "FLOE-E511"),
    ],
)
def test_saying_less_is_a_finding(tmp_path: Path, element: str, code: str) -> None:
    _, findings = read(tmp_path, f"models: {{customers: {{elements: {{email: {element}}}}}}}\n")
    assert [item.code for item in findings] == [code]


@pytest.mark.parametrize(
    ("elements", "code", "about"),
    [
        ("address: {elements: {street: {classification: public}}}", "FLOE-E511", "'customers.address.street'"),
        (
            "phones: {items: {elements: {number: {required: false}}}}",
            "FLOE-E513",
            "'customers.phones[].number' is not required",
        ),
        ("score: {type: double, minimum: 0.5}", "FLOE-E513", "minimum of 'customers.score'"),
        ("email: {type: string, pattern: x}", "FLOE-E513", "pattern of 'customers.email'"),
    ],
)
def test_saying_less_is_found_however_deep_and_in_whatever_form(
    tmp_path: Path, elements: str, code: str, about: str
) -> None:
    _, [finding] = read(tmp_path, f"models: {{customers: {{elements: {{{elements}}}}}}}\n")
    assert finding.code == code
    assert about in finding.message
    assert (Path(finding.path).name, finding.line) == ("datacontract.yaml", 5)
    assert Path(finding.related[0].place.path).name == "base.yaml"


@pytest.mark.parametrize(
    "element",
    [
        "{type: string, classification: restricted}",
        "{type: string, classification: [pii, phi]}",
        "{type: string, maxLength: 40, unique: true}",
    ],
)
def test_saying_more_is_not(tmp_path: Path, element: str) -> None:
    assert read(tmp_path, f"models: {{customers: {{elements: {{email: {element}}}}}}}\n")[1] == []


def test_a_contract_extends_another(tmp_path: Path) -> None:
    text = "models: {customers: {elements: {id: {type: int, unique: false}}}}\n"
    extends = "customProperties: [{property: floe.extends, value: VALUE}]\n"
    parent = (
        HEAD.replace("customers", "parent") + "models: {customers: {elements: {id: {type: int, unique: true}}}}\n"
    )
    for value in ("parent", "contracts/parent.yaml"):
        _, findings = read(tmp_path, text + extends.replace("VALUE", value), **{"contracts/parent.yaml": parent})
        assert [item.code for item in findings] == ["FLOE-E513"]


@pytest.mark.parametrize("value", ["../../../etc/passwd", "/etc/passwd", "absent.yaml", "nobody", "x" * 5000])
def test_what_is_extended_must_be_there_and_inside_the_product(tmp_path: Path, value: str) -> None:
    extends = f"models: {{}}\ncustomProperties: [{{property: floe.extends, value: {value}}}]\n"
    _, [finding] = read(tmp_path / "product", extends)
    assert finding.code == "FLOE-E514"


def test_contracts_that_extend_each_other_are_told_once_each(tmp_path: Path) -> None:
    extends = "customProperties: [{property: floe.extends, value: VALUE}]\nmodels: {}\n"
    other = HEAD.replace("customers", "other") + extends.replace("VALUE", "customers")
    _, findings = read(tmp_path, extends.replace("VALUE", "other"), **{"contracts/other.yaml": other})
    assert told(findings) == ["other.yaml:5:52 FLOE-E512", "datacontract.yaml:5:52 FLOE-E512"]


def test_a_base_contract_that_is_not_there(tmp_path: Path) -> None:
    put(
        tmp_path,
        {"platform/manifest.yaml": ENTERPRISE, "floe.yaml": PRODUCT, "datacontract.yaml": HEAD + "models: {}\n"},
    )
    loaded, merged = product(tmp_path)
    assert told(read_contracts(loaded, None, merged)[1]) == ["manifest.yaml:5:38 FLOE-E514"]


def test_a_base_table_for_every_table(tmp_path: Path) -> None:
    put(tmp_path, {})
    base = BASE.replace("customers:", "'*':")
    put(tmp_path, {"platform/manifest.yaml": ENTERPRISE, "platform/base.yaml": base, "floe.yaml": PRODUCT})
    put(tmp_path, {"datacontract.yaml": HEAD + "models: {orders: {elements: {email: {classification: public}}}}\n"})
    loaded, merged = product(tmp_path)
    [contract], findings = read_contracts(loaded, None, merged)
    assert [item.code for item in findings] == ["FLOE-E511"]
    names = [column.name for column in contract.tables[0].columns]
    assert names == ["email", "score", "address", "phones", "loaded_at"]
