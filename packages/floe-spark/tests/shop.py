"""A small platform with a product that has one of everything, and `floe run` on it as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any

import click

from floe_core.compile import Outcome, compile_project, with_rules
from floe_core.contracts import PluginContracts
from floe_core.env import Env
from floe_core.findings import Report
from floe_core.registration import CatalogIdentities

FILES = {
    "manifest.yaml": """\
        apiVersion: floe.dev/v1
        kind: Manifest
        metadata: {name: acme, version: "1.0"}
        scope: enterprise
        plugins:
          compute: {type: spark, config: {conf: {spark.driver.extraJavaOptions: -XX:TieredStopAtLevel=1}}}
        data_architecture: {pattern: medallion}
    """,
    "shop/floe.yaml": """\
        apiVersion: floe.dev/v1
        kind: DataProduct
        metadata: {name: web-shop, version: "1.0", domain: sales}
        platform: ../manifest.yaml
        transforms: [{type: dbt, path: models}]
    """,
    "shop/dbt_project.yml": """\
        name: web_shop
        version: "1.0"
        config-version: 2
    """,
    "shop/seeds/bronze_orders.csv": """\
        id,who,amount,at
        1,anna,1.5,2026-01-01 10:00:00
        2,ben,2.5,2026-01-02 10:00:00
    """,
    "shop/seeds/seeds.yml": """\
        version: 2
        seeds:
          - name: bronze_orders
            config: {column_types: {at: timestamp}}
            columns: [{name: id, data_tests: [not_null, unique]}]
    """,
    "shop/models/silver_orders.sql": """\
        {{ config(materialized='incremental', unique_key='id', incremental_strategy='merge') }}
        select id, who, amount, at from {{ ref('bronze_orders') }}
        {% if is_incremental() %}
        where at > (select max(at) from {{ this }})
        {% endif %}
    """,
    "shop/models/gold_revenue.sql": """\
        {{ config(materialized='table') }}
        select
            who,
            sum(amount) as revenue
        from {{ ref('silver_orders') }}
        group by who
    """,
    "shop/models/gold_big.sql": """\
        {{ config(materialized='view') }}
        select * from {{ ref('gold_revenue') }} where revenue > 2
    """,
    "shop/snapshots/snapshots.yml": """\
        version: 2
        snapshots:
          - name: silver_history
            relation: ref('bronze_orders')
            config: {unique_key: id, strategy: timestamp, updated_at: at}
    """,
}


def environment() -> Env:
    """What a compile is given, as the command line gives it."""
    contracts = PluginContracts(lambda: datetime.now(UTC), before_run=True)
    return with_rules(Env(identities=CatalogIdentities(), contracts=contracts))


class Host:
    """What `floe` does for a command, reduced to the report."""

    def emit(self, report: Report, output: str) -> int:
        click.echo(json.dumps(report.to_json()) if output == "json" else report.exit_code)
        return report.exit_code

    def compile(self, root: Path, output: str) -> Outcome:
        del output
        return compile_project(root, environment())

    def say(self, line: str) -> None:
        click.echo(line, err=True)

    def verdict(self, text: str, ok: bool) -> str:
        return f"{ok}: {text}"

    def table(self, rows: list[tuple[str, ...]]) -> str:
        return "\n".join("  ".join(row) for row in rows)


@dataclass
class Shop:
    """The platform's folder."""

    home: Path

    @classmethod
    def open(cls, home: Path) -> Shop:
        shop = cls(home)
        for name, text in FILES.items():
            shop.put(name, text)
        return shop

    def put(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace a text that the file holds once."""
        path = self.home / name
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def command(self, *args: str) -> list[str]:
        return [sys.executable, __file__, str(self.home / "shop"), *args]

    def run(self, *args: str) -> tuple[int, dict[str, Any]]:
        """The exit code and the report."""
        done = subprocess.run(
            self.command("--format", "json", *args), capture_output=True, encoding="utf-8", cwd=self.home
        )
        assert done.stderr == "", done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return done.returncode, report

    @property
    def record(self) -> dict[str, Any]:
        """What the last run left behind."""
        found: dict[str, Any] = json.loads(
            (self.home / "shop" / "target" / "floe" / "run_results.json").read_text()
        )
        return found

    @property
    def leftovers(self) -> list[str]:
        """The folders of runs that published nothing."""
        return sorted(path.name for path in (self.home / ".floe" / "runs").glob("*/*/"))


def tables(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Rows and snapshots of each table, by its last name."""
    found = report["summary"]["tables"]
    return {item["table"].rpartition(".")[2]: (item["rows"], item["snapshots"]) for item in found}


if __name__ == "__main__":
    from floe_core.findings import FloeError
    from floe_spark.commands import command

    host = Host()
    try:
        code = command.main(sys.argv[1:], standalone_mode=False, obj=host)
    except FloeError as exc:
        code = host.emit(Report("floe run", exc.findings), "json")
    except click.Abort:
        code = 130
    sys.exit(code)
