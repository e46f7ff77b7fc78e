"""A manifest as a flat table of settings: path, value, strategy. Merge, `floe why` and the docs read this form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, get_args, get_origin

from pydantic.fields import FieldInfo

from floe_core.order import Own, Strategy
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.values import Block

SettingPath: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """What one tier says: its values, and the blocks it opened even when they are empty."""

    values: dict[SettingPath, Any]
    blocks: frozenset[SettingPath]

    def sets(self, path: SettingPath) -> bool:
        """Whether the tier says anything at or below `path`."""
        return path in self.blocks or any(key[: len(path)] == path for key in self.values)


def flatten(block: Block) -> Settings:
    """Every setting that the block states."""
    values: dict[SettingPath, Any] = {}
    blocks: set[SettingPath] = set()

    def walk(block: Block, at: SettingPath) -> None:
        for name, field in type(block).model_fields.items():
            value, path = getattr(block, name), (*at, name)
            if value is None:
                continue
            if strategy_of(field) is None:
                blocks.add(path)
                for inner, where in _inner_blocks(value, path):
                    blocks.add(where)
                    walk(inner, where)
            elif isinstance(value, Mapping) and not isinstance(strategy_of(field), Own):
                blocks.add(path)
                values.update({(*path, key): item for key, item in value.items()})
            else:
                values[path] = value

    walk(block, ())
    return Settings(values, frozenset(blocks))


def _inner_blocks(value: Block | Mapping[str, Block], path: SettingPath) -> Iterator[tuple[Block, SettingPath]]:
    if isinstance(value, Block):
        yield value, path
    else:
        for key, block in value.items():
            yield block, (*path, key)


def unflatten(settings: Settings) -> Manifest:
    """The manifest that states exactly these settings."""
    tree: dict[str, Any] = {}
    for path in sorted(settings.blocks):
        _descend(tree, path)
    for path, value in settings.values.items():
        _descend(tree, path[:-1])[path[-1]] = value
    return Manifest.model_validate(tree)


def _descend(tree: dict[str, Any], path: SettingPath) -> dict[str, Any]:
    for step in path:
        tree = tree.setdefault(step, {})
    return tree


def strategy_of(field: FieldInfo) -> Strategy | None:
    """The merge strategy that a schema field declares; None for a block of further keys."""
    return next((item for item in field.metadata if isinstance(item, Strategy)), None)


@cache
def strategies() -> dict[SettingPath, Strategy]:
    """Every setting of a manifest with its strategy; `*` stands for a name the user chooses."""
    return {path: strategy for path, strategy, _ in leaves(Manifest)}


def leaves(block: type[Block], at: SettingPath = ()) -> Iterator[tuple[SettingPath, Strategy, FieldInfo]]:
    """Every leaf of a schema: a field with a strategy. A field with neither strategy nor blocks is a mistake."""
    for name, field in block.model_fields.items():
        path, strategy = (*at, name), strategy_of(field)
        if strategy is not None:
            yield (*path, "*") if _is_map(field) and not isinstance(strategy, Own) else path, strategy, field
            continue
        inner = list(_block_types(field.annotation))
        if not inner:
            raise TypeError(f"{'.'.join(path)} declares no merge strategy")
        for kind in inner:
            yield from leaves(kind, (*path, "*") if _is_map(field) else path)


def _is_map(field: FieldInfo) -> bool:
    return any(get_origin(part) is dict for part in (field.annotation, *get_args(field.annotation)))


def _block_types(annotation: Any) -> Iterator[type[Block]]:
    if isinstance(annotation, type) and issubclass(annotation, Block):
        yield annotation
    for inner in get_args(annotation):
        yield from _block_types(inner)


def strategy_at(path: SettingPath) -> Strategy:
    """The strategy of one setting of a manifest."""
    for candidate in (path, (*path[:-1], "*"), (*path[:-2], "*", *path[-1:])):
        if candidate in strategies():
            return strategies()[candidate]
    raise KeyError(".".join(path))
