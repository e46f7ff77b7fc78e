"""`meta.floe`: what a model says to floe in its dbt YAML, and whether floe can read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from pydantic_core import PydanticCustomError

from floe_core.findings import Finding, Place
from floe_core.project import Column
from floe_core.rules.columns import CLASSES, class_words, column_floe
from floe_core.rules.context import Breach, Context, Model, fold
from floe_core.schemas.values import read_duration


def primary_key(model: Model) -> tuple[str, ...]:
    """The key's columns, folded: a list on the model, or true on columns."""
    written = model.floe.get("primary_key")
    listed = [written] if isinstance(written, str) else written if isinstance(written, list) else []
    marked = (name for name, (_, floe) in model.speaking.items() if floe.get("primary_key") is True)
    return tuple(fold(str(name)) for name in listed) or tuple(marked)


def freshness(model: Model) -> timedelta | None:
    """How old the data may be, where the model says so readably."""
    try:
        return read_duration(model.floe["freshness"]) if "freshness" in model.floe else None
    except PydanticCustomError:
        return None


def check_classification(_: Context, model: Model) -> Iterator[Breach]:
    """E240: a classification of the model or a column that floe does not know."""

    def find(column: str | None) -> Place:
        return model.places.value(model.node, "meta", "floe", "classification", column=column)

    yield from _unknown(model.name, model.floe, find)
    for item, floe in model.speaking.values():
        yield from _unknown(f"{model.name}.{item.name}", floe, find, item)


def check_sources(context: Context) -> Iterator[Breach]:
    """E240 for the tables that the product reads: a class that nobody knows would travel nowhere."""
    for project in context.projects:
        for source in project.manifest.sources.values():
            if source.package_name == project.name:
                find, label = partial(project.places.table, source), f"{source.source_name}.{source.name}"
                yield from _unknown(label, source.meta.get("floe"), find)
                for item in source.columns.values():
                    yield from _unknown(f"{label}.{item.name}", column_floe(item), find, item)


def _unknown(
    label: str, floe: object, find: Callable[[str | None], Place], column: Column | None = None
) -> Iterator[Breach]:
    words = class_words(floe["classification"]) if isinstance(floe, dict) and "classification" in floe else ()
    if unknown := ", ".join(word for word in words if word not in CLASSES):
        message = f"{label}: {unknown} is no classification"
        fix, legal = f"Use one of {', '.join(CLASSES)}, or a list of them.", " | ".join(CLASSES)
        place = find(column.name if column else None)
        yield Breach(Finding("FLOE-E240", message, place, fix=fix, expected=legal, actual=unknown))


def check_meta(context: Context, model: Model) -> Iterator[Breach]:
    """E241: anything else under meta.floe that cannot be read."""
    said = model.node.all_meta.get("floe")
    if said is not None and not isinstance(said, dict):
        yield _unreadable(model, "a mapping of keys", model.places.value(model.node, "meta", "floe"))
    for key, (problem, expected) in _problems(context, model):
        yield _unreadable(model, expected, model.places.value(model.node, "meta", "floe", key), f".{key}", problem)
    for column, floe in model.speaking.values():
        marked = floe.get("primary_key", False)
        if not isinstance(marked, bool):
            place = model.places.value(model.node, "meta", "floe", "primary_key", column=column.name)
            yield _unreadable(model, "true or false on a column", place, f".primary_key of {column.name}")


def _problems(context: Context, model: Model) -> Iterator[tuple[str, tuple[str, str]]]:
    if "layer" in model.floe and (layer := model.floe["layer"]) not in context.layers:
        if not isinstance(layer, str):
            yield "layer", ("is not text", "the name of a layer")
        elif context.layers:
            yield "layer", (f"names no layer: {layer[:60]}", " | ".join(context.layers))
    if "freshness" in model.floe and freshness(model) is None:
        yield "freshness", ("is no duration", "a duration like PT6H or 24h")
    if "primary_key" in model.floe:
        written = model.floe["primary_key"]
        names = [written] if isinstance(written, str) else written
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            yield "primary_key", ("is no list of columns", "a list of columns")
        elif model.columns and (absent := [name for name in names if fold(name) not in model.columns]):
            yield "primary_key", (f"names no column: {', '.join(absent)}", ", ".join(model.columns.values()))


def _unreadable(model: Model, expected: str, place: Place, key: str = "", problem: str = "") -> Breach:
    message = f"{model.name}: meta.floe{key} {problem or 'cannot be read'}"
    return Breach(Finding("FLOE-E241", message, place, fix=f"Write {expected}.", expected=expected))
