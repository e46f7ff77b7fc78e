"""A dbt project of any size, and the manifest.json that dbt would make of it, without running dbt.

The project is a function of its size alone: medallion layers, YAML for every model, columns, tests, references from
each layer to the one before. Every hundredth model or so breaks one rule, and `Generated` says how many do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

NAME = "shop"
SCHEMA_VERSION = "https://schemas.getdbt.com/dbt/manifest/v12.json"
DBT_VERSION = "1.11.16"
IN_FOLDER = 20  # models, all in one YAML file
COLUMNS = {
    "item_id": "bigint",
    "status": "string",
    "amount": "double",
    "quantity": "int",
    "category": "string",
    "loaded_at": "timestamp",
}
TESTS = (("item_id", "not_null"), ("item_id", "unique"), ("amount", "not_null"))
CYCLE = 100  # models; in each cycle the ones at these places break one rule
MISNAMED, UNDESCRIBED, VAGUE, UNTESTED = 13, 37, 59, 83
LAYERS = ("bronze", "bronze", "silver", "silver", "gold")  # of five folders


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the project, with everything that is said about it."""

    number: int
    layer: str
    area: int
    parents: tuple[str, ...]  # of the layer before; a bronze model reads a source

    @property
    def name(self) -> str:
        return f"{'tmp' if self.breaks == MISNAMED else self.layer}_items_{self.number:06}"

    @property
    def breaks(self) -> int:
        """The rule that it breaks, as its place in the cycle; anything else breaks none."""
        return self.number % CYCLE

    @property
    def description(self) -> str:
        return "" if self.breaks == UNDESCRIBED else f"Items of the {self.layer} layer, number {self.number}."

    @property
    def tests(self) -> tuple[tuple[str, str], ...]:
        return tuple(test for test in TESTS if self.breaks != UNTESTED or test[1] != "unique")

    @property
    def folder(self) -> str:
        return f"models/{self.layer}/area_{self.area:05}"

    def column(self, name: str) -> str:
        """The description of a column."""
        return "" if self.breaks == VAGUE and name == "category" else f"The {name} of an item."

    def sql(self, compiled: bool = False) -> str:
        """The text of the model's file; or what dbt makes of it."""
        if self.parents:
            read = [f"{NAME}.{name}" if compiled else f"{{{{ ref('{name}') }}}}" for name in self.parents]
        else:
            table = f"events_{self.area:05}"
            read = [f"raw.{table}" if compiled else f"{{{{ source('raw', '{table}') }}}}"]
        first, *others = read
        joins = "".join(f"left join {name} as o{n} on o{n}.item_id = i.item_id\n" for n, name in enumerate(others))
        return (
            "select\n    i.item_id,\n    upper(i.status) as status,\n    cast(i.amount as double) as amount,\n"
            "    coalesce(i.quantity, 0) as quantity,\n    case when i.amount > 100 then 'large' else 'small' end"
            f" as category,\n    i.loaded_at\nfrom {first} as i\n{joins}where i.amount is not null\n"
        )


@dataclass(frozen=True)
class Generated:
    """A project of so many models."""

    size: int
    schema: str = NAME

    @cached_property
    def models(self) -> list[Model]:
        made: list[Model] = []
        last: dict[str, list[str]] = {layer: [] for layer in LAYERS}  # the names of the newest models of a layer
        for number in range(self.size):
            layer = LAYERS[number // IN_FOLDER % len(LAYERS)]
            above = {"bronze": [], "silver": last["bronze"], "gold": last["silver"]}[layer]
            at = number % IN_FOLDER
            two = (above[at % len(above)], above[(at * 7 + 3) % len(above)]) if above else ()
            parents = tuple(dict.fromkeys(two))
            made.append(Model(number, layer, number // IN_FOLDER, parents))
            last[layer] = [*last[layer], made[-1].name][-IN_FOLDER:]
        return made

    def offending(self) -> dict[str, int]:
        """How many models break each rule."""
        places = {"name": MISNAMED, "description": UNDESCRIBED, "columns": VAGUE, "tests": UNTESTED}
        return {rule: sum(model.breaks == place for model in self.models) for rule, place in places.items()}

    def write(self, folder: Path, *, sql: bool = True) -> Path:
        """Write the project and its target/manifest.json; without SQL files where nobody will read them."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "dbt_project.yml").write_text(
            f"name: {NAME}\nversion: 1.0.0\nprofile: {NAME}\nmodel-paths: [models]\n"
        )
        for path, group in groupby(self.models, lambda model: model.folder):
            models = [*group]
            (folder / path).mkdir(parents=True, exist_ok=True)
            (folder / path / "models.yml").write_text("".join(_yaml(models)))
            for model in models if sql else ():
                (folder / path / f"{model.name}.sql").write_text(model.sql())
        manifest = folder / "target" / "manifest.json"
        manifest.parent.mkdir(exist_ok=True)
        with manifest.open("w") as file:
            file.writelines(self._manifest())
        return manifest

    def _manifest(self) -> Iterator[str]:
        """In pieces: the whole of a big one would not fit into memory twice."""
        metadata = {
            "dbt_schema_version": SCHEMA_VERSION,
            "dbt_version": DBT_VERSION,
            "generated_at": "2026-01-01T00:00:00.000000Z",
            "invocation_id": "00000000-0000-0000-0000-000000000000",
            "env": {},
            "project_name": NAME,
            "adapter_type": "spark",
        }
        yield f'{{"metadata": {json.dumps(metadata)}, "nodes": {{'
        yield from _entries(entry for model in self.models for entry in self._nodes(model))
        yield '}, "sources": {'
        yield from _entries(self._sources())
        yield '}, "parent_map": {'
        yield from _entries(self._parents())
        yield "}"
        for key in ("macros", "docs", "exposures", "metrics", "groups", "selectors", "disabled", "child_map"):
            yield f', "{key}": {{}}'
        for key in ("group_map", "saved_queries", "semantic_models", "unit_tests", "functions"):
            yield f', "{key}": {{}}'
        yield "}"

    def _nodes(self, model: Model) -> Iterator[tuple[str, Any]]:
        node = self._model(model)
        yield node["unique_id"], node
        for column, test in model.tests:
            found = self._test(model, column, test)
            yield found["unique_id"], found

    def _model(self, model: Model) -> dict[str, Any]:
        path = f"{model.folder}/{model.name}.sql"
        return {
            **self._common(model.name, "model", path.removeprefix("models/"), path),
            "schema": self.schema,
            "unique_id": f"model.{NAME}.{model.name}",
            "fqn": [NAME, *model.folder.split("/")[1:], model.name],
            "checksum": {"name": "sha256", "checksum": hashlib.sha256(model.sql().strip().encode()).hexdigest()},
            "config": MODEL_CONFIG,
            "description": model.description,
            "columns": {name: _column(name, kind, model.column(name)) for name, kind in COLUMNS.items()},
            "patch_path": f"{NAME}://{model.folder}/models.yml",
            "relation_name": f"{self.schema}.{model.name}",
            "raw_code": model.sql().strip(),
            "refs": [{"name": parent, "package": None, "version": None} for parent in model.parents],
            "sources": [] if model.parents else [["raw", f"events_{model.area:05}"]],
            "depends_on": {"macros": [], "nodes": _reads(model)},
            "compiled_path": f"target/compiled/{NAME}/{path}",
            "compiled": True,
            "compiled_code": model.sql(compiled=True).strip(),
            "extra_ctes_injected": True,
            "extra_ctes": [],
            "access": "protected",
            "constraints": [],
            "version": None,
            "latest_version": None,
            "deprecation_date": None,
            "primary_key": ["item_id"] if ("item_id", "unique") in model.tests else [],
            "time_spine": None,
        }

    def _test(self, model: Model, column: str, test: str) -> dict[str, Any]:
        name = f"{test}_{model.name}_{column}"
        kwargs = {"column_name": column, "model": f"{{{{ get_where_subquery(ref('{model.name}')) }}}}"}
        about = {"kwargs": kwargs, "name": test, "namespace": None}
        hashed = f"{name}{ {**about, 'namespace': 'None'}!r}"  # as dbt does
        digest = hashlib.md5(hashed.encode(), usedforsecurity=False).hexdigest()[-10:]
        unique_id = f"model.{NAME}.{model.name}"
        return {
            **self._common(name, "test", f"{name}.sql", f"{model.folder}/models.yml"),
            "schema": f"{self.schema}_dbt_test__audit",
            "unique_id": f"test.{NAME}.{name}.{digest}",
            "fqn": [NAME, *model.folder.split("/")[1:], name],
            "checksum": {"name": "none", "checksum": ""},
            "config": TEST_CONFIG,
            "description": "",
            "columns": {},
            "patch_path": None,
            "relation_name": None,
            "raw_code": f"{{{{ test_{test}(**_dbt_generic_test_kwargs) }}}}",
            "refs": [{"name": model.name, "package": None, "version": None}],
            "sources": [],
            "depends_on": {
                "macros": [f"macro.dbt.test_{test}"],
                "nodes": [unique_id],
            },
            "compiled_path": None,
            "column_name": column,
            "file_key_name": f"models.{model.name}",
            "attached_node": unique_id,
            "test_metadata": about,
        }

    def _common(self, name: str, kind: str, path: str, original: str) -> dict[str, Any]:
        """What dbt writes at every node, models and tests alike."""
        return {
            "database": None,
            "name": name,
            "resource_type": kind,
            "package_name": NAME,
            "path": path,
            "original_file_path": original,
            "alias": name,
            "tags": [],
            "meta": {},
            "group": None,
            "docs": {"show": True, "node_color": None},
            "build_path": None,
            "unrendered_config": {},
            "created_at": 1767225600.0,
            "doc_blocks": [],
            "language": "sql",
            "metrics": [],
            "functions": [],
            "contract": {"enforced": False, "alias_types": True, "checksum": None},
        }

    def _sources(self) -> Iterator[tuple[str, Any]]:
        for area in dict.fromkeys(model.area for model in self.models if not model.parents):
            name = f"events_{area:05}"
            path = f"models/bronze/area_{area:05}/models.yml"
            yield (
                f"source.{NAME}.raw.{name}",
                {
                    "database": None,
                    "schema": "raw",
                    "name": name,
                    "resource_type": "source",
                    "package_name": NAME,
                    "path": path,
                    "original_file_path": path,
                    "unique_id": f"source.{NAME}.raw.{name}",
                    "fqn": [NAME, "bronze", f"area_{area:05}", "raw", name],
                    "source_name": "raw",
                    "source_description": "",
                    "loader": "",
                    "identifier": name,
                    "description": "",
                    "columns": {},
                    "meta": {},
                    "tags": [],
                    "config": {"enabled": True, "meta": {}, "tags": []},
                    "relation_name": f"raw.{name}",
                },
            )

    def _parents(self) -> Iterator[tuple[str, list[str]]]:
        for model in self.models:
            yield f"model.{NAME}.{model.name}", _reads(model)


def _reads(model: Model) -> list[str]:
    return [f"model.{NAME}.{parent}" for parent in model.parents] or [f"source.{NAME}.raw.events_{model.area:05}"]


def _entries(pairs: Iterator[tuple[str, Any]]) -> Iterator[str]:
    comma = ""
    for key, value in pairs:
        yield f"{comma}{json.dumps(key)}: {json.dumps(value)}"
        comma = ", "


def _column(name: str, kind: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "meta": {},
        "data_type": kind,
        "constraints": [],
        "quote": None,
        "config": {"meta": {}, "tags": []},
        "tags": [],
        "granularity": None,
        "doc_blocks": [],
    }


def _yaml(models: list[Model]) -> Iterator[str]:
    """As dbt's own guides write it: one file for the folder, block style."""
    yield "version: 2\n\n"
    if not models[0].parents:
        yield f"sources:\n  - name: raw\n    tables:\n      - name: events_{models[0].area:05}\n\n"
    yield "models:\n"
    for model in models:
        yield f"  - name: {model.name}\n"
        if model.description:
            yield f"    description: {model.description}\n"
        yield "    columns:\n"
        for name, kind in COLUMNS.items():
            yield f"      - name: {name}\n        data_type: {kind}\n"
            if text := model.column(name):
                yield f"        description: {text}\n"
            if tests := [test for column, test in model.tests if column == name]:
                yield "        data_tests:\n" + "".join(f"          - {test}\n" for test in tests)


_CONFIG: dict[str, Any] = {
    "enabled": True,
    "alias": None,
    "database": None,
    "tags": [],
    "meta": {},
    "group": None,
    "static_analysis": None,
}
MODEL_CONFIG = {
    **_CONFIG,
    "schema": None,
    "materialized": "view",
    "incremental_strategy": None,
    "batch_size": None,
    "lookback": 1,
    "begin": None,
    "persist_docs": {},
    "post-hook": [],
    "pre-hook": [],
    "quoting": {},
    "column_types": {},
    "full_refresh": None,
    "unique_key": None,
    "on_schema_change": "ignore",
    "on_configuration_change": "apply",
    "grants": {},
    "packages": [],
    "docs": {"show": True, "node_color": None},
    "contract": {"enforced": False, "alias_types": True},
    "event_time": None,
    "concurrent_batches": None,
    "access": "protected",
    "freshness": None,
}
TEST_CONFIG = {
    **_CONFIG,
    "schema": "dbt_test__audit",
    "materialized": "test",
    "severity": "ERROR",
    "store_failures": None,
    "store_failures_as": None,
    "where": None,
    "limit": None,
    "fail_calc": "count(*)",
    "warn_if": "!= 0",
    "error_if": "!= 0",
}
