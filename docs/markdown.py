"""Markdown, written and read: tables, fenced blocks, links, anchors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?P<inline>[^)\s]+)\)|(?:src|href)=\"(?P<html>[^\"]+)\"")
_HEADING = re.compile(r"^#{1,6} (?P<text>.+)$", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language, the words after it, its text, and where that text stands in the page."""

    language: str
    words: dict[str, str]
    body: str
    start: int
    end: int


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines)


def fences(text: str) -> Iterator[Fence]:
    """Every fenced block; ```yaml file=a.yaml``` has the language yaml and the words {file: a.yaml}."""
    for match in _FENCE.finditer(text):
        language, *words = match["info"].split() or [""]
        pairs = (word.partition("=") for word in words)
        yield Fence(language, {name: value for name, _, value in pairs}, match["body"], *match.span("body"))


def links(text: str) -> Iterator[str]:
    """Where the links and pictures of a page lead; code does not count."""
    for match in _LINK.finditer(_CODE.sub("``", _FENCE.sub("", text))):
        yield match["inline"] or match["html"]


def anchors(text: str) -> set[str]:
    """The anchors that a forge gives to the headings of a page."""
    found: set[str] = set()
    for match in _HEADING.finditer(_FENCE.sub("", text)):
        slug = re.sub(r"[^\w\- ]", "", match["text"].lower()).strip().replace(" ", "-")
        count = 0
        while (name := f"{slug}-{count}" if count else slug) in found:
            count += 1
        found.add(name)
    return found


def with_part(text: str, name: str, content: str) -> str:
    """The page with new content between `<!-- begin NAME … -->` and `<!-- end NAME -->`."""
    pattern = re.compile(rf"(<!-- begin {name}\b[^>]*-->\n).*?(<!-- end {name} -->)", re.DOTALL)
    changed, count = pattern.subn(lambda match: f"{match[1]}\n{content}\n\n{match[2]}", text)
    if count != 1:
        raise LookupError(f"one part {name} expected, {count} found")
    return changed
