"""Blocks that more than one key uses: plugins, references, naming patterns, groups of patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema, PydanticCustomError

from floe_core import order
from floe_core.schemas.values import BLANK, CONTROL, WORD, Block, Json, Text, Word, key, matching, wrong_type

T = TypeVar("T")


class Shorthand(Block):
    """A block that may also be written as one word, the value of its first key."""

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, data: Any) -> Any:
        return {next(iter(cls.model_fields)): data} if isinstance(data, str) else data

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        block = handler.resolve_ref_schema(handler(core))
        first = next(iter(block["properties"].values()))
        short = {name: value for name, value in first.items() if name != "title"}
        return {"anyOf": [short, block]}


class Plugin(Shorthand):
    """A plugin by name, with its own settings."""

    type: Word = Field(description="Name of the plugin, as `floe plugins list` shows it.")
    config: dict[str, Any] = key("Settings of the plugin. Secrets are references, never literals.", {})

    def __str__(self) -> str:
        return f"{self.type} with {', '.join(self.config)} set" if self.config else self.type


REFERENCE = rf"^[^/{BLANK}{CONTROL}]([^{CONTROL}]*[^{BLANK}{CONTROL}])?$"


class Reference(Shorthand):
    """Where a parent comes from: a relative file, an OCI artifact, or a version of the platform repository."""

    ref: Annotated[str, *matching(REFERENCE, "a relative path, oci://…, oci-layout:… or a version like v1.2.3")]
    version: Text | None = key("Range of versions to choose from, like ^1.2.")


class NamePattern(Block):
    """What model names must look like: a glob, or a regular expression."""

    glob: Word | None = key("Pattern with * for any run of characters and ? for one.")
    regex: Word | None = key("Regular expression (RE2) that the whole name must match.")

    @model_validator(mode="before")
    @classmethod
    def _spell_out(cls, data: Any) -> Any:
        if isinstance(data, str):
            return {"glob": data}
        if not isinstance(data, dict):
            raise wrong_type("a glob like raw_*, or {regex: …}")
        if set(data) & {"glob", "regex"} and None not in data.values() and len(data) == 1:
            return data
        legal = "a glob like raw_*, or {regex: …}"
        raise PydanticCustomError("E126", "a pattern is {expected}", {"expected": legal})

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        handler(core)
        word = {"type": "string", "pattern": WORD}
        return {
            "anyOf": [
                word,
                *(
                    {
                        "type": "object",
                        "properties": {name: word},
                        "required": [name],
                        "additionalProperties": False,
                    }
                    for name in ("glob", "regex")
                ),
            ]
        }

    def __str__(self) -> str:
        return self.glob or f"/{self.regex}/"


def _one_group(value: Any) -> Any:
    """A plain list is one tier's group; a list of lists is what tiers have merged to."""
    if not isinstance(value, list | tuple) or not value or any(isinstance(item, list | tuple) for item in value):
        return value
    return (value,)


class _Grouped:
    """Prints the schema of a group list: the list itself, or a list of such lists."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: Callable[[CoreSchema], Json]) -> Json:
        groups = handler(core)
        return {"anyOf": [groups["items"], groups]}


AllOf = Annotated[
    Annotated[tuple[tuple[T, ...], ...], _Grouped(), BeforeValidator(_one_group)] | None, order.AllOf()
]
