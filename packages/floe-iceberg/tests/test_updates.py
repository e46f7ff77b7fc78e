"""The updates between two states of a table: applied to the first, they give the second."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.table.statistics import BlobMetadata, StatisticsFile
from pyiceberg.table.update import update_table_metadata
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import LongType, NestedField, StringType

from floe_iceberg.relations import REQUIREMENTS, UPDATES, as_json, normal
from floe_iceberg.updates import Json, UnpublishableError, canonical, updates_between

SCHEMA = Schema(NestedField(1, "id", LongType(), required=False))
OF_ONE_HISTORY = {"last-updated-ms", "metadata-log", "snapshot-log"}  # what a run did on the way is its own matter
Operation = Callable[[Table], object]


def rows(table: Table) -> Any:
    columns = {field.name: [None] for field in table.schema().fields} | {"id": [1]}
    return pa.table(columns, schema=table.schema().as_arrow())


def fresh(table: Table, prefix: str) -> str:
    """A name that no column, tag or property has ever had."""
    return f"{prefix}_{table.metadata.last_column_id}_{len(table.snapshots())}_{len(table.metadata.schemas)}"


def overwrite(table: Table) -> None:
    """Two snapshots in one commit, where there is something to remove."""
    (table.overwrite if table.current_snapshot() else table.append)(rows(table))


def add_column(table: Table) -> None:
    with table.update_schema() as update:
        update.add_column(fresh(table, "column"), StringType())


def drop_column(table: Table) -> None:
    bound = {field.source_id for spec in table.metadata.partition_specs for field in spec.fields}
    bound |= {field.source_id for order in table.metadata.sort_orders for field in order.fields}
    for field in table.schema().fields[1:]:
        if field.field_id not in bound:
            with table.update_schema() as update:
                update.delete_column(field.name)
            return


def partition(table: Table) -> None:
    if table.spec().is_unpartitioned():
        add_column(table)
        with table.update_spec() as update:
            update.add_identity(table.schema().fields[-1].name)


def unpartition(table: Table) -> None:
    with table.update_spec() as update:
        for field in table.spec().fields:
            update.remove_field(field.name)


def sort(table: Table) -> None:
    if not table.sort_order().fields:
        add_column(table)
        with table.update_sort_order() as update:
            update.asc(table.schema().fields[-1].name, IdentityTransform())


def tag(table: Table) -> None:
    if current := table.current_snapshot():
        table.manage_snapshots().create_tag(current.snapshot_id, fresh(table, "tag")).commit()


def describe(table: Table) -> None:
    table.transaction().set_properties({"comment": fresh(table, "about")}).commit_transaction()


def undescribe(table: Table) -> None:
    if "comment" in table.properties:
        table.transaction().remove_properties("comment").commit_transaction()


def analyse(table: Table) -> None:
    if current := table.current_snapshot():
        blob = BlobMetadata(
            type="apache-datasketches-theta-v1", snapshot_id=current.snapshot_id, sequence_number=1, fields=[1]
        )
        statistics = StatisticsFile(
            snapshot_id=current.snapshot_id,
            statistics_path=fresh(table, "file:///stats"),
            file_size_in_bytes=10,
            file_footer_size_in_bytes=4,
            blob_metadata=[blob],
        )
        with table.update_statistics() as update:
            update.set_statistics(statistics)


OPERATIONS: dict[str, Operation] = {
    "append": lambda table: table.append(rows(table)),
    "overwrite": overwrite,
    "add column": add_column,
    "drop column": drop_column,
    "partition": partition,
    "unpartition": unpartition,
    "sort": sort,
    "tag": tag,
    "describe": describe,
    "undescribe": undescribe,
    "analyse": analyse,
    "upgrade": lambda table: table.transaction().upgrade_table_version(2).commit_transaction(),
}


@contextmanager
def new_table(version: int) -> Iterator[Table]:
    with (
        TemporaryDirectory() as folder,
        SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=Path(folder).as_uri()) as catalog,
    ):
        catalog.create_namespace("a")
        yield catalog.create_table("a.t", SCHEMA, properties={"format-version": str(version)})


def file_of(table: Table) -> Json:
    written: Json = json.loads(Path(table.metadata_location.removeprefix("file://")).read_text())
    return written


def applied(base: Json, staged: Json) -> Json:
    """What PyIceberg makes of it, requirements included."""
    requirements, updates = updates_between(base, staged)
    before = TableMetadataUtil.parse_obj(dict(base))
    for requirement in REQUIREMENTS.validate_python(requirements):
        requirement.validate(before)
    after = update_table_metadata(before, UPDATES.validate_python(updates), enforce_validation=True)
    return as_json(after)


def comparable(metadata: Json) -> Json:
    """Without what is of one history only."""
    written = canonical(normal(metadata))
    return {key: value for key, value in written.items() if key not in OF_ONE_HISTORY}


names = st.lists(st.sampled_from(sorted(OPERATIONS)), max_size=6)


@settings(max_examples=25, deadline=None)
@given(version=st.sampled_from([1, 2]), before=names, run=names)
def test_applied_to_the_base_they_give_what_was_staged(version: int, before: list[str], run: list[str]) -> None:
    with new_table(version) as table:
        for name in before:
            OPERATIONS[name](table)
        base = file_of(table)
        for name in run:
            OPERATIONS[name](table)
        staged = file_of(table)
        assert comparable(applied(base, staged)) == comparable(staged)
        assert updates_between(staged, staged)[1] == []


def actions(base: Json, staged: Json) -> list[str]:
    return [update["action"] for update in updates_between(base, staged)[1]]


def test_the_schema_is_set_after_the_snapshots_and_before_what_is_bound_to_it() -> None:
    with new_table(2) as table:
        base = file_of(table)
        partition(table)
        table.append(rows(table))
        describe(table)
        assert actions(base, file_of(table)) == [
            "add-schema",
            "set-current-schema",
            "add-spec",
            "add-snapshot",
            "set-snapshot-ref",
            "set-current-schema",
            "set-default-spec",
            "set-properties",
        ]
        assert updates_between(base, file_of(table))[1][0]["last-column-id"] == 2


def test_a_table_that_was_replaced_keeps_its_history() -> None:
    """As CREATE OR REPLACE TABLE does: new schema, spec and order at once, under the same uuid."""
    with new_table(2) as table:
        table.append(rows(table))
        base = file_of(table)
        schema = Schema(NestedField(1, "id", LongType(), required=False), NestedField(2, "c", StringType()))
        spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "c"), spec_id=1)
        order = SortOrder(SortField(source_id=2, transform=IdentityTransform()), order_id=1)
        replaced = {
            **base,
            "schemas": [*base["schemas"], json.loads(schema.model_copy(update={"schema_id": 1}).model_dump_json())],
            "current-schema-id": 1,
            "last-column-id": 2,
            "partition-specs": [*base["partition-specs"], json.loads(spec.model_dump_json())],
            "default-spec-id": 1,
            "last-partition-id": 1000,
            "sort-orders": [*base["sort-orders"], json.loads(order.model_dump_json())],
            "default-sort-order-id": 1,
        }
        assert comparable(applied(base, replaced)) == comparable(replaced)
        assert "remove-snapshots" not in actions(base, replaced)


def without_snapshots(metadata: Json) -> Json:
    return {**metadata, "snapshots": []}


LOSSES: dict[str, tuple[Callable[[Json], Json], str]] = {
    "another table": (lambda found: {**found, "table-uuid": "other"}, "dropped and created again"),
    "expired": (without_snapshots, "1 of its snapshots expired"),
    "emptied": (lambda found: {**found, "refs": {}}, "its branch main is gone"),
    "downgraded": (lambda found: {**found, "format-version": 1}, "its format version went down"),
    "rewritten": (
        lambda found: {**found, "schemas": [{**found["schemas"][0], "fields": []}]},
        "its schema 0 was rewritten",
    ),
    "encrypted": (lambda found: {**found, "encryption-keys": [{"key-id": "k"}]}, "its encryption keys changed"),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_would_take_something_from_consumers_is_refused(loss: str) -> None:
    change, message = LOSSES[loss]
    with new_table(2) as table:
        table.append(rows(table))
        base = file_of(table)
        with pytest.raises(UnpublishableError, match=message):
            updates_between(base, change(base))


def test_a_table_of_the_third_format_carries_its_row_ids() -> None:
    with new_table(2) as table:
        table.append(rows(table))
        found = file_of(table)
    base = {**found, "format-version": 3, "next-row-id": 5}
    snapshot = {**found["snapshots"][0], "snapshot-id": 7, "sequence-number": 2, "first-row-id": 5, "added-rows": 3}
    snapshot["parent-snapshot-id"] = found["current-snapshot-id"]
    staged = {
        **base,
        "snapshots": [*base["snapshots"], snapshot],
        "current-snapshot-id": 7,
        "refs": {"main": {"snapshot-id": 7, "type": "branch"}},
        "last-sequence-number": 2,
        "next-row-id": 8,
    }
    assert applied(base, staged)["next-row-id"] == 8
    assert comparable(applied(base, staged)) == comparable(staged)


def test_the_first_format_may_leave_out_what_later_ones_must_say() -> None:
    old = {
        "format-version": 1,
        "table-uuid": "u",
        "location": "l",
        "last-column-id": 1,
        "schema": {"type": "struct", "fields": []},
        "partition-spec": [{"name": "id", "transform": "identity", "source-id": 1}],
        "current-snapshot-id": -1,
    }
    requirements, updates = updates_between(old, {**old, "refs": {}, "last-partition-id": 1000})
    assert updates == []
    assert {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000} in requirements
    assert {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": None} in requirements
