"""The one YAML reader: every value keeps its place, and no file can exhaust the machine.

libyaml does the scanning. floe walks its event stream instead of using a YAML library's object builder, because
those expand aliases and merges without limit, keep the last of two equal keys and read `1.10` as a number that
prints as 1.1. Scalars follow YAML 1.2's core schema, so `off` and `no` stay text.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

import yaml

from floe_core.findings import Finding, FloeError, Place, Related

MAX_BYTES = 4 * 1024 * 1024
MAX_VALUES = 100_000
MAX_DEPTH = 64
MAX_MERGED_KEYS = 10_000
MAX_DIGITS = 40

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_NUMERIC = frozenset("+-.0123456789")
_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_CORE}str"})
_SCALAR_TAGS = frozenset({None, *(_CORE + name for name in ("int", "float", "bool", "null"))})
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_PLAIN = bytes((*b"\t\n\r", *range(0x20, 0x7F)))
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")  # what libyaml counts as a line
_TAG_DIRECTIVE = re.compile("(?:\\A|(?<=[\n\r\x85\u2028\u2029]))%TAG\\b")

HAS_LIBYAML: bool = yaml.__with_libyaml__
_Scalar: Any = yaml.ScalarEvent
_Parser: Any = yaml.CSafeLoader if HAS_LIBYAML else yaml.SafeLoader  # without libyaml: the same events, slower

Scalar: TypeAlias = str | int | float | bool | None
KeyPath: TypeAlias = tuple[str | int, ...]
_NO_KEYS: dict[str, tuple[int, int]] = {}  # of every value that is no mapping: never written to


def spell(path: KeyPath) -> str:
    """A path as a person would write it: transforms[0].type."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{cut(step)}" for step in path)
    return "".join(parts).removeprefix(".") or "the file"


def cut(text: str) -> str:
    """Text short enough for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


@dataclass(slots=True)
class Node:
    """A value and where it stands. `weight` and `depth` are those of the fully expanded value."""

    value: Any  # a scalar, list[Node] or dict[str, Node]
    line: int
    column: int
    text: str = ""
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    weight: int = 1
    depth: int = 1

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.value, dict)

    def plain(self) -> Any:
        """The value without places, as any other YAML reader would give it."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value

    def child(self, step: str | int) -> Node | None:
        if isinstance(self.value, dict):
            return self.value.get(str(step))
        if isinstance(self.value, list) and isinstance(step, int) and step < len(self.value):
            return cast(Node, self.value[step])
        return None


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been read: its path and the tree of its values."""

    path: str
    root: Node
    sha256: str = ""  # of the bytes that were read, not of what the file may hold later

    def place(self, path: KeyPath = (), *, of_key: bool = False) -> Place:
        """Where the value at `path` stands; where it is absent, the nearest value around it."""
        node, key = self.root, None
        for step in path:
            child = node.child(step)
            if child is not None:
                node, key = child, node.keys.get(str(step))
        if key and (of_key or isinstance(node.value, dict | list)):
            return Place(self.path, *key)
        return Place(self.path, node.line, node.column)

    def node(self, path: KeyPath) -> Node | None:
        node: Node | None = self.root
        for step in path:
            node = node.child(step) if node else None
        return node


def read_source(path: Path) -> Source:
    """Read a file from disk."""
    place = Place(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError as exc:
        raise FloeError(Finding("FLOE-E100", f"{path.name} does not exist", place)) from exc
    except IsADirectoryError as exc:
        raise FloeError(Finding("FLOE-E100", f"{path.name} is a folder, not a file", place)) from exc
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else str(exc)
        raise FloeError(Finding("FLOE-E100", f"{path.name} cannot be read: {reason}", place)) from exc
    return parse(data, str(path))


def parse(data: bytes, path: str) -> Source:
    """Read the bytes of one YAML document."""
    if len(data) > MAX_BYTES:
        raise _refuse("FLOE-E102", f"the file is larger than {MAX_BYTES // 1024 // 1024} MiB", Place(path))
    text = _decode(data, path)
    # libyaml compares each with all before it: minutes for 4 MiB
    if "%TAG" in text and (directive := _TAG_DIRECTIVE.search(text)):
        place = _place_after(text[: directive.start()], path)
        raise _refuse("FLOE-E109", "%TAG directives are not supported", place)
    parser = _Parser(text)
    try:
        root = _Builder(path, iter(parser.get_event, None)).document()
    except yaml.MarkedYAMLError as exc:
        raise _syntax_error(exc, text, path) from exc
    finally:
        parser.dispose()
    if not root.is_mapping:
        if root.value is None:
            raise _refuse("FLOE-E112", "the file is empty", Place(path))
        what = "a list" if isinstance(root.value, list) else "a single value"
        raise _refuse("FLOE-E112", f"the file is {what}", Place(path, root.line, root.column))
    return Source(path, root, hashlib.sha256(data).hexdigest())


def _refuse(code: str, message: str, place: Place, **more: Any) -> FloeError:
    return FloeError(Finding(code, message, place, **more))


def _decode(data: bytes, path: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        place = _place_after(data[: exc.start].decode("utf-8-sig", "replace"), path)
        raise _refuse("FLOE-E110", f"byte 0x{data[exc.start]:02x} is not UTF-8", place) from exc
    is_harmless = not data.translate(None, _PLAIN)  # nearly always, and told at once
    if not is_harmless and (bad := _UNPRINTABLE.search(text)):
        place = _place_after(text[: bad.start()], path)
        raise _refuse("FLOE-E110", f"control character U+{ord(bad.group()):04X}", place)
    return text


def _place_after(before: str, path: str) -> Place:
    lines = _BREAK.split(before)
    return Place(path, len(lines), len(lines[-1]) + 1)


def _syntax_error(exc: yaml.MarkedYAMLError, text: str, path: str) -> FloeError:
    """Shown where a person should look: a broken word at its start, a misplaced one where it stands."""
    end = _place_after(text, path)  # libyaml may point at the line after it
    began, noticed = (
        min(Place(path, mark.line + 1, mark.column + 1), end) if mark else None
        for mark in (exc.context_mark, exc.problem_mark)
    )
    message = ", ".join(filter(None, (exc.problem, exc.context)))
    if began and (exc.context or "").startswith("while scanning"):
        return _refuse("FLOE-E101", message, began)
    related = (Related(began, "it starts here"),) if began and began != noticed else ()
    return _refuse("FLOE-E101", message, noticed or began or Place(path), related=related)


class _Builder:
    """Builds the tree from events, in one pass, within the caps."""

    def __init__(self, path: str, events: Iterator[Any]) -> None:
        self.path = path
        self.events = events
        self.anchors: dict[str, Node | None] = {}
        self.merged = 0
        self.seen = 0
        self.names: set[str] = set()  # unquoted keys that have been read already
        self.words: dict[str, Scalar] = {}  # unquoted scalars that have been read already: files repeat themselves

    def document(self) -> Node:
        root: Node | None = None
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self.refuse("FLOE-E108", "a second document starts here", event)
                first = next(self.events)
                root = Node(None, 1, 1) if isinstance(first, yaml.DocumentEndEvent) else self.build(first, 1)
        return root or Node(None, 1, 1)

    def refuse(self, code: str, message: str, event: Any, **more: Any) -> FloeError:
        mark = event.start_mark
        return _refuse(code, message, Place(self.path, mark.line + 1, mark.column + 1), **more)

    def node(self, event: Any, value: str | None = None) -> Node:
        mark = event.start_mark
        return Node(value, mark.line + 1, mark.column + 1, value or "", _NO_KEYS)

    def build(self, event: Any, level: int) -> Node:
        self.seen += 1
        if self.seen > MAX_VALUES:
            raise self.refuse("FLOE-E102", f"the file holds more than {MAX_VALUES:,} values", event)
        if level > MAX_DEPTH:
            raise self.refuse("FLOE-E105", f"nested deeper than {MAX_DEPTH} levels", event)
        if type(event) is _Scalar and not event.anchor:  # most of any file
            mark, text = event.start_mark, event.value
            is_known = text in self.words and event.tag is None and event.implicit[0]
            value = self.words[text] if is_known else self.scalar(event)
            return Node(value, mark.line + 1, mark.column + 1, text, _NO_KEYS)
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, level)
        if event.anchor:
            self.anchors[event.anchor] = None
        node = self.node(event)
        if isinstance(event, yaml.ScalarEvent):
            node.text = event.value
            node.value = self.scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self.check_tag(event, "seq")
            self.sequence(node, level)
        else:
            self.check_tag(event, "map")
            self.mapping(node, level)
        if node.weight > MAX_VALUES:
            raise self.refuse(
                "FLOE-E104", f"the aliases in this value expand to more than {MAX_VALUES:,} values", event
            )
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def alias(self, event: Any, level: int) -> Node:
        if event.anchor not in self.anchors:
            raise self.refuse("FLOE-E101", f"the alias {_short(event.anchor)} has no anchor before it", event)
        target = self.anchors[event.anchor]
        if target is None:
            raise self.refuse("FLOE-E104", f"the alias {_short(event.anchor)} stands inside its own anchor", event)
        if level + target.depth - 1 > MAX_DEPTH:
            raise self.refuse(
                "FLOE-E105", f"the alias {_short(event.anchor)} nests deeper than {MAX_DEPTH} levels", event
            )
        return target

    def sequence(self, node: Node, level: int) -> None:
        items: list[Node] = []
        for event in self.events:
            if type(event) is yaml.SequenceEndEvent:
                break
            items.append(self.build(event, level + 1))
        node.value = items
        if items:
            node.weight += sum([item.weight for item in items])
            node.depth = 1 + max([item.depth for item in items])

    def mapping(self, node: Node, level: int) -> None:
        entries: dict[str, Node] = {}
        keys = node.keys = {}
        merges: list[tuple[Any, Node]] = []
        for event in self.events:
            if type(event) is yaml.MappingEndEvent:
                break
            mark = event.start_mark
            key = self.key(event)
            value = self.build(next(self.events), level + 1)
            if key == "<<" and event.implicit[0]:
                merges.append((event, value))
                continue
            if key in entries:
                raise self.duplicate(key, event, node)
            entries[key] = value
            keys[key] = (mark.line + 1, mark.column + 1)
        if entries:
            node.weight += sum([value.weight for value in entries.values()])
            node.depth = 1 + max([value.depth for value in entries.values()])
        for event, value in merges:
            self.merge(node, entries, event, value)
        node.value = entries

    def grow(self, node: Node, child: Node) -> Node:
        node.weight += child.weight
        node.depth = max(node.depth, child.depth + 1)
        return child

    def key(self, event: Any) -> str:
        is_plain = type(event) is _Scalar and event.implicit[0] and not (event.tag or event.anchor)
        if is_plain and event.value in self.names:
            return event.value  # type: ignore[no-any-return] # yaml's events have no types
        if not isinstance(event, yaml.ScalarEvent):
            raise self.refuse("FLOE-E111", "a list or mapping cannot be a key", event)
        if not isinstance(value := self.scalar(event), str):
            kind = "null" if value is None else "a boolean" if isinstance(value, bool) else "a number"
            raise self.refuse("FLOE-E111", f"the key {event.value or '(empty)'} is read as {kind}", event)
        if event.anchor:
            self.anchors[event.anchor] = self.node(event, event.value)
        if is_plain:
            self.names.add(event.value)
        return str(event.value)

    def duplicate(self, key: str, event: Any, node: Node) -> FloeError:
        first = Related(Place(self.path, *node.keys[key]), "the first one stands here")
        return self.refuse("FLOE-E103", f"the key {_short(key)} stands here a second time", event, related=(first,))

    def merge(self, node: Node, entries: dict[str, Node], event: Any, value: Node) -> None:
        """`<<: *base`: keys written out win over merged ones, earlier bases over later ones."""
        bases = value.value if isinstance(value.value, list) else [value]
        for base in bases:
            if not base.is_mapping:
                raise self.refuse("FLOE-E101", "<< takes a mapping or a list of mappings", event)
            self.merged += len(base.value)
            if self.merged > MAX_MERGED_KEYS:
                raise self.refuse("FLOE-E104", f"merges copy more than {MAX_MERGED_KEYS:,} keys", event)
            for key, child in base.value.items():
                if key not in entries:
                    entries[key] = self.grow(node, child)
                    node.keys[key] = base.keys[key]

    def check_tag(self, event: Any, kind: str) -> None:
        if event.tag not in (None, "!", _CORE + kind):
            raise self.refuse("FLOE-E109", f"the tag {_short(event.tag)} is not supported", event)

    def scalar(self, event: Any) -> Scalar:
        text: str = event.value
        tag = event.tag
        if event.style == '"' and (bad := _UNPRINTABLE.search(text)):  # only there can escapes bring one in
            raise self.refuse("FLOE-E110", f"an escaped control character, U+{ord(bad.group()):04X}", event)
        if tag is None and event.implicit[0]:
            if text not in self.words:
                self.words[text] = self.plain_scalar(text, event)
            return self.words[text]
        if tag in _TEXT_TAGS or tag is None:
            return text
        if tag not in _SCALAR_TAGS:
            raise self.refuse("FLOE-E109", f"the tag {_short(tag)} is not supported", event)
        value = self.plain_scalar(text, event)
        if tag and not _fits(tag, value):
            raise self.refuse("FLOE-E101", f"the value is not a valid {tag.removeprefix(_CORE)}", event)
        return value

    def plain_scalar(self, text: str, event: Any) -> Scalar:
        if text in _NULL:
            return None
        if text in _BOOL:
            return _BOOL[text]
        if text[0] not in _NUMERIC:
            return text
        if _INT.match(text) or _BASED.match(text):
            self.check_digits(text, event)
            return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
        if _FLOAT.match(text):
            self.check_digits(text, event)
            if not math.isfinite(number := float(text)):
                raise self.refuse("FLOE-E106", "the number is too large to be finite", event)
            return number
        if _NOT_FINITE.match(text):
            raise self.refuse("FLOE-E106", f"{text} is not a finite number", event)
        return text

    def check_digits(self, text: str, event: Any) -> None:
        if len(text) > MAX_DIGITS:
            raise self.refuse("FLOE-E107", f"a number of {len(text):,} characters", event)


def _short(text: str) -> str:
    return repr(cut(text))


def _fits(tag: str, value: object) -> bool:
    match tag.removeprefix(_CORE):
        case "null":
            return value is None
        case "bool":
            return isinstance(value, bool)
        case "int":
            return isinstance(value, int) and not isinstance(value, bool)
        case _:
            return isinstance(value, int | float) and not isinstance(value, bool)
