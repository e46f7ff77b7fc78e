"""The reference of every key, read from the JSON Schemas that floe prints, the strategies and the defaults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from docs.markdown import table
from pydantic import TypeAdapter

from floe_core.defaults import DEFAULTS, LAYER_ORDER
from floe_core.json_schema import manifest_schema, product_schema
from floe_core.order import Climb, Strategy, show
from floe_core.schemas import values
from floe_core.schemas.aliases import ALIASES
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.parts import Plugin
from floe_core.schemas.values import Block, Json
from floe_core.settings import strategies

# How values are written. A kind without a name of its own is described by its JSON Schema.
KINDS = {
    "text": (values.Word, "One line of text, not empty."),
    "free text": (values.Text, "Any text."),
    "name": (values.Name, "Lower case letters and digits; words joined by one `-` or `_`: `customer-360`."),
    "product id": (values.ProductId, "`{domain}.{product}`: `sales.customer_360`."),
    "version": (values.Version, 'Quoted, X.Y or X.Y.Z: `"1.10"`.'),
    "lower bound": (values.FloeVersion, 'Quoted: `">=0.3"`.'),
    "path": (values.RelativePath, "A path inside the folder of the file: `models/`."),
    "cron expression": (values.Cron, 'Five cron fields, quoted: `"0 6 * * *"`.'),
    "date": (values.Date, 'Quoted: `"2027-01-31"`.'),
    "duration": (values.Duration, "`30s`, `15m`, `24h`, `7d`, `2w`, or ISO 8601 without months and years: `PT6H`."),
    "percentage": (values.Percent, 'A number from 0 to 100, or text like `"99.9%"`.'),
    "fraction": (values.Fraction, "A number from 0 to 1."),
    "count": (values.Count, "A whole number from 0 to 1000."),
    "code": (values.FindingCode, "A code of floe: `FLOE-E201`."),
    "flag": (values.Flag, "`true` or `false`."),
}
BLOCKS = {
    "Plugin": ("plugin", "The name of a plugin, or `{type: name, config: {…}}`."),
    "Reference": ("reference", "A relative path, or `{ref: …, version: …}`; see [references](#references)."),
    "NamePattern": ("pattern", "A glob like `raw_*`, or `{regex: …}`."),
}


def _bare(schema: Json) -> Json:
    return {name: value for name, value in schema.items() if name not in ("description", "default", "title")}


NAME_OF = {
    json.dumps(_bare(TypeAdapter(kind).json_schema()), sort_keys=True): name for name, (kind, _) in KINDS.items()
}


@dataclass(frozen=True)
class Key:
    """One key of a file: where it stands, what its JSON Schema says, whether it must be there."""

    path: str
    schema: Json
    required: bool


@dataclass(frozen=True)
class File:
    """One of the two files, as its JSON Schema tells it."""

    schema: Json
    model: type[Block]
    strategies: dict[str, Strategy] = field(default_factory=dict)

    def every_key(self) -> list[Key]:
        required = [name for name, item in self.model.model_fields.items() if item.is_required()]
        return list(self._below({**self.schema, "required": required}, ""))

    def _below(self, block: Json, at: str) -> Iterator[Key]:
        for name, schema in block["properties"].items():
            if not schema.get("deprecated"):
                yield Key(at + name, schema, name in block.get("required", ()))
                for step, inner in self._blocks_in(schema):
                    yield from self._below(inner, f"{at}{name}{step}.")

    def _blocks_in(self, schema: Json) -> Iterator[tuple[str, Json]]:
        """The blocks inside a value, with what stands between its key and theirs."""
        for option in _options(schema):
            if block := self._block(option):
                yield "", block
            elif option.get("type") == "array":
                for step, block in self._blocks_in(option["items"]):
                    kind = block["properties"].get("type", {}).get("const") if "oneOf" in option["items"] else ""
                    yield f"[{kind}]{step}", block
            elif inner := _entries(option):
                yield from ((f".*{step}", block) for step, block in self._blocks_in(inner))

    def _block(self, option: Json) -> Json | None:
        name = _name(option)
        block: Json = self.schema["$defs"][name] if name and name not in BLOCKS else option
        return block if "properties" in block else None

    def describe(self, schema: Json, ladder: bool = False) -> str:
        """The legal values in a few words."""
        options = _options(schema)
        whole = _bare(options[0]) if len(options) == 1 else {"anyOf": options}
        if name := NAME_OF.get(json.dumps(whole, sort_keys=True)):
            return name
        if words := options[0].get("enum"):
            listed = (" < " if ladder else ", ").join(f"`{word}`" for word in words)
            rest = [option for option in options[1:] if "pattern" not in option]
            return ", or ".join((listed, *(self._one(option) for option in rest)))
        if len(options) > 1 and options[1] == {"type": "array", "items": options[0]}:
            options = options[:1]  # a group, or what merged tiers hold: groups. A file holds one group.
        return ", or ".join(dict.fromkeys(map(self._one, options)))

    def _one(self, option: Json) -> str:
        name = _name(option)
        if name in BLOCKS:
            return BLOCKS[name][0]
        if "const" in option:
            return f"`{option['const']}`"
        if option.get("type") == "array":
            return f"list of {self._plural(option['items'])}"
        if inner := _entries(option):
            return f"mapping of {self._plural(inner)}"
        return "mapping" if name or option.get("type") == "object" else self.describe(option)

    def _plural(self, item: Json) -> str:
        what = self.describe(item)
        return what if what.startswith("`") or what.endswith("text") else f"{what}s"

    def about(self, key: Key) -> str:
        """What the key is for: its own description, or its block's."""
        blocks = [block for _, block in self._blocks_in(key.schema)]
        return str(key.schema.get("description") or (blocks and blocks[0].get("description")) or "")


def _name(option: Json) -> str:
    return str(option.get("$ref", "")).rpartition("/")[2]


def _entries(option: Json) -> Json:
    """What the entries of a mapping with free names hold."""
    named = list(option.get("patternProperties", {}).values())
    inner = named[0] if named else option.get("additionalProperties")
    return inner if isinstance(inner, dict) else {}


def _options(schema: Json) -> list[Json]:
    """What a value may be: the alternatives, without null."""
    found = schema.get("anyOf") or schema.get("oneOf") or [_bare(schema)]
    return [option for option in found if option.get("type") != "null"]


def written(value: Any) -> str:
    """A default as it would be written in the file."""
    match value:
        case Plugin():
            return value.type
        case Enum():
            return str(value.value)
        case _:
            return show(value)


def manifest_file() -> File:
    return File(manifest_schema(), Manifest, {".".join(path): item for path, item in strategies().items()})


def product_file() -> File:
    return File(product_schema(), DataProduct)


def kinds_table() -> str:
    named = [(name, meaning) for name, (_, meaning) in KINDS.items()]
    return table(("kind", "how it is written"), sorted([*named, *BLOCKS.values()]))


def aliases_table() -> str:
    rows = [(f"`{'.'.join(alias)}`", f"`{'.'.join(own)}`") for own, alias in ALIASES.items()]
    return table(
        ("may stand at", "means"), [*rows, ("`kind: DomainManifest`", "`kind: Manifest` and `scope: domain`")]
    )


def manifest_keys() -> str:
    return "\n\n".join(_sections(manifest_file()))


def product_keys() -> str:
    return "\n\n".join(_sections(product_file()))


def _sections(file: File) -> Iterator[str]:
    """The keys of the top level, then a section for each of them that has keys of its own."""
    keys = file.every_key()
    tops = [key for key in keys if "." not in key.path]
    yield _rows(file, tops, "")
    for top in tops:
        if below := [key for key in keys if key.path.startswith((f"{top.path}.", f"{top.path}[]"))]:
            yield f"### `{top.path}` in {'manifest.yaml' if file.strategies else 'floe.yaml'}"
            yield file.about(top)
            yield _rows(file, below, top.path)


def _rows(file: File, keys: list[Key], top: str) -> str:
    tiers = ("tiers",) if file.strategies else ()
    return table(("key", "value", *tiers, "default", "meaning"), [_row(file, key, top) for key in keys])


def _row(file: File, key: Key, top: str) -> tuple[str, ...]:
    strategy = file.strategies.get(key.path)
    value = file.describe(key.schema, isinstance(strategy, Climb))
    tiers = (f"`{strategy.name}`" if strategy else "",) if file.strategies else ()
    return (
        f"`{key.path.removeprefix(f'{top}.')}`",
        value,
        *tiers,
        _default(key, bool(file.strategies)),
        file.about(key),
    )


def _default(key: Key, of_manifest: bool) -> str:
    if key.required:
        return "required"
    for row in DEFAULTS if of_manifest else ():
        if ".".join(row.path) == key.path:
            since = f" with `{'.'.join(row.since)}`" if row.since else ""
            return f"`{written(row.value)}`{since}"
    if of_manifest and key.path == ".".join(LAYER_ORDER):
        return "as `naming`"
    if of_manifest and key.path.startswith("data_architecture.layers.*."):
        return "[by layer](../guide/merging.md#layers)"
    stated = key.schema.get("default")
    return f"`{json.dumps(stated).strip(chr(34))}`" if stated not in (None, [], {}) else ""
