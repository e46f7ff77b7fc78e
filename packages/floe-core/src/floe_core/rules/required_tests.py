"""The tests that a layer demands of its models, and what satisfies each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from floe_core.findings import Finding, Severity
from floe_core.merge import Leaf, Merged
from floe_core.order import show
from floe_core.project import RawNode
from floe_core.rules.context import Breach, Context, Model, fold
from floe_core.rules.documentation import is_documented
from floe_core.rules.meta import freshness, primary_key
from floe_core.rules.rule import gate

NOT_NULL = frozenset({"not_null", "expect_column_values_to_not_be_null"})
UNIQUE = frozenset({"unique", "expect_column_values_to_be_unique"})
UNIQUE_TOGETHER = {  # tests of several columns, and the argument that names them
    "unique_combination_of_columns": "combination_of_columns",
    "expect_compound_columns_to_be_unique": "column_list",
}
RELATIONSHIPS = frozenset({"relationships", "relationships_where"})
LAYERS = ("data_architecture", "layers")
LOAD_DATE = frozenset({"load_date", "load_dts", "loaded_at"})
RECORD_SOURCE = frozenset({"record_source", "rsrc"})


def layer_gate(merged: Merged) -> Severity | None:
    """A gate like the others, off where no layer demands a test."""
    return (
        gate(merged) if any(path[:2] == LAYERS and path[-1] == "required_tests" for path in merged.leaves) else None
    )


def check_model(context: Context, model: Model) -> Iterator[Breach]:
    """E210, E211: what the model's layer demands and the model does not have."""
    leaf = context.leaf((*LAYERS, model.layer or "", "required_tests"))
    if leaf is None:
        return
    key = key_of(model)
    keyless = [name for name in leaf.value if name in OF_KEY and not key]
    missing = [name for name in leaf.value if name not in keyless and not satisfies(model, key, name)]
    place = model.places.entry(model.node)
    if keyless:
        message = f"{model.name} declares no key, and {show(keyless)} is required of it"
        yield Breach(Finding("FLOE-E211", message, place), _owners(leaf, keyless))
    if missing:
        cures = "; ".join(f"{CURES.get(name, 'add a test of that name')} ({name})" for name in missing)
        finding = Finding(
            "FLOE-E210",
            f"{model.name} missing required tests",
            place,
            fix=f"{cures[0].upper()}{cures[1:]}.",
            expected=show(leaf.value),
            actual=f"without {show(missing)}",
            details=(("Required", show(leaf.value)), ("Missing", show(missing))),
        )
        yield Breach(finding, _owners(leaf, missing))


def satisfies(model: Model, key: tuple[str, ...], name: str) -> bool:
    """Whether the model has what a required test asks for; any other name is that of a dbt test."""
    if name in OF_KEY:
        return OF_KEY[name](model, key)
    if name in OF_MODEL:
        return OF_MODEL[name](model)
    return any(test.test_name == name for test in model.tests)


def key_of(model: Model) -> tuple[str, ...]:
    """The key's columns, folded: of the contract, of the port's schema, of a dbt constraint, else of meta.floe."""
    for promise in model.promises:
        if keys := [fold(column.in_table) for column in promise.table.columns if column.primary_key]:
            return tuple(keys)
    for port in model.ports:
        if named := [fold(column.name) for column in port.columns or () if column.primary_key]:
            return tuple(named)
    return _constrained(model) or primary_key(model)


def _constrained(model: Model) -> tuple[str, ...]:
    for constraint in model.node.constraints:
        if constraint.type == "primary_key" and constraint.columns:
            return tuple(map(fold, constraint.columns))
    return tuple(
        folded
        for folded, column in model.declared.items()
        if any(constraint.type == "primary_key" for constraint in column.constraints)
    )


def has_test(model: Model, column: str, kinds: frozenset[str]) -> bool:
    return not kinds.isdisjoint(model.tests_of_column.get(column, ()))


def not_null_key(model: Model, key: tuple[str, ...]) -> bool:
    return all(has_test(model, column, NOT_NULL) for column in key)


def unique_key(model: Model, key: tuple[str, ...]) -> bool:
    """A test shows that no two rows share the key: of one of its columns, or of several together."""
    if any(has_test(model, column, UNIQUE) for column in key):
        return True
    together = (set(_together(test)) for test in model.tests)
    return any(columns and columns <= set(key) for columns in together)


def _together(test: RawNode) -> Iterator[str]:
    argument = UNIQUE_TOGETHER.get(test.test_name)
    listed = test.test_metadata.kwargs.get(argument) if test.test_metadata and argument else None
    return (fold(str(column)) for column in (listed if isinstance(listed, list) else ()))


def keeps_history(model: Model) -> bool:
    """A snapshot, or the columns that dbt's snapshots have."""
    if model.node.resource_type == "snapshot":
        return True
    return "dbt_valid_to" in model.columns and has_test(model, "dbt_valid_from", NOT_NULL)


def has_relationship(model: Model) -> bool:
    return any(test.test_name in RELATIONSHIPS for test in model.tests)


def has_hash_key(model: Model) -> bool:
    """A column *_hk or *hash_key* that is never null and never twice the same."""
    named = (column for column in model.columns if column.endswith("_hk") or "hash_key" in column)
    return any(has_test(model, column, NOT_NULL) and has_test(model, column, UNIQUE) for column in named)


def has_not_null(names: frozenset[str]) -> Callable[[Model], bool]:
    def check(model: Model) -> bool:
        return any(has_test(model, name, NOT_NULL) for name in names if name in model.columns)

    return check


def is_fresh(model: Model) -> bool:
    """An SLA of a contract or port of the model says how old its data may be, or meta.floe does."""
    if any(sla.name == "freshness" for promise in model.promises for sla in promise.contract.slas):
        return True
    return any(port.sla and port.sla.freshness for port in model.ports) or freshness(model) is not None


def _owners(leaf: Leaf, names: Iterable[str]) -> frozenset[str]:
    """The first tier to demand each."""
    return frozenset(next(said.tier for said in leaf.statements if name in said.value) for name in names)


OF_KEY: dict[str, Callable[[Model, tuple[str, ...]], bool]] = {
    "not_null_pk": not_null_key,
    "unique_pk": unique_key,
    "unique_business_key": unique_key,
}
OF_MODEL: dict[str, Callable[[Model], bool]] = {
    "freshness": is_fresh,
    "documentation": is_documented,
    "scd_validation": keeps_history,
    "referential_integrity": has_relationship,
    "hash_key": has_hash_key,
    "load_date": has_not_null(LOAD_DATE),
    "record_source": has_not_null(RECORD_SOURCE),
}
CURES = {
    "not_null_pk": "add `not_null` to every column of the key",
    "unique_pk": "add `unique` to the key",
    "unique_business_key": "add `unique` to the key",
    "freshness": "set `meta: {floe: {freshness: PT24H}}`, or an SLA on the model's output port",
    "documentation": "describe the model and each of its columns",
    "scd_validation": "use a snapshot, or columns dbt_valid_from with `not_null` and dbt_valid_to",
    "referential_integrity": "add a `relationships` test",
    "hash_key": "add a column named *_hk with `not_null` and `unique`",
    "load_date": "add a column load_date with `not_null`",
    "record_source": "add a column record_source with `not_null`",
}
