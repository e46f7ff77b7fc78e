"""From a place in compiled SQL back to the Jinja file that a person edits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}")
SILENT = re.compile(r"\{%.*?%\}|\{#.*?#\}")
UNKNOWN = (1, 1)
LETTERS = 3  # a line with less text of its own says too little to be recognised


def locate(raw: str, compiled: str, line: int, column: int) -> tuple[int, int]:
    """Line and column in the raw file of a place in the compiled one; (1, 1) when it cannot be told.

    A line is recognised by its text, or by its text around `{{ … }}`. Among several that look alike the neighbours
    decide, else their order when both files have as many; what is still open stays unknown.
    """
    made, written = compiled.split("\n"), raw.split("\n")
    if not 1 <= line <= len(made):
        return UNKNOWN
    target = made[line - 1]
    alike = [number for number, text in enumerate(written) if _map(text, target) is not None]
    chosen = alike[0] if len(alike) == 1 else _decide(written, made, alike, line - 1)
    if chosen is None:
        return UNKNOWN
    mapping = _map(written[chosen], target)
    return (chosen + 1, _column(mapping, column)) if mapping else UNKNOWN


def _decide(written: Sequence[str], made: Sequence[str], alike: list[int], line: int) -> int | None:
    """Which of several equal lines it is."""
    around = [(step, _neighbour(made, line, step)) for step in (-1, 1)]
    scores = [sum(_same(_neighbour(written, number, step), text) for step, text in around) for number in alike]
    best = [number for number, score in zip(alike, scores, strict=True) if score == max(scores)]
    if len(best) == 1:
        return best[0]
    text = made[line].strip()
    twins = [number for number, other in enumerate(made) if other.strip() == text]
    return alike[twins.index(line)] if len(twins) == len(alike) else None


def _neighbour(lines: Sequence[str], number: int, step: int) -> str:
    """The next line in one direction that leaves text in the compiled file."""
    number += step
    while 0 <= number < len(lines):
        if SILENT.sub("", lines[number]).strip():
            return lines[number]
        number += step
    return ""


def _same(written: str, made: str) -> bool:
    return written.strip() == made.strip() or _map(written, made) is not None


Mapping: TypeAlias = list[tuple[int, int, int]]  # start in the compiled line, start in the raw line, length


def _map(written: str, made: str) -> Mapping | None:
    """Which stretches of a compiled line are which of a raw one; None when it was not made from it."""
    pieces, start = [], 0
    for found in JINJA.finditer(written):
        pieces.append((start, written[start : found.start()]))
        start = found.end()
    pieces.append((start, written[start:]))
    if len(pieces) == 1:
        text = written.strip()
        if not text or text != made.strip():
            return None
        return [(made.index(text), written.index(text), len(text))]
    if sum(character.isalnum() for _, text in pieces for character in text) < LETTERS:
        return None
    return _fit(pieces, made)


def _fit(pieces: list[tuple[int, str]], made: str) -> Mapping | None:
    """The text around Jinja, found in order: the first piece at the start, the last at the end."""
    (start, first), *middle, (end, last) = pieces
    head, tail = first.lstrip(), last.rstrip()
    indent = len(made) - len(made.lstrip())
    limit = len(made.rstrip()) - len(tail)
    if not made.startswith(head, indent) or not made.rstrip().endswith(tail) or indent + len(head) > limit:
        return None
    mapping = [(indent, start + len(first) - len(head), len(head))]
    position = indent + len(head)
    for offset, text in middle:
        found = made.find(text, position, limit)
        if found < 0:
            return None
        mapping.append((found, offset, len(text)))
        position = found + len(text)
    return [*mapping, (limit, end, len(tail))]


def _column(mapping: Mapping, column: int) -> int:
    """The column in the raw line; inside a substitution the place where it starts."""
    best = mapping[0][1] + 1
    for made, written, length in mapping:
        if made > column - 1:
            break
        best = written + min(column - 1 - made, length) + 1
    return best
