"""The facets of OpenLineage's own specification that floe fills, and the parts of its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from floe_telemetry.events import Column, ContractChecked, Origin
from floe_telemetry.facets import Json, facet, said

SPEC: Final = "https://openlineage.io/spec"
EVENT: Final = f"{SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"


def _schema(name: str, version: str) -> str:
    return f"{SPEC}/facets/{version}/{name}.json#/$defs/{name}"


JOB_TYPE: Final = _schema("JobTypeJobFacet", "2-0-4")
PARENT: Final = _schema("ParentRunFacet", "1-2-0")
ERROR: Final = _schema("ErrorMessageRunFacet", "1-0-1")
SCHEMA: Final = _schema("SchemaDatasetFacet", "1-2-0")
COLUMN_LINEAGE: Final = _schema("ColumnLineageDatasetFacet", "1-2-0")
STATISTICS: Final = _schema("OutputStatisticsOutputDatasetFacet", "1-0-2")
ASSERTIONS: Final = _schema("DataQualityAssertionsDatasetFacet", "1-1-0")


def job_type(producer: str, kind: str) -> Json:
    return facet(producer, JOB_TYPE, processingType="BATCH", integration="FLOE", jobType=kind)


def parent(producer: str, run_id: str, namespace: str, name: str) -> Json:
    run, job = {"runId": run_id}, {"namespace": namespace, "name": name}
    return facet(producer, PARENT, run=run, job=job, root={"run": run, "job": job})


def error(producer: str, message: str) -> Json:
    return facet(producer, ERROR, message=message or "failed", programmingLanguage="SQL")


def schema(producer: str, columns: Sequence[Column]) -> Json | None:
    return facet(producer, SCHEMA, fields=_fields(columns, numbered=True)) if columns else None


def _fields(columns: Sequence[Column], *, numbered: bool = False) -> list[Json]:
    return [
        said(
            name=column.name,
            type=column.type,
            description=column.description,
            ordinal_position=number if numbered else None,
            fields=_fields(column.fields) if column.fields else None,
        )
        for number, column in enumerate(columns, 1)
    ]


def column_lineage(producer: str, namespace: str, lineage: Mapping[str, Sequence[Origin]]) -> Json | None:
    """Which columns each column is made of; `namespace` is that of datasets that name none."""
    if not lineage:
        return None
    fields = {
        name: {"inputFields": [_origin(namespace, one) for one in origins]} for name, origins in lineage.items()
    }
    return facet(producer, COLUMN_LINEAGE, fields=fields)


def _origin(namespace: str, origin: Origin) -> Json:
    return {
        "namespace": origin.namespace or namespace,
        "name": origin.dataset,
        "field": origin.column,
        "transformations": [{"type": "DIRECT" if origin.direct else "INDIRECT"}],
    }


def statistics(producer: str, rows: int | None, size: int | None) -> Json | None:
    return None if rows is None and size is None else facet(producer, STATISTICS, rowCount=rows, size=size)


def assertions(producer: str, check: ContractChecked) -> Json:
    """A contract check, as OpenLineage says what was found out about an input."""
    broken = check.violations
    rows = [
        said(
            assertion=check.check.value,
            success=False,
            column=violation.element,
            severity=violation.severity.value,
            description=violation.message,
            expected=violation.expected,
            actual=violation.actual,
        )
        for violation in broken
    ] or [
        said(assertion=check.check.value, success=True, expected=_text(check.threshold), actual=_text(check.actual))
    ]
    return facet(producer, ASSERTIONS, assertions=rows)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
