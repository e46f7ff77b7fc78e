"""Places in a dbt project: the exact entry where it can be found, the first line of the file where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_context import model

from floe_core.places import Places

YAML = """\
version: 2
models:
  - name: other
  - name: orders
    description: One row per order.
    config:
      meta: {floe: {layer: gold}}
    columns:
      - name: id
      - name: Amount
        description: TBD
"""
ORDERS = model("orders", patch_path="shop://models/models.yml")


def places(folder: Path, text: str = YAML, sql: str = "select 1") -> Places:
    (folder / "models").mkdir()
    (folder / "models" / "models.yml").write_text(text)
    (folder / "models" / "orders.sql").write_text(sql)
    return Places(folder)


def shown(place: object, folder: Path) -> str:
    return str(place).removeprefix(f"{folder}/")


def test_entries_columns_and_values_stand_where_they_are_written(tmp_path: Path) -> None:
    at = places(tmp_path)
    found = (
        at.code(ORDERS),
        at.entry(ORDERS),
        at.column(ORDERS, "amount"),
        at.value(ORDERS, "description"),
        at.value(ORDERS, "meta", "floe", "layer"),
        at.value(ORDERS, "description", column="Amount"),
    )
    assert [shown(place, tmp_path) for place in found] == [
        "models/orders.sql:1:1",
        "models/models.yml:4:5",
        "models/models.yml:10:9",
        "models/models.yml:5:18",
        "models/models.yml:7:28",
        "models/models.yml:11:22",
    ]


def test_what_is_not_written_stands_at_the_nearest_entry(tmp_path: Path) -> None:
    at = places(tmp_path)
    found = (
        at.column(ORDERS, "ghost"),
        at.value(ORDERS, "description", column="id"),
        at.value(ORDERS, "tags"),
        at.entry(model("orders")),
        at.entry(model("lost", patch_path="shop://models/models.yml")),
    )
    assert [shown(place, tmp_path) for place in found] == [
        "models/models.yml:4:5",
        "models/models.yml:9:9",
        "models/models.yml:4:5",
        "models/orders.sql:1:1",
        "models/models.yml:1:1",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "models: [{name: orders, name: twice}]\n",
        "models: [{name: orders, on: push, 1: x}]\n",
        "{% set x = 1 %}\nmodels: []\n",
        "models: &a [*a]\n",
        "models: orders\n",
        "models:\n  name: orders\n",
        "models: [1, orders, [x]]\n",
        "- orders\n",
        "",
        "\t",
        "a: b: c\n",
        "models: !include x\n",
        "---\na: 1\n---\nb: 2\n",
    ],
)
def test_yaml_that_dbt_or_nobody_accepts_never_fails(tmp_path: Path, text: str) -> None:
    at = places(tmp_path, text)
    assert shown(at.entry(ORDERS), tmp_path) == "models/models.yml:1:1"
    assert shown(at.value(ORDERS, "description", column="id"), tmp_path) == "models/models.yml:1:1"


def test_anchors_and_merges_keep_the_places_of_their_values(tmp_path: Path) -> None:
    text = "x: &base\n  description: Shared.\nmodels:\n  - <<: *base\n    name: orders\n"
    assert shown(places(tmp_path, text).value(ORDERS, "description"), tmp_path) == "models/models.yml:2:16"


def test_a_file_that_is_gone_never_fails(tmp_path: Path) -> None:
    at = Places(tmp_path)
    assert shown(at.entry(ORDERS), tmp_path) == "models/models.yml:1:1"
    assert shown(at.reference(ORDERS, "a"), tmp_path) == "models/orders.sql:1:1"


@pytest.mark.parametrize(
    ("sql", "where"),
    [
        ("\n\nselect *\nfrom {{ ref('a') }}", "4:9"),
        ("select * from {{ ref( 'shop' , \"a\") }}", "1:18"),
        ("select * from {{ ref('a', v=2) }}", "1:18"),
        ("select * from {{ xref('a') }}", "1:1"),
        ("select * from {{ ref('ab') }}", "1:1"),
        ("-- é\nselect 'ß', * from {{ ref('a') }}", "2:23"),
    ],
)
def test_a_reference_stands_where_the_sql_says_it(tmp_path: Path, sql: str, where: str) -> None:
    assert shown(places(tmp_path, sql=sql).reference(ORDERS, "a"), tmp_path) == f"models/orders.sql:{where}"


@pytest.mark.parametrize(
    "path", ["shop://../secret.yml", "shop:///secret.yml", "../secret.yml", "/secret.yml", "\0"]
)
def test_a_manifest_that_points_outside_its_project_is_not_followed(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.yml").write_text("models:\n  - name: orders\n")
    (tmp_path / "secret.sql").write_text("\n{{ ref('a') }}")
    folder = tmp_path / "project"
    folder.mkdir()
    at = Places(folder)
    assert at.entry(model("orders", patch_path=path)).line == 1
    assert at.reference(model("orders", original_file_path="../secret.sql"), "a").line == 1
    assert at.code(model("orders", original_file_path="/secret.sql")).path == str(folder / "secret.sql")


def test_each_file_is_read_once_and_only_when_asked(tmp_path: Path) -> None:
    at = places(tmp_path)
    assert shown(at.entry(ORDERS), tmp_path) == "models/models.yml:4:5"
    (tmp_path / "models" / "models.yml").unlink()
    assert shown(at.column(ORDERS, "id"), tmp_path) == "models/models.yml:9:9"
