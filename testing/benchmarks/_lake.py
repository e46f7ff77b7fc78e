"""A product of any number of models, and the same dbt project as somebody without floe would keep it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

NAME, NAMESPACE = "shop", "sales.shop"
LAYERS = ("bronze", "silver", "gold")
KINDS = ("table", "incremental", "table", "view", "table")  # of five models of a layer
COLUMNS = ("id", "kind", "amount", "at")
ROWS = 1000
ORIGIN = "https://github.com/acme/shop.git"
QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}  # as the example platform says for short runs

PROJECT = f"name: {NAME}\nversion: '1.0'\nconfig-version: 2\n"
PLAIN = f"""\
{PROJECT}profile: {NAME}
models:
  {NAME}:
    +file_format: iceberg
    bronze: {{+schema: bronze}}
    silver: {{+schema: silver}}
    gold: {{+schema: gold}}
"""
PLATFORM = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: acme, version: "1.0"}
scope: enterprise
plugins:
  compute: {type: spark, config: {conf: CONF}}
data_architecture: {pattern: medallion, naming: {enforcement: strict}}
data_contracts: {enforcement: block}
identity: {enforcement: register}
observability: {traces: false, metrics: false, lineage: true}
"""
PRODUCT = f"""\
apiVersion: floe.dev/v1
kind: DataProduct
metadata:
  name: {NAME}
  version: "1.0.0"
  owner: shop@acme.com
  domain: sales
  repository: github.com/acme/shop
  description: What a shop sells.
platform: ../manifest.yaml
transforms: [{{type: dbt, path: models}}]
output_ports:
  - name: sold
    table: GOLD
    schema:
      - {{name: id, type: long, required: true, primary_key: true}}
      - {{name: kind, type: string, required: true}}
      - {{name: amount, type: double}}
"""


def layer_of(number: int, size: int) -> str:
    """Two fifths bronze, two fifths silver, one fifth gold."""
    return LAYERS[min(2, number * 5 // size // 2)]


def names(size: int) -> list[str]:
    return [f"{layer_of(number, size)}_items_{number:03}" for number in range(size)]


def sql(number: int, size: int) -> str:
    """A model; each reads one of the layer before, the first layer reads nobody."""
    kind = KINDS[number % len(KINDS)]
    said = f"materialized='{kind}'" + (", unique_key='id', incremental_strategy='merge'" * (kind == "incremental"))
    step = size * 2 // 5
    if number < step:
        rows = f"select id, concat('kind ', id % 7) as kind, id * 1.5D as amount, timestamp_seconds(id) as at from range({ROWS})"  # noqa: E501, S608
    else:
        parent = names(size)[number - step]
        rows = f"select id, kind, amount + 1 as amount, at from {{{{ ref('{parent}') }}}}"  # noqa: S608
    return f"{{{{ config({said}) }}}}\n{rows}\n"


def write_models(folder: Path, size: int, *, tested: bool) -> None:
    """The models in a folder for each layer, and a test of each where that is asked for."""
    described = []
    for number, name in enumerate(names(size)):
        path = folder / "models" / layer_of(number, size) / f"{name}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql(number, size), encoding="utf-8")
        tests = ", data_tests: [not_null]" if tested else ""
        columns = [f"{{name: {column}{tests if column == 'id' else ''}}}" for column in COLUMNS]
        described.append(f"  - {{name: {name}, columns: [{', '.join(columns)}]}}\n")
    (folder / "models" / "models.yml").write_text("version: 2\nmodels:\n" + "".join(described), encoding="utf-8")


def write_product(home: Path, size: int, *, tested: bool) -> Path:
    """A platform and its product in a repository of its own; returns the product's folder."""
    product = home / NAME
    write_models(product, size, tested=tested)
    (home / "manifest.yaml").write_text(PLATFORM.replace("CONF", json.dumps(QUICK)), encoding="utf-8")
    (product / "floe.yaml").write_text(PRODUCT.replace("GOLD", names(size)[-1]), encoding="utf-8")
    (product / "dbt_project.yml").write_text(PROJECT, encoding="utf-8")
    (home / ".gitignore").write_text(".floe/\ntarget/\n", encoding="utf-8")
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    for command in (
        ("init", "-q", "-b", "main"),
        ("remote", "add", "origin", ORIGIN),
        ("add", "-A"),
        (*who, "commit", "-q", "-m", "Start"),
    ):
        subprocess.run(["git", *command], cwd=home, check=True)
    return product


def write_plain(home: Path, size: int, conf: Mapping[str, str], *, tested: bool) -> Path:
    """The same models for stock dbt-spark, with the profile that its session method asks for."""
    write_models(home, size, tested=tested)
    (home / "dbt_project.yml").write_text(PLAIN, encoding="utf-8")
    output = {"type": "spark", "method": "session", "host": "NA", "schema": NAMESPACE, "threads": 4}
    output["server_side_parameters"] = dict(conf)
    profile = {NAME: {"target": "dev", "outputs": {"dev": output}}}
    (home / "profiles.yml").write_text(json.dumps(profile, indent=2), encoding="utf-8")
    return home
