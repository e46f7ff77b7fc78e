"""Where things of a dbt project are written: the line of a model's SQL, of its YAML entry, of one of its columns.

Files are read when a finding needs them, each once. dbt accepts YAML that floe's strict reader refuses; a finding
in such a file stands at its first line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from floe_core.findings import FloeError, Place
from floe_core.source import MAX_BYTES, KeyPath, Node, Source, parse

if TYPE_CHECKING:
    from floe_core.project import RawNode, RawSource

LISTS = {"model": "models", "seed": "seeds", "snapshot": "snapshots"}
SOURCES = "sources"
PACKAGES = ("packages.yml", "dependencies.yml", "dbt_project.yml")
_ITEM = re.compile(r"""( *)- +name: +(?:"([\w.-]+)"|'([\w.-]+)'|([\w.-]+))[ \t]*(?:#.*)?\Z""", re.ASCII)
_OTHER_BREAK = re.compile("[\r\x85\u2028\u2029]")  # a line for the strict reader, none for a cut
_TOP = re.compile(r"^[^\n #\-\r\t].*$", re.MULTILINE)
_DASH = re.compile(r"^( *)- ", re.MULTILINE)

Index: TypeAlias = "dict[tuple[str, str], Entry]"


@dataclass(frozen=True, slots=True)
class Entry:
    """A node's entry in a YAML file."""

    source: Source
    path: KeyPath

    def child(self, *steps: str | int) -> Entry | None:
        path = (*self.path, *steps)
        return Entry(self.source, path) if self.source.node(path) else None

    def item(self, key: str, name: str) -> Entry | None:
        """The item of the list `key` that has this name."""
        listed = self.source.node((*self.path, key))
        for number, item in enumerate(listed.value if listed and isinstance(listed.value, list) else ()):
            if (named := item.child("name")) and str(named.value).casefold() == name.casefold():
                return Entry(self.source, (*self.path, key, number))
        return None

    @property
    def place(self) -> Place:
        return self.source.place(self.path)


@dataclass(frozen=True)
class Places:
    """The files of one dbt project, as far as findings have asked for them."""

    folder: Path
    _files: dict[str, _File] = field(default_factory=dict, repr=False)
    _texts: dict[str, str] = field(default_factory=dict, repr=False)

    def code(self, node: RawNode) -> Place:
        """The file that defines a node."""
        return Place(str(self._file(node.original_file_path)))

    def entry(self, node: RawNode) -> Place:
        """The node's entry in the YAML, else its own file."""
        found = self._entry(node)
        return found.place if found else self._unread(node)

    def column(self, node: RawNode, name: str) -> Place:
        """The column's entry, else the node's."""
        entry = self._entry(node)
        found = entry.item("columns", name) if entry else None
        return found.place if found else self.entry(node)

    def columns(self, node: RawNode) -> dict[str, Place]:
        """Every column that the node's entry names, by its name in lower case."""
        entry = self._entry(node)
        listed = entry.source.node((*entry.path, "columns")) if entry else None
        found: dict[str, Place] = {}
        for number, item in enumerate(listed.value if listed and isinstance(listed.value, list) else ()):
            if entry and (named := item.child("name")):
                place = entry.source.place((*entry.path, "columns", number))
                found.setdefault(str(named.value).casefold(), place)
        return found

    def table(self, source: RawSource, column: str | None = None) -> Place:
        """The entry of a source's table, or of one of its columns; else the file."""
        file = source.original_file_path
        entry = self._find(file, SOURCES, f"{source.source_name}.{source.name}")
        found = entry.item("columns", column) if entry and column else None
        return found.place if found else entry.place if entry else Place(str(self._file(file)))

    def packages(self) -> Place:
        """The file that asks for packages: what is inside them is not the project's."""
        files = [self.folder / name for name in PACKAGES]
        return Place(str(next((file for file in files if file.is_file()), files[-1])))

    def value(self, node: RawNode, *keys: str, column: str | None = None) -> Place:
        """A value of the node or of one of its columns: under the entry or its `config`; else the entry itself."""
        entry = self._entry(node)
        owner = entry.item("columns", column) if entry and column else entry
        for path in (keys, ("config", *keys)):
            if owner and (found := owner.child(*path)):
                return found.place
        return self.column(node, column) if column else self.entry(node)

    def reference(self, node: RawNode, name: str) -> Place:
        """Where a node's file says `ref('name')`, or its first line."""
        place = self.code(node)
        said = re.search(rf"""\bref\s*\([^)]*['"]{re.escape(name)}['"]""", self.text(place.path))
        if said is None:
            return place
        before = self.text(place.path)[: said.start()]
        return Place(place.path, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)

    def _entry(self, node: RawNode) -> Entry | None:
        if not node.patch_path:
            return None
        return self._find(_patch(node), LISTS.get(node.resource_type, ""), node.name)

    def _find(self, path: str, key: str, name: str) -> Entry | None:
        if ".." in path and ".." in Path(path).parts:
            return None
        if path not in self._files:
            self._files[path] = _File(self._file(path))
        return self._files[path].entry(key, name)

    def _unread(self, node: RawNode) -> Place:
        """A node without an entry that can be found: its YAML file where it has one, else its own file."""
        if not node.patch_path:
            return self.code(node)
        return Place(str(self._file(_patch(node))))

    def _file(self, path: str) -> Path:
        """A path of the manifest is one of the project, whatever it says."""
        return self.folder / path.lstrip("/")

    def text(self, path: str) -> str:
        """The text of a file; empty when it cannot be read."""
        if path not in self._texts:
            try:
                if ".." in Path(path).relative_to(self.folder).parts:
                    return ""
                self._texts[path] = Path(path).read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):  # gone, forbidden, no path at all
                self._texts[path] = ""
        return self._texts[path]


def _patch(node: RawNode) -> str:
    """The file that `shop://models/models.yml` leads to."""
    written = node.patch_path or ""
    return written.partition("://")[2] or written


@dataclass(slots=True)
class _File:
    """A YAML file of the project. An entry that can be cut out of the text is read alone, else with all others."""

    path: Path
    _text: str | None = None
    _cuts: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    _found: dict[tuple[str, str], Entry] = field(default_factory=dict)
    _whole: Index | None = None

    def entry(self, key: str, name: str) -> Entry | None:
        if self._text is None:
            self._text = _text(self.path)
            self._cuts = {} if _OTHER_BREAK.search(self._text) else dict(_cuts(self._text))
        if (key, name) in self._cuts and (key, name) not in self._found:
            self._found |= _index(_cut(self._text, key, *self._cuts[key, name]), str(self.path))
        if (key, name) in self._found:
            return self._found[key, name]
        if self._whole is None:
            self._whole = _index(self._text, str(self.path))
        return self._whole.get((key, name))


def _text(path: Path) -> str:
    """The text of a file; empty when it cannot be read, or is larger than the strict reader allows."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        return data.decode("utf-8-sig") if len(data) <= MAX_BYTES else ""
    except (OSError, ValueError):  # gone, forbidden, no path at all, not UTF-8
        return ""


def _cut(text: str, key: str, start: int, end: int) -> str:
    """A file with this entry only, on the lines where it stands."""
    return f"{key}:" + "\n" * text.count("\n", 0, start) + text[start:end]


def _cuts(text: str) -> Iterator[tuple[tuple[str, str], tuple[int, int]]]:
    """The entries that begin with their name in a list of the usual form, each with where it starts and ends.

    Two entries of one name, in whatever the file means, are left to those who read all of it.
    """
    starts: list[tuple[str, str | None, int]] = []  # a list's key, the name of an item, where it starts
    tops = [*_TOP.finditer(text)]
    for top, end in zip(tops, [*(top.start() for top in tops), len(text)][1:], strict=True):
        starts.append(("", None, top.start()))
        key = top.group().rstrip().removesuffix(":")
        if key in LISTS.values() and (first := _DASH.search(text, top.end(), end)):
            starts += ((key, name, start) for name, start in _items(text, first, end))
    counts = Counter((key, name) for key, name, _ in starts)
    ends = [*(start for *_, start in starts), len(text)][1:]
    for (key, name, start), end in zip(starts, ends, strict=True):
        if name and counts[key, name] == 1:
            yield (key, name), (start, end)


def _items(text: str, first: re.Match[str], end: int) -> Iterator[tuple[str | None, int]]:
    """The items of a list, each with its name if it begins with one; what stands further left is one without."""
    for item in _outer(len(first[1])).finditer(text, first.start(), end):
        found = _ITEM.match(item.group()) if len(item[1]) == len(first[1]) else None
        yield found[2] or found[3] or found[4] if found else None, item.start()


@lru_cache
def _outer(indent: int) -> re.Pattern[str]:
    """The first lines of items that stand at most that far in."""
    return re.compile(rf"^( {{0,{indent}}})- .*$", re.MULTILINE)


def _index(text: str, path: str) -> Index:
    """Every named entry of a text; nothing when the strict reader refuses it."""
    try:
        source = parse(text.encode(), path)
    except FloeError:
        return {}
    found: Index = {}
    for key in LISTS.values():
        for number, name in _named(source.root, key):
            found.setdefault((key, name), Entry(source, (key, number)))
    for number, name in _named(source.root, SOURCES):
        owner = source.node((SOURCES, number))
        for table, inner in _named(owner, "tables") if owner else ():
            found.setdefault((SOURCES, f"{name}.{inner}"), Entry(source, (SOURCES, number, "tables", table)))
    return found


def _named(node: Node, key: str) -> Iterator[tuple[int, str]]:
    """The items of a list that have a name, by their number."""
    listed = node.child(key)
    for number, item in enumerate(listed.value if listed and isinstance(listed.value, list) else ()):
        if name := item.child("name"):
            yield number, str(name.value)
