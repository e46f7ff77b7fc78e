"""What turns one state of a table into another: Iceberg's requirements and updates, from two metadata files.

Both sides are the JSON of a metadata file, of format 1, 2 or 3, and what comes out is JSON too: as Iceberg's REST
protocol writes it, complete also where PyIceberg's models are not. Histories are not copied: the log of a table
gets one entry, however many snapshots a run has made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

FIRST_PARTITION_FIELD = 1000
REF_LIMITS = ("max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep")


class UnpublishableError(ValueError):
    """What was staged is no continuation of the table it started from."""


def updates_between(base: Json, staged: Json) -> tuple[list[Json], list[Json]]:
    """The requirements that `base` still stands, and the updates that make it `staged`; no updates when nothing
    differs. Raises UnpublishableError when a consumer would lose something.
    """
    _check_continuation(base, staged)
    updates = [*_shapes(base, staged), *_content(base, staged), *_settings(base, staged)]
    return requirements_of(base), updates


def requirements_of(base: Json) -> list[Json]:
    """That a table still is what this metadata says."""
    main = refs_of(base).get("main")
    return [
        {"type": "assert-table-uuid", "uuid": base["table-uuid"]},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": main["snapshot-id"] if main else None},
        {"type": "assert-last-assigned-field-id", "last-assigned-field-id": base["last-column-id"]},
        {"type": "assert-current-schema-id", "current-schema-id": _current_schema_id(base)},
        {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": _last_partition_id(base)},
        {"type": "assert-default-spec-id", "default-spec-id": base.get("default-spec-id", 0)},
        {"type": "assert-default-sort-order-id", "default-sort-order-id": base.get("default-sort-order-id", 0)},
    ]


def snapshots_between(base: Json | None, staged: Json) -> tuple[int, ...]:
    """The ids of the snapshots that the staged table has and the other one has not."""
    known = snapshots_of(base) if base else set()
    in_order = (found["snapshot-id"] for found in staged.get("snapshots") or ())
    return tuple(number for number in in_order if number not in known)


def snapshots_of(metadata: Json) -> set[int]:
    return {found["snapshot-id"] for found in metadata.get("snapshots") or ()}


def current_schema(metadata: Json) -> Json:
    """The schema in force, without its number: services count for themselves."""
    schema = _schemas(metadata)[_current_schema_id(metadata)]
    return {key: value for key, value in canonical(schema).items() if key != "schema-id"}


def current_snapshot(metadata: Json) -> int | None:
    found: int | None = metadata.get("current-snapshot-id")
    return None if found == -1 else found


def refs_of(metadata: Json) -> dict[str, Json]:
    """Branches and tags; tables of the first format may have no list of them."""
    if metadata.get("refs") is not None:
        return dict(metadata["refs"])
    current = current_snapshot(metadata)
    return {} if current is None else {"main": {"snapshot-id": current, "type": "branch"}}


def canonical(value: Any) -> Any:
    """The same JSON however it is written: without what says nothing."""
    if isinstance(value, Mapping):
        kept = {key: canonical(each) for key, each in value.items() if each is not None}
        return {key: each for key, each in kept.items() if key != "identifier-field-ids" or each}
    if isinstance(value, list | tuple):
        return [canonical(each) for each in value]
    return value


def _check_continuation(base: Json, staged: Json) -> None:
    if base["table-uuid"] != staged["table-uuid"]:
        raise UnpublishableError("it was dropped and created again: another table of the same name")
    if staged["format-version"] < base["format-version"]:
        raise UnpublishableError("its format version went down")
    if canonical(base.get("encryption-keys") or []) != canonical(staged.get("encryption-keys") or []):
        raise UnpublishableError("its encryption keys changed")
    if "main" in refs_of(base) and "main" not in refs_of(staged):
        raise UnpublishableError("its branch main is gone")
    if lost := snapshots_of(base) - snapshots_of(staged):
        raise UnpublishableError(f"{len(lost)} of its snapshots expired")
    for what, number in (("schema", _schemas), ("partition spec", _specs), ("sort order", _orders)):
        before, after = number(base), number(staged)
        for key in before:
            if key in after and canonical(before[key]) != canonical(after[key]):
                raise UnpublishableError(f"its {what} {key} was rewritten")


def _shapes(base: Json, staged: Json) -> Iterator[Json]:
    if staged["location"] != base["location"]:
        yield {"action": "set-location", "location": staged["location"]}
    last = staged["last-column-id"]
    for schema in _added(_schemas(base), _schemas(staged)):
        yield {"action": "add-schema", "schema": schema, "last-column-id": last}
    specs = _added(_specs(base), _specs(staged))
    orders = _added(_orders(base), _orders(staged))
    if specs or orders:  # they are bound to the schema in force, and may need its new columns
        yield from _set_current_schema(base, staged)
    for spec in specs:
        yield {"action": "add-spec", "spec": spec}
    for order in orders:
        yield {"action": "add-sort-order", "sort-order": order}


def _content(base: Json, staged: Json) -> Iterator[Json]:
    yield from _snapshots(base, staged)
    before, after = refs_of(base), refs_of(staged)
    for name, ref in after.items():
        if canonical(before.get(name)) != canonical(ref):
            limits = {key: ref[key] for key in REF_LIMITS if ref.get(key) is not None}
            about = {"ref-name": name, "type": ref["type"], "snapshot-id": ref["snapshot-id"], **limits}
            yield {"action": "set-snapshot-ref", **about}
    for name in before:
        if name not in after:
            yield {"action": "remove-snapshot-ref", "ref-name": name}
    yield from _set_current_schema(base, staged)  # after the snapshots: else Nessie goes back to the schema before
    for key, number in (("default-spec-id", "spec-id"), ("default-sort-order-id", "sort-order-id")):
        if staged.get(key, 0) != base.get(key, 0):
            yield {"action": f"set-{key.removesuffix('-id')}", number: staged.get(key, 0)}


def _snapshots(base: Json, staged: Json) -> Iterator[Json]:
    """In the order of their numbers. Those without one are of the first format, and come before it is left."""
    new = set(snapshots_between(base, staged))
    added = [found for found in staged.get("snapshots") or () if found["snapshot-id"] in new]
    added.sort(key=lambda found: found.get("sequence-number") or 0)
    numbered = [found for found in added if found.get("sequence-number")]
    yield from ({"action": "add-snapshot", "snapshot": found} for found in added[: len(added) - len(numbered)])
    if staged["format-version"] > base["format-version"]:
        yield {"action": "upgrade-format-version", "format-version": staged["format-version"]}
    yield from ({"action": "add-snapshot", "snapshot": found} for found in numbered)


def _settings(base: Json, staged: Json) -> Iterator[Json]:
    before, after = base.get("properties") or {}, staged.get("properties") or {}
    if changed := {key: value for key, value in after.items() if before.get(key) != value}:
        yield {"action": "set-properties", "updates": changed}
    if removed := sorted(before.keys() - after.keys()):
        yield {"action": "remove-properties", "removals": removed}
    for kind in ("statistics", "partition-statistics"):
        had, has = _by(base.get(kind), "snapshot-id"), _by(staged.get(kind), "snapshot-id")
        for number, found in has.items():
            if canonical(had.get(number)) != canonical(found):
                about = {"snapshot-id": number} if kind == "statistics" else {}
                yield {"action": f"set-{kind}", **about, kind: found}
        for number in had.keys() - has.keys():
            yield {"action": f"remove-{kind}", "snapshot-id": number}


def _set_current_schema(base: Json, staged: Json) -> Iterator[Json]:
    if (current := _current_schema_id(staged)) != _current_schema_id(base):
        yield {"action": "set-current-schema", "schema-id": current}


def _current_schema_id(metadata: Json) -> int:
    if "current-schema-id" in metadata:
        return int(metadata["current-schema-id"])
    return int(metadata["schema"].get("schema-id", 0))


def _schemas(metadata: Json) -> dict[int, Json]:
    return _by(metadata.get("schemas") or [{"schema-id": 0, **metadata["schema"]}], "schema-id")


def _specs(metadata: Json) -> dict[int, Json]:
    """Tables of the first format may have one spec only, whose fields have no numbers."""
    if metadata.get("partition-specs"):
        return _by(metadata["partition-specs"], "spec-id")
    fields = enumerate(metadata.get("partition-spec") or (), FIRST_PARTITION_FIELD)
    return {0: {"spec-id": 0, "fields": [{"field-id": number, **field} for number, field in fields]}}


def _orders(metadata: Json) -> dict[int, Json]:
    return _by(metadata.get("sort-orders") or [{"order-id": 0, "fields": []}], "order-id")


def _last_partition_id(metadata: Json) -> int:
    if metadata.get("last-partition-id") is not None:
        return int(metadata["last-partition-id"])
    fields = (field for spec in _specs(metadata).values() for field in spec["fields"])
    return max((field["field-id"] for field in fields), default=FIRST_PARTITION_FIELD - 1)


def _by(items: Iterable[Json] | None, key: str) -> dict[int, Json]:
    return {item[key]: item for item in items or ()}


def _added(before: Mapping[int, Json], after: Mapping[int, Json]) -> Sequence[Json]:
    """In the order of their numbers: a service gives them out one after the other."""
    return [after[key] for key in sorted(after.keys() - before.keys())]
