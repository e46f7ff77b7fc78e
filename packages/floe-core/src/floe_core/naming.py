"""Naming patterns: the prefixes of each architecture, and whether tiers leave any name at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, product

from floe_core.schemas.manifest import Pattern
from floe_core.schemas.parts import NamePattern

LAYERS: dict[Pattern, tuple[str, ...]] = {
    Pattern.MEDALLION: ("bronze", "silver", "gold"),
    Pattern.KIMBALL: ("stg", "dim", "fact", "bridge"),
    Pattern.DATA_VAULT: ("hub", "link", "sat"),
    Pattern.CUSTOM: (),
}
RANKS = {  # data flows upwards; layers of one rank may read each other
    **dict.fromkeys(("bronze", "stg", "hub"), 0),
    **dict.fromkeys(("silver", "dim", "fact", "link"), 1),
    **dict.fromkeys(("gold", "bridge", "sat"), 2),
}
MAX_STEPS = 100_000

Group = Sequence[NamePattern]


def prefixes(pattern: Pattern) -> tuple[NamePattern, ...]:
    """The names an architecture allows: one prefix for each of its layers."""
    return tuple(NamePattern(glob=f"{layer}_*") for layer in LAYERS[pattern])


def some_name_matches(groups: Sequence[Group]) -> bool | None:
    """Whether a name can match one pattern of every group; None when regular expressions or sheer size hide it."""
    globs = [[pattern.glob for pattern in group if pattern.glob] for group in groups]
    steps = chain.from_iterable(_walk(combination) for combination in product(*globs))
    if any(islice(steps, MAX_STEPS)):
        return True
    if next(steps, None) is not None or any(pattern.regex for group in groups for pattern in group):
        return None
    return False


def overlap(globs: Sequence[str]) -> bool:
    """Whether some text matches all the globs."""
    return any(_walk(globs))


def _walk(globs: Sequence[str]) -> Iterator[bool]:
    """A walk over positions in all globs at once; a step is true when nothing more needs to match."""
    start = tuple(0 for _ in globs)
    seen, queue = {start}, [start]
    while queue:
        here = queue.pop()
        yield all(not glob[position:].strip("*") for glob, position in zip(globs, here, strict=True))
        for after in _steps(globs, here):
            if after not in seen:
                seen.add(after)
                queue.append(after)


def _steps(globs: Sequence[str], here: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The positions after one more character, or after letting one `*` match nothing."""
    heads = [glob[position : position + 1] for glob, position in zip(globs, here, strict=True)]
    for number, head in enumerate(heads):
        if head == "*":
            yield (*here[:number], here[number] + 1, *here[number + 1 :])
    literals = {head for head in heads if head not in ("*", "?")}
    if len(literals) <= 1 and "" not in literals:
        yield tuple(position + (head != "*") for position, head in zip(here, heads, strict=True))


def layer_of(name: str, pattern: Pattern | None) -> str | None:
    """The layer whose prefix a model's name has."""
    prefix = name.partition("_")[0] if "_" in name else ""
    return prefix if pattern and prefix in LAYERS[pattern] else None
