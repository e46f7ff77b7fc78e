"""Turns files into checked documents: every error of a file at once, each at its line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

import pydantic
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from floe_core import __version__
from floe_core.findings import Finding, FloeError, Place
from floe_core.order import show
from floe_core.schemas.aliases import written_path
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.values import Block, FloeBound, read_bound, read_release
from floe_core.secrets import literal_secrets
from floe_core.source import KeyPath, Source, cut, read_source, spell

D = TypeVar("D", Manifest, DataProduct)

PLATFORM_KEYS = (
    "compute",
    "plugins",
)  # in floe.yaml: refused with a code of their own once the platform is known
MAX_SETTINGS = 20_000  # values in one file: pydantic keeps an error, or several, for each
MAX_ERRORS = 100  # shown of one file: nobody reads more, and finding the nearest key takes a while


@dataclass(frozen=True, slots=True)
class Loaded(Generic[D]):
    """A document and the file it came from."""

    document: D
    source: Source

    def place(self, path: KeyPath = (), *, of_key: bool = False) -> Place:
        """Where a setting stands in the file, at its own place or at an alias."""
        return self.source.place(written_path(path, lambda at: self.source.node(at)), of_key=of_key)

    @property
    def folder(self) -> Path:
        return Path(self.source.path).parent


def load_manifest(path: Path) -> Loaded[Manifest]:
    """Read and check a manifest.yaml."""
    return _load(read_source(path), Manifest, ("Manifest", "DomainManifest"))


def load_product(path: Path) -> Loaded[DataProduct]:
    """Read and check a floe.yaml."""
    return _load(read_source(path), DataProduct, ("DataProduct",))


def kind_of(source: Source) -> object:
    node = source.node(("kind",))
    return node.value if node else None


def _load(source: Source, model: type[D], kinds: tuple[str, ...]) -> Loaded[D]:
    _honour_required_version(source)
    if source.root.weight > MAX_SETTINGS:
        raise FloeError(Finding("FLOE-E102", f"the file holds more than {MAX_SETTINGS:,} settings", source.place()))
    secrets = {finding.place: finding for finding in literal_secrets(source)}
    if (kind := kind_of(source)) not in kinds:
        other = _other_kind(source, kind, kinds)
        raise FloeError(secrets.get(other.place, other))
    data = source.root.plain()
    if model is DataProduct:
        data = {name: value for name, value in data.items() if name not in PLATFORM_KEYS}
    try:
        document = model.model_validate(data)
    except pydantic.ValidationError as exc:
        findings = [item for item in _findings(exc, source, model) if item.place not in secrets]
        raise FloeError(*secrets.values(), *findings) from exc
    if secrets:
        raise FloeError(*secrets.values())
    return Loaded(document, source)


def _honour_required_version(source: Source) -> None:
    """Before anything else is judged: a newer file's keys would only look wrong to an older floe."""
    node = source.node(("required_floe_version",))
    if node is None or not isinstance(node.value, str):
        return
    try:
        bound = read_bound(node.value)
    except ValueError:
        return  # the schema says what is wrong with it
    if FloeBound(read_release(__version__)) < bound:
        needed = str(bound).removeprefix(">=")
        raise FloeError(
            Finding(
                "FLOE-E120",
                f"needs floe ≥ {needed}; this is floe {__version__}",
                source.place(("required_floe_version",)),
                fix=f"Upgrade floe-core to {needed} or later.",
            )
        )


def _other_kind(source: Source, kind: object, kinds: tuple[str, ...]) -> Finding:
    wanted = " or ".join(kinds)
    if kind is None:
        return Finding(
            "FLOE-E122", "kind is missing", source.place(), expected=wanted, fix=f"Add `kind: {kinds[0]}`."
        )
    return Finding(
        "FLOE-E128",
        f"kind is {_shown(kind)}, not {wanted}",
        source.place(("kind",)),
        expected=wanted,
        actual=_shown(kind),
    )


def _shown(value: object) -> str:
    """A value as it was written, short enough for a message; a secret inside a block stays unseen."""
    match value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return show(value)[:80]


def _findings(exc: pydantic.ValidationError, source: Source, model: type[Block]) -> list[Finding]:
    errors = exc.errors(include_url=False)
    found = [_finding(error, source, model) for error in errors[:MAX_ERRORS]]
    if more := len(errors) - len(found):
        found[-1] = replace(found[-1], message=f"{found[-1].message} (and {more:,} more errors in this file)")
    return found


def _finding(error: ErrorDetails, source: Source, model: type[Block]) -> Finding:
    """One pydantic error as a finding at its line."""
    context: Mapping[str, Any] = error.get("ctx", {})
    loc = tuple(step for step in error["loc"] if step != "[key]")
    path = _path_in_file(written_path(context.get("at", loc), lambda at: source.node(at)), source)
    *_, last = path or ("",)
    dotted = spell(path)
    node = source.node(path)
    if node and node.value is None and _is_required(loc, model):
        return Finding("FLOE-E122", f"{dotted} has no value", source.place(path, of_key=True), fix="Write one.")
    match error["type"]:
        case "missing":
            return Finding("FLOE-E122", f"{dotted} is missing", source.place(path), fix=f"Add `{last}:`.")
        case "union_tag_not_found":
            return Finding("FLOE-E122", f"{dotted}.type is missing", source.place(path), fix="Add `type:`.")
        case "extra_forbidden":
            return _unknown_key(dotted, source.place(path, of_key=True), loc, model)
        case "union_tag_invalid":
            legal = str(context["expected_tags"]).replace("'", "").replace(", ", " | ")
            place, given = source.place((*path, "type")), _shown(error["input"]["type"])
            message = f"{dotted}.type: {given} is not one of {legal}"
            return Finding("FLOE-E124", message, place, expected=legal, actual=given)
        case "literal_error":
            legal = str(context["expected"]).replace("'", "").replace(" or ", " | ")
            code = "FLOE-E128" if dotted == "apiVersion" else "FLOE-E124"
            given = _shown(error["input"])
            message = f"{dotted}: {given} is not {legal}"
            return Finding(code, message, source.place(path), expected=legal, actual=given)
        case "E125":
            raw = node.text if node else context["actual"]
            return Finding(
                "FLOE-E125",
                f"{dotted}: {raw} is a number, not text",
                source.place(path),
                fix=f'Quote it: {last}: "{raw}"',
            )
        case code if code in ("E123", "E124", "E126", "E127"):
            return Finding(
                f"FLOE-{code}",
                f"{dotted}: {error['msg']}" if code != "E127" else error["msg"],
                source.place(path, of_key="[key]" in error["loc"] or code == "E127"),
                expected=context.get("expected"),
                actual=context.get("actual"),
            )
        case other:
            expected = _TYPES.get(other, "another type")
            return Finding("FLOE-E123", f"{dotted}: must be {expected}", source.place(path), expected=expected)


_TYPES = {
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "dict_type": "a mapping of keys",
    "tuple_type": "a list",
    "string_type": "text",
}


def _path_in_file(path: KeyPath, source: Source) -> KeyPath:
    """The path without the steps that stand in no file: a union's member, the group that a plain list becomes."""
    steps: list[str | int] = []
    node = source.root
    for step, following in zip_longest(path, path[1:]):
        child = node.child(step)
        is_group = (
            child and isinstance(step, int) and isinstance(following, int) and not isinstance(child.value, list)
        )
        if following is not None and (child is None or is_group):
            continue
        steps.append(step)
        node = child or node
    return tuple(steps)


def _unknown_key(dotted: str, place: Place, loc: KeyPath, model: type[Block]) -> Finding:
    name = cut(str(loc[-1]))
    siblings = sorted(_fields_at(model, loc[:-1]))
    homes = [home for home in all_keys(model) if home.split(".")[-1] == name]
    if near := difflib.get_close_matches(name, siblings, 1, 0.75 if homes else 0.6):
        return Finding(
            "FLOE-E121",
            f"unknown key {dotted}; did you mean {near[0]}?",
            place,
            expected=near[0],
            actual=name,
            fix=f"Rename it to `{near[0]}`.",
        )
    if homes:
        return Finding(
            "FLOE-E121",
            f"unknown key {dotted}; {name} belongs under {homes[0].rpartition('.')[0] or 'the top level'}",
            place,
            expected=homes[0],
            actual=name,
            fix=f"Move it to `{homes[0]}`.",
        )
    elsewhere = {home.split(".")[-1]: home for home in reversed(all_keys(model))}
    if near := difflib.get_close_matches(name, elsewhere, 1, 0.8):
        home = elsewhere[near[0]]
        return Finding(
            "FLOE-E121",
            f"unknown key {dotted}; did you mean {home}?",
            place,
            expected=home,
            actual=name,
            fix=f"Move it to `{home}`.",
        )
    return Finding(
        "FLOE-E121",
        f"unknown key {dotted}",
        place,
        expected=" | ".join(siblings),
        actual=name,
        fix=f"Remove it. The keys here are {', '.join(siblings)}.",
    )


@cache
def all_keys(model: type[Block], prefix: str = "") -> tuple[str, ...]:
    """Every key of a file as a dotted path, shallowest first; `*` stands for a name the user chooses."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        found.append(path)
        for block, step in _blocks_in(field.annotation):
            found += all_keys(block, f"{path}{step}.")
    return tuple(sorted(dict.fromkeys(found), key=lambda key: key.count(".")))


def _fields_at(model: type[Block], path: KeyPath) -> dict[str, FieldInfo]:
    """The legal keys of the block at `path`."""
    blocks: list[type[Block]] = [model]
    for step in path:
        inner = [
            block
            for parent in blocks
            for name, field in parent.model_fields.items()
            if (field.alias or name) == step
            for block, _ in _blocks_in(field.annotation)
        ]
        blocks = inner or blocks
    return {field.alias or name: field for block in blocks for name, field in block.model_fields.items()}


def _is_required(path: KeyPath, model: type[Block]) -> bool:
    field = _fields_at(model, path[:-1]).get(str(path[-1])) if path else None
    return field.is_required() if field else False


def _blocks_in(annotation: Any) -> Iterator[tuple[type[Block], str]]:
    """The blocks inside a type, with what stands between its key and theirs."""
    if isinstance(annotation, type) and issubclass(annotation, Block):
        yield annotation, ""
    is_dict = getattr(annotation, "__origin__", None) is dict
    for inner in get_args(annotation):
        for block, step in _blocks_in(inner):
            yield block, ".*" if is_dict else step
