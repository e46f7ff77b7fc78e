"""Files that break YAML readers: what each holds, and the one thing floe may say about it.

Every file is read as a manifest, so that one which is merely odd ends as a manifest without a kind.
"""

from __future__ import annotations

from dataclasses import dataclass

from floe_core.source import MAX_BYTES, MAX_DIGITS

HEAD = "apiVersion: floe.dev/v1\nkind: Manifest\nscope: enterprise\nmetadata: {name: acme}\n"
OVERRIDES = "governance: {policy_overrides: ["
SERVICES = "shared_services: {password: ["
HARMLESS = "FLOE-E122 1:1"  # read without trouble; only `kind` is missing


@dataclass(frozen=True, slots=True)
class Hostile:
    """One file, and the code and place of the first finding."""

    name: str
    data: bytes
    expected: str


def case(name: str, data: str | bytes, expected: str) -> Hostile:
    return Hostile(name, data.encode() if isinstance(data, str) else data, expected)


def padded(text: str, size: int) -> str:
    """The text with a comment, to be of the size under which the attack is known."""
    return f"{text}#{'.' * (size - len(text) - 1)}"


def filled(unit: str, before: str = "", after: str = "") -> str:
    """As much of `unit` as one file may hold."""
    room = MAX_BYTES - len((before + after).encode())
    return before + unit * (room // len(unit.encode())) + after


def alias_bomb() -> str:
    """Nine times nine, twelve times over: 282 billion values."""
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    for below, name in zip("abcdefghijk", "bcdefghijkl", strict=True):
        lines.append(f"{name}: &{name} [{','.join([f'*{below}'] * 9)}]")
    return padded("\n".join(lines) + "\n", 428)


def merge_bomb() -> str:
    """Each mapping merges the one before it twice: PyYAML copies 2^22 keys, of which 23 are different."""
    lines = ["a: &a {a: 1}"]
    for below, name in zip("abcdefghijklmnopqrstuv", "bcdefghijklmnopqrstuvw", strict=True):
        lines.append(f"{name}: &{name} {{<<: [*{below}, *{below}], {name}: 1}}")
    return padded("\n".join(lines) + "\n", 711)


def wide_merges() -> str:
    keys = ", ".join(f"k{number}: 1" for number in range(400))
    return f"base: &base {{{keys}}}\n" + "".join(f"m{number}: {{<<: *base}}\n" for number in range(26))


def deep_aliases() -> str:
    """No line is nested deeper than two; together they are seventy deep."""
    return "l0: &l0 [x]\n" + "".join(f"l{number}: &l{number} [*l{number - 1}]\n" for number in range(1, 70))


FACTS = [
    case("428-byte alias bomb", alias_bomb(), "FLOE-E104 6:4"),
    case("711-byte merge-key bomb", merge_bomb(), HARMLESS),
    case("duplicate key", "a: 1\nb: 2\na: 3\n", "FLOE-E103 3:1"),
    case("not a number", "a: .nan\n", "FLOE-E106 1:4"),
    case("infinity", "a: [1, .inf]\n", "FLOE-E106 1:8"),
    case("minus infinity", "a:\n  b: -.INF\n", "FLOE-E106 2:6"),
    case("too large to be finite", "a: 1e999\n", "FLOE-E106 1:4"),
    case("200k-digit hex int", f"a: 0x{'f' * 200_000}\n", "FLOE-E107 1:4"),
    case("200k-digit decimal int", f"a: -{'9' * 200_000}\n", "FLOE-E107 1:4"),
    case("200k-digit fraction", f"a: 0.{'3' * 200_000}\n", "FLOE-E107 1:4"),
    case("a digit too many", f"a: {'9' * (MAX_DIGITS + 1)}\n", "FLOE-E107 1:4"),
    case("20k nested flow lists", "a: " + "[" * 20_000 + "]" * 20_000, "FLOE-E105 1:67"),
    case("20k nested flow mappings", "{a: " * 20_000 + "1" + "}" * 20_000, "FLOE-E105 1:257"),
    case("20k nested block lists", "- " * 20_000 + "1\n", "FLOE-E105 1:129"),
    case("2k nested block mappings", "".join(" " * n + "a:\n" for n in range(2_000)), "FLOE-E105 65:65"),
    case("version 1.10", f"{HEAD[:-2]}, version: 1.10}}\n", "FLOE-E125 4:33"),
]

GRAPH = [
    case("alias inside its anchor", "a: &a [1, *a]\n", "FLOE-E104 1:11"),
    case("merge of itself", "a: &a {<<: *a}\n", "FLOE-E104 1:12"),
    case("alias without anchor", "a: 1\nb: *c\n", "FLOE-E101 2:4"),
    case("aliases nested too deep", deep_aliases(), "FLOE-E105 63:12"),
    case("too many merged keys", wide_merges(), "FLOE-E104 27:7"),
    case("merge of a number", "a: 1\n<<: 5\n", "FLOE-E101 2:1"),
    case("merge of nothing", "a: {<<: }\n", "FLOE-E101 1:5"),
    case("merge of a list of text", "a: {<<: [{b: 1}, c]}\n", "FLOE-E101 1:5"),
    case("99k anchors", "".join(f"k{n}: &k{n} 1\n" for n in range(99_000)), "FLOE-E102 1:1"),
    case("99k aliases", "a: &a 1\n" + "".join(f"k{n}: *a\n" for n in range(99_000)), "FLOE-E102 1:1"),
    case("alias of 4 MiB", filled("k", "a: *"), "FLOE-E101 1:4"),
]

BYTES = [
    case("NUL", b"a: b\x00c\n", "FLOE-E110 1:5"),
    case("NUL after a byte order mark", b"\xef\xbb\xbfa: \x00\n", "FLOE-E110 1:4"),
    case("escape character", b"a: 1\nb: \x1b[2J\n", "FLOE-E110 2:4"),
    case("delete character", b"a: \x7f\n", "FLOE-E110 1:4"),
    case("escaped NUL", b'a: 1\nb: "x\\0y"\n', "FLOE-E110 2:4"),
    case("escaped control character in a key", b'"a\\e[2J": 1\n', "FLOE-E110 1:1"),
    case("Latin-1", "a: 1\nb: café\n".encode("latin-1"), "FLOE-E110 2:7"),
    case("UTF-16", "a: 1\n".encode("utf-16"), "FLOE-E110 1:1"),
    case("overlong UTF-8", b"a: \xc0\x80\n", "FLOE-E110 1:4"),
    case("surrogate in UTF-8", b"a: \xed\xa0\x80\n", "FLOE-E110 1:4"),
    case("escaped surrogate", b'a: "\\ud800"\n', "FLOE-E101 1:7"),
    case("bad byte after old Mac lines", b"a: 1\rb: \xff\r", "FLOE-E110 2:4"),
]

TAGS = [
    case("python tag", "a: !!python/object/apply:os.system [id]\n", "FLOE-E109 1:4"),
    case("tag on a mapping", "a: !env {b: c}\n", "FLOE-E109 1:4"),
    case("tag on text", "a: !include other.yaml\n", "FLOE-E109 1:4"),
    case("tag on a key", "a: 1\n!x b: 2\n", "FLOE-E109 2:1"),
    case("binary", "a: !!binary aGk=\n", "FLOE-E109 1:4"),
    case("set", "a: !!set {b, c}\n", "FLOE-E109 1:4"),
    case("number that is none", "a: !!int x\n", "FLOE-E101 1:4"),
    case("tag directive", "%TAG ! tag:acme.com,2026:\n---\na: !x 1\n", "FLOE-E109 1:1"),
    case("tag directive after a byte order mark", "\ufeff%TAG ! x\n---\na: 1\n", "FLOE-E109 1:1"),
    case("200k tag directives", "".join(f"%TAG !{n}! x\n" for n in range(200_000)), "FLOE-E109 1:1"),
    case("tag of 4 MiB", filled("k", "a: !", " 1"), "FLOE-E109 1:4"),
]

KEYS = [
    case("number as key", "a:\n  1: b\n", "FLOE-E111 2:3"),
    case("version as key", "1.10: a\n", "FLOE-E111 1:1"),
    case("tagged number as key", "!!int 1: a\n", "FLOE-E111 1:1"),
    case("boolean as key", "true: a\n", "FLOE-E111 1:1"),
    case("nothing as key", "~: a\n", "FLOE-E111 1:1"),
    case("empty key", ": a\n", "FLOE-E101 1:1"),
    case("empty key, spelt out", "?\n: a\n", "FLOE-E111 1:2"),
    case("list as key", "? [a, b]\n: c\n", "FLOE-E111 1:3"),
    case("mapping as key", "{{a: b}: c}\n", "FLOE-E111 1:2"),
    case("20k keys in keys", "? " * 20_000 + "a\n", "FLOE-E111 1:3"),
    case("duplicate key, quoted", 'a: {b: 1, "b": 2}\n', "FLOE-E103 1:11"),
    case("duplicate key beside a merge", "a: &a {b: 1}\nc: {<<: *a, b: 2, b: 3}\n", "FLOE-E103 2:19"),
    case("key of 4 MiB", filled("k", f"{HEAD}? ", "\n: 1\n"), "FLOE-E121 5:3"),
    case("19k unknown keys", HEAD + "".join(f"plugins{n}: 1\n" for n in range(19_000)), "FLOE-E121 5:1"),
]

SHAPE = [
    case("empty file", "", "FLOE-E112 1:1"),
    case("only comments", "# nothing\n# here\n", "FLOE-E112 1:1"),
    case("only a document start", "---", "FLOE-E112 1:1"),
    case("list at the top", "\n- a: 1\n", "FLOE-E112 2:1"),
    case("text at the top", "hello\n", "FLOE-E112 1:1"),
    case("two documents", "a: 1\n---\nb: 2\n", "FLOE-E108 2:1"),
    case("a trailing document", "a: 1\n---\n", "FLOE-E108 2:1"),
    case("a document after its end", "a: 1\n...\nb: 2\n", "FLOE-E101 3:1"),
    case("YAML 2", "%YAML 2.0\n---\na: 1\n", "FLOE-E101 1:1"),
    case("open bracket", "a: [1, 2\nb: 3\n", "FLOE-E101 2:2"),
    case("open quote", 'a: "b\nc: d\n', "FLOE-E101 1:4"),
    case("open bracket at the end", "a: [1", "FLOE-E101 1:6"),
    case("missing colon", "a: 1\nb\nc: 2", "FLOE-E101 2:1"),
    case("tab as indentation", "a:\n\tb: 1\n", "FLOE-E101 2:1"),
    case("reserved character", "a: @b\n", "FLOE-E101 1:4"),
    case("unquoted version bound", "a: >=0.3\n", "FLOE-E101 1:4"),
]

SIZE = [
    case("one byte over 4 MiB", b"#" * (MAX_BYTES + 1), "FLOE-E102 1:1"),
    case("40 MiB", b"a" * (40 * 1024 * 1024), "FLOE-E102 1:1"),
    case("100,001 values", "a: [" + "1," * 100_000 + "]\n", "FLOE-E102 1:200001"),
    case("99,000 values", "a: [" + "1," * 99_000 + "]\n", "FLOE-E102 1:1"),
    case("19k rules without keys", HEAD + OVERRIDES + "{}," * 19_000 + "]}\n", "FLOE-E122 5:33"),
    case("19k secrets", HEAD + SERVICES + "x," * 19_000 + "]}\n", "FLOE-E140 5:30"),
    case("2M empty lists", filled("[],", "a: [", "]"), "FLOE-E102 1:299999"),
    case("4 MiB of text", filled("x ", "a: "), HARMLESS),
    case("4 MiB of astral text", filled("\U0001f600", 'a: "', '"'), HARMLESS),
    case("4 MiB of comments", filled("# x\n", "a: 1\n"), HARMLESS),
    case("4 MiB of line breaks", filled("\n", 'a: "', '"'), HARMLESS),
    case("4 MiB of document starts", filled("---\n"), "FLOE-E108 2:1"),
]

CASES = [*FACTS, *GRAPH, *BYTES, *TAGS, *KEYS, *SHAPE, *SIZE]
