"""Contracts in few lines, and what their checks say about tables of the test catalog."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from pyspark.sql import SparkSession

from floe_contracts.meaning import understand
from floe_contracts.read import parse_draft
from floe_core.contract import Contract
from floe_core.verdicts import CheckResult, TableVerdict
from floe_spark.checks import Located, Subject, check_contracts

HEAD = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "t", "version": "1.0.0", "status": "active"}


def column(name: str, logical: str = "string", *rules: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "logicalType": logical, **({"quality": list(rules)} if rules else {}), **more}


def rule(metric: str, **more: Any) -> dict[str, Any]:
    return {"metric": metric, **({} if any("must" in key for key in more) else {"mustBe": 0}), **more}


def contract(*columns: dict[str, Any], table: str = "t", rules: Any = (), **more: Any) -> Contract:
    schema = {"name": table, "properties": list(columns), **({"quality": list(rules)} if rules else {})}
    text = json.dumps({**HEAD, "schema": [schema], **more}, indent=1)
    return understand(parse_draft(text.encode(), "datacontract.yaml")[0])


@dataclass
class Bench:
    """A namespace of its own, and a memory of its own."""

    spark: SparkSession
    catalog: SqlCatalog
    namespace: tuple[str, ...]
    memory: Path

    @property
    def at(self) -> str:
        return ".".join(f"`{part}`" for part in (self.catalog.name, *self.namespace))

    def sql(self, text: str) -> None:
        self.spark.sql(text.format(t=f"{self.at}.`t`", ns=self.at))

    def check(self, promised: Contract, *, view: bool = False, now: datetime | None = None) -> TableVerdict:
        name = promised.tables[0].in_catalog
        place = Located((*self.namespace, name), view)
        moment = now or datetime.now(UTC)
        subject = Subject(promised, {name: place})
        [verdict] = check_contracts(self.spark, self.catalog, [subject], self.memory, moment)
        return verdict

    def values(self, promised: Contract, **more: Any) -> dict[str, Any]:
        return {item.check.id: item.value for item in self.check(promised, **more).results}

    def only(self, promised: Contract, **more: Any) -> CheckResult:
        [result] = self.check(promised, **more).results
        return result
