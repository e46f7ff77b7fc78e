"""Drift, end to end: a product is compiled on the embedded catalog, where a real Iceberg table stands."""

from __future__ import annotations

import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import (
    DecimalType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from floe_catalog_sql import SqlCatalogPlugin
from floe_cli.compose import environment
from floe_core.compile import Outcome, compile_project
from floe_core.line import Line

MANIFEST = """\
    apiVersion: floe.dev/v1
    kind: Manifest
    metadata: {name: acme, version: "1.0"}
    scope: enterprise
    identity: {enforcement: register}
    data_contracts: {enforcement: block}
"""
PRODUCT = """\
    apiVersion: floe.dev/v1
    kind: DataProduct
    metadata:
      {name: orders, version: "1.0.0", owner: a@acme.com, domain: sales, repository: github.com/acme/orders}
    platform: manifest.yaml
"""
TRANSFORMS = "transforms: [{type: dbt, path: .}]\n"
CONTRACT = """\
    apiVersion: v3.1.0
    kind: DataContract
    id: orders
    name: orders
    version: VERSION
    status: active
    team: {name: a, members: [{username: a@acme.com, role: owner}]}
    schema:
      - name: gold_orders
        properties:
          - {name: id, logicalType: string, required: true}
          - {name: amount, logicalType: number, physicalType: "decimal(10,2)"}
          - {name: at, logicalType: timestamp}
          - {name: quantity, logicalType: integer}
          - name: address
            logicalType: object
            properties:
              - {name: city, logicalType: string}
              - {name: zip, logicalType: string}
          - {name: tags, logicalType: array, items: {name: tag, logicalType: string}}
"""
ADDRESS = StructType(NestedField(20, "city", StringType()), NestedField(21, "zip", StringType()))
PROMISED: dict[str, IcebergType] = {
    "id": StringType(),
    "amount": DecimalType(10, 2),
    "at": TimestamptzType(),
    "quantity": IntegerType(),
    "address": ADDRESS,
    "tags": ListType(30, StringType(), element_required=False),
}


@pytest.fixture
def product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLOE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "orders"
    folder.mkdir()
    (folder / "manifest.yaml").write_text(dedent(MANIFEST))
    (folder / "floe.yaml").write_text(dedent(PRODUCT))
    write_contract(folder, "1.0.0")
    run_git(folder, "init", "-q")
    run_git(folder, "remote", "add", "origin", "git@github.com:acme/orders.git")
    return folder


def write_contract(folder: Path, version: str) -> None:
    (folder / "datacontract.yaml").write_text(dedent(CONTRACT).replace("VERSION", version))


def run_git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True)


def committed(folder: Path) -> Outcome:
    """A compile of what stands there, in a commit of its own: with nothing blocking it registers."""
    run_git(folder, "add", "-A", "--", ":!.floe", ":!target")
    run_git(folder, "commit", "-qm", "x", "--allow-empty")
    return compile_project(
        folder, environment(check=False, register=False, strict=False, dbt_manifest=None), Line()
    )


def make_table(folder: Path, *layer: str, **changes: IcebergType | None) -> None:
    columns = {name: kind for name, kind in (PROMISED | changes).items() if kind}
    fields = [NestedField(number, name, kind) for number, (name, kind) in enumerate(columns.items(), 1)]
    with SqlCatalogPlugin({}, folder / ".floe").open() as catalog:
        namespace = ("sales", "orders", *layer)
        catalog.create_namespace_if_not_exists(namespace)
        catalog.create_table((*namespace, "gold_orders"), Schema(*fields))


def drifted(outcome: Outcome) -> list[str]:
    return [
        f"{item.code} {item.severity.value} {item.line} {item.message}"
        for item in outcome.findings
        if item.code in ("FLOE-E530", "FLOE-E531", "FLOE-E532")
    ]


def test_the_first_compile_needs_no_table_and_what_fits_passes(product: Path) -> None:
    outcome = committed(product)
    assert drifted(outcome) == []
    assert outcome.written.path
    make_table(product)
    assert drifted(committed(product)) == []


MISMATCH = "FLOE-E530 error {} Type mismatch for column '{}'"
CASES: dict[str, tuple[dict[str, IcebergType | None], list[str]]] = {
    "another type": ({"id": LongType()}, [MISMATCH.format(11, "id")]),
    "a smaller decimal": ({"amount": DecimalType(8, 2)}, [MISMATCH.format(12, "amount")]),
    "another scale": ({"amount": DecimalType(10, 3)}, [MISMATCH.format(12, "amount")]),
    "an integer is any integer": ({"quantity": LongType()}, []),
    "a timestamp has any zone": ({"at": TimestampType()}, []),
    "missing": ({"at": None}, ["FLOE-E531 error 13 Column 'at' is missing in the table"]),
    "more": ({"note": StringType()}, ["FLOE-E532 info 9 Column 'note' is not in the contract"]),
    "inside an object": (
        {"address": StructType(NestedField(20, "city", LongType()))},
        [
            MISMATCH.format(18, "address.city"),
            "FLOE-E531 error 19 Column 'address.zip' is missing in the table",
        ],
    ),
    "inside a list": (
        {"tags": ListType(30, LongType(), element_required=False)},
        [MISMATCH.format(20, "tags.[]")],
    ),
    "not an object any more": ({"address": StringType()}, [MISMATCH.format(15, "address")]),
}


@pytest.mark.parametrize("case", CASES)
def test_a_registered_version_is_judged_by_its_table(product: Path, case: str) -> None:
    changes, expected = CASES[case]
    committed(product)
    make_table(product, **changes)
    outcome = committed(product)
    assert drifted(outcome) == expected
    blocks = any(" error " in line for line in expected)
    assert bool(outcome.written.path) == (not blocks)


def test_a_new_version_is_told_what_the_next_run_will_change(product: Path) -> None:
    committed(product)
    make_table(product, at=None)
    write_contract(product, "1.0.1")
    outcome = committed(product)
    assert drifted(outcome) == ["FLOE-E531 info 13 Column 'at' is missing in the table"]
    assert outcome.written.path


def test_a_table_is_looked_for_in_the_layer_of_its_model(product: Path) -> None:
    with (product / "floe.yaml").open("a") as file:
        file.write(TRANSFORMS)
    (product / "models").mkdir()
    (product / "models" / "gold_orders.sql").write_text("{{ config(materialized='table') }} select 1 as id\n")
    (product / "dbt_project.yml").write_text("name: orders\nversion: '1.0'\nprofile: orders\n")
    with (product / "manifest.yaml").open("a") as file:
        file.write("data_architecture: {pattern: medallion}\n")
    committed(product)
    make_table(product, "gold", id=LongType())
    assert drifted(committed(product)) == [MISMATCH.format(11, "id")]


def test_a_catalog_that_breaks_between_two_questions_is_could_not_check(product: Path) -> None:
    """The registry can be read, and the metadata of the table is gone."""
    committed(product)
    make_table(product)
    for file in (product / ".floe" / "warehouse").glob("**/gold_orders/metadata/*.json"):
        file.unlink()
    outcome = committed(product)
    assert [item.code for item in outcome.findings] == ["FLOE-E807"]
    assert outcome.written.path is None
