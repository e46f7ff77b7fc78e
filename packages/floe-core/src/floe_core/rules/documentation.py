"""Descriptions: of models, of columns, and what does not count as one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from floe_core.defaults import GATES
from floe_core.findings import Finding
from floe_core.rules.context import Breach, Context, Model, setters
from floe_core.rules.rule import where_true

MODELS = (*GATES, "require_descriptions")
COLUMNS = (*GATES, "require_column_descriptions")
model_gate, column_gate = where_true(MODELS), where_true(COLUMNS)

# Text that stands where a description should be: as a whole, in any case, whatever punctuation surrounds it.
PLACEHOLDERS = frozenset(
    {
        "add a description",
        "add description",
        "changeme",
        "dec",
        "desc",
        "describe me",
        "description",
        "description goes here",
        "enter description",
        "fill me in",
        "fixme",
        "foo",
        "insert description here",
        "lorem ipsum",
        "missing",
        "n/a",
        "na",
        "no description",
        "none",
        "null",
        "placeholder",
        "same as above",
        "tba",
        "tbc",
        "tbd",
        "to be added",
        "to be defined",
        "to be described",
        "to be determined",
        "to be done",
        "to do",
        "todo",
        "undefined",
        "unknown",
        "wip",
        "xxx",
    }
)
_MARKS = re.compile(r"(tbd|todo|fixme|xxx)\b[^a-z0-9]", re.IGNORECASE)  # TODO: ask the owner
_EDGES = " \t\n\r.,;:!?-–—_*#()[]{}<>\"'`…"


@lru_cache(maxsize=10_000)
def is_placeholder(text: str) -> bool:
    """Whether a text only fills the field."""
    bare = text.strip(_EDGES)
    if not bare:
        return bool(text.strip())
    return _MARKS.match(f"{bare} ") is not None or " ".join(bare.split()).casefold() in PLACEHOLDERS


def is_described(text: str) -> bool:
    return bool(text.strip()) and not is_placeholder(text)


def is_documented(model: Model) -> bool:
    """The required test `documentation`: the model and every declared column are described."""
    return is_described(model.node.description) and all(
        is_described(column.description) for column in model.declared.values()
    )


def check_model(context: Context, model: Model) -> Iterator[Breach]:
    """E230, E232: the model's own description."""
    leaf = context.leaf(MODELS)
    if not (leaf and leaf.value) or is_described(text := model.node.description):
        return
    if is_placeholder(text):
        place = model.places.value(model.node, "description")
        finding = Finding("FLOE-E232", f"the description of {model.name} is a placeholder: {_shown(text)}", place)
    else:
        finding = Finding("FLOE-E230", f"{model.name} has no description", model.places.entry(model.node))
    yield Breach(finding, setters(leaf))


def check_columns(context: Context, model: Model) -> Iterator[Breach]:
    """E231, E232: the descriptions of its declared columns."""
    leaf = context.leaf(COLUMNS)
    if not (leaf and leaf.value):
        return
    for column in model.declared.values():
        text = column.description
        if is_placeholder(text):
            name = f"{model.name}.{column.name}"
            place = model.places.value(model.node, "description", column=column.name)
            message = f"the description of {name} is a placeholder: {_shown(text)}"
            yield Breach(Finding("FLOE-E232", message, place), setters(leaf))
        elif not text.strip():
            place = model.places.column(model.node, column.name)
            message = f"{model.name}.{column.name} has no description"
            yield Breach(Finding("FLOE-E231", message, place), setters(leaf))


def _shown(text: str) -> str:
    return repr(" ".join(text.split())[:40])
