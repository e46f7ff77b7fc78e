"""Manifests for tests: built from a few keys, or drawn from the schema itself with odd values included."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic.fields import FieldInfo

from floe_core import Manifest
from floe_core.findings import Place
from floe_core.merge import Tier
from floe_core.order import Strategy
from floe_core.schemas.parts import NamePattern, Plugin, Reference
from floe_core.schemas.values import (
    Block,
    Count,
    Cron,
    Date,
    Duration,
    FindingCode,
    Flag,
    FloeVersion,
    Fraction,
    Name,
    Percent,
    ProductId,
    RelativePath,
    Text,
    Version,
    Word,
)
from floe_core.settings import SettingPath, Settings, flatten, strategies, unflatten

EXAMPLES = int(os.environ.get("FLOE_EXAMPLES", "100"))  # mutation testing asks for fewer
PAIRS = int(os.environ.get("FLOE_PAIRS", "120000"))

laws = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

MINIMAL = {"apiVersion": "floe.dev/v1", "kind": "Manifest", "metadata": {"name": "acme"}, "scope": "enterprise"}


def manifest(**keys: Any) -> Manifest:
    """A manifest that says nothing but the keys given."""
    return Manifest.model_validate({**MINIMAL, **keys})


def gates(**keys: Any) -> Manifest:
    return manifest(governance={"quality_gates": keys})


def architecture(**keys: Any) -> Manifest:
    return manifest(data_architecture=keys)


def tier(document: Manifest | Settings, name: str = "tier") -> Tier:
    """A tier whose places name the tier and, as their line, the setting."""
    said = document if isinstance(document, Settings) else flatten(document)
    return Tier(name, said, lambda path: Place(name, line_of(path)))


def line_of(path: SettingPath) -> int:
    """A line for each setting, so that a test can tell two places apart."""
    return sum(map(ord, ".".join(path))) + 1


def settings_of(values: Mapping[SettingPath, Any]) -> Settings:
    blocks = {path[:length] for path in values for length in range(1, len(path))}
    return Settings(dict(values), frozenset(blocks))


# What is stricter, said a second time and independently of floe_core.order.


def rung(value: Enum) -> int:
    return list(type(value)).index(value)


AT_LEAST_AS_STRICT: dict[str, Callable[[Any, Any], bool]] = {
    "≥": lambda child, parent: bool(child >= parent),
    "≤": lambda child, parent: bool(child <= parent),
    "ladder": lambda child, parent: rung(child) >= rung(parent),
    "false<true": lambda child, parent: child or not parent,
    "require-set": lambda child, parent: set(child) >= set(parent),
    "extend": lambda child, parent: set(child) >= set(parent),
    "all-of": lambda child, parent: set(child) >= set(parent),
    "subset": lambda child, parent: set(child) <= set(parent),
    "equal": lambda child, parent: bool(child == parent),
}
GROWING = ("require-set", "extend", "all-of")  # a child's list is added, so none is too short


def as_strict(strategy: Strategy, child: Any, parent: Any) -> bool:
    return AT_LEAST_AS_STRICT[strategy.name](child, parent)


def accepts(strategy: Strategy, child: Any, parent: Any) -> bool:
    """Whether a child may say this under this parent."""
    unordered = strategy.name not in AT_LEAST_AS_STRICT
    return unordered or strategy.name in GROWING or as_strict(strategy, child, parent)


def strategy_for(path: SettingPath) -> Strategy:
    """The strategy of a path, found by trying every pattern rather than as floe_core finds it."""
    matches = [
        strategy
        for pattern, strategy in strategies().items()
        if len(pattern) == len(path) and all(step in ("*", name) for step, name in zip(pattern, path, strict=True))
    ]
    assert len(matches) == 1, path
    return matches[0]


# One Hypothesis strategy per kind of value. All give what YAML gives.

WORDS = st.sampled_from(["a", "b", "spark", "duckdb", "raw_*", "ü x", "100", "*", "#"])
PERCENTS = st.one_of(
    st.sampled_from([0, -0.0, 0.0, 100, 100.0, 1e-9, 99.99999, "0%", "100%", "99.9%", "80%"]),
    st.integers(0, 100),
    st.floats(0, 100),
)
FRACTIONS = st.one_of(st.sampled_from([0, -0.0, 1, 1e-300]), st.floats(0, 1))
DURATIONS = st.sampled_from(["1s", "60s", "1m", "24h", "P1D", "PT12H", "7d", "999999w", "PT1S", "P1W1DT1H1M1S"])
NAMES = st.sampled_from(["bronze", "silver", "gold", "stg", "x9", "a-b_c"])
GLOBS = st.sampled_from(["*", "*a*", "?*", "*_b*"])  # every two of them share a name, also with any prefix
PATTERNS = st.one_of(GLOBS, GLOBS.map(lambda glob: {"glob": glob}), st.just({"regex": "[a-z_]+"}))
ANYTHING = st.sampled_from([None, True, 0, -1.5, 10**400, "", "x", [], [1, "a"], {}, {"url": "x", "n": None}])
CONFIGS = st.dictionaries(st.sampled_from(["uri", "name", "*", ""]), ANYTHING, max_size=2)
PLUGINS = st.one_of(
    st.sampled_from(["spark", "odcs"]), st.fixed_dictionaries({"type": WORDS}, optional={"config": CONFIGS})
)

KINDS: tuple[tuple[Any, SearchStrategy[Any]], ...] = (
    (Percent, PERCENTS),
    (Fraction, FRACTIONS),
    (Count, st.sampled_from([0, 1, 3, 3.0, 1000])),
    (Duration, DURATIONS),
    (Flag, st.booleans()),
    (FloeVersion, st.sampled_from([">=0", ">= 0.0.1", ">=0.1", ">=0.1.0", ">=999999.0"])),
    (Version, st.sampled_from(["0.0", "1.10", "1.2.3"])),
    (Word, WORDS),
    (Text, st.sampled_from(["", " ", "text", "two\nlines"])),
    (Name, NAMES),
    (ProductId, st.sampled_from(["sales.orders", "a.b"])),
    (RelativePath, st.sampled_from(["contracts/base.yaml", "x"])),
    (Cron, st.sampled_from(["0 6 * * *", "* 0-6 * * *"])),
    (Date, st.sampled_from(["2027-01-31", "0001-01-01"])),
    (FindingCode, st.sampled_from(["FLOE-E201", "FLOE-E999"])),
    (Any, ANYTHING),
    (str, st.sampled_from(["lineage", "a.b", "*", ""])),
    (Plugin, PLUGINS),
    (Reference, st.sampled_from(["../acme.yaml", {"ref": "oci://x/y", "version": "^1"}])),
    (NamePattern, PATTERNS),
)


def values(kind: Any) -> SearchStrategy[Any]:
    """Everything that YAML may hold where the schema wants this kind of value."""
    for known, drawn in KINDS:
        if kind is known or kind == known:
            return drawn
    inner = get_args(kind)
    match get_origin(kind):
        case origin if origin is Annotated:
            return values(inner[0])
        case origin if origin in (Union, UnionType):
            return st.one_of(*(values(part) for part in inner if part is not NoneType))
        case origin if origin is Literal:
            return st.sampled_from(inner)
        case origin if origin is tuple:
            items = st.lists(values(inner[0]), min_size=int(_is_group(kind)), max_size=3)
            return st.one_of(values(inner[0]), items) if get_origin(inner[0]) is tuple else items
        case origin if origin is dict:
            return st.dictionaries(values(inner[0]), values(inner[1]), max_size=2)
    if issubclass(kind, Enum):
        return st.sampled_from([member.value for member in kind])
    assert issubclass(kind, Block), kind
    return blocks(kind)


def _is_group(kind: Any) -> bool:
    """An empty group of patterns would match no name at all; test_naming has those."""
    return get_args(kind)[0] is NamePattern


@cache
def blocks(block: type[Block]) -> SearchStrategy[dict[str, Any]]:
    """A block of the schema with some of its keys, or with all of them."""
    fields = {name: values(_annotation(field)) for name, field in block.model_fields.items()}
    needed = {name: fields[name] for name, field in block.model_fields.items() if field.is_required()}
    some = st.fixed_dictionaries(needed, optional={name: fields[name] for name in fields if name not in needed})
    return st.one_of(some, st.fixed_dictionaries(fields))


def _annotation(field: FieldInfo) -> Any:
    """The field's type as the schema spells it: pydantic keeps what `Annotated` adds apart."""
    added = [item for item in field.metadata if not isinstance(item, Strategy)]
    return Annotated[field.annotation, *added] if added else field.annotation


@cache
def manifests() -> SearchStrategy[Manifest]:
    """Any manifest the schema accepts."""
    return blocks(Manifest).map(Manifest.model_validate)


@st.composite
def chains(draw: st.DrawFn, length: int) -> tuple[Manifest, ...]:
    """Manifests of which each is at least as strict as everything above it."""
    above: dict[SettingPath, Any] = {}
    chain = []
    for _ in range(length):
        said = flatten(draw(manifests()))
        held = {path: _strengthened(path, value, above) for path, value in said.values.items()}
        chain.append(unflatten(Settings(held, said.blocks)))
        above |= {path: value for path, value in held.items() if strategy_for(path).name not in GROWING}
    return tuple(chain)


def _strengthened(path: SettingPath, value: Any, above: Mapping[SettingPath, Any]) -> Any:
    strategy = strategy_for(path)
    if path not in above or accepts(strategy, value, above[path]):
        return value
    if strategy.name == "subset":
        return tuple(item for item in value if item in above[path])
    return above[path]
