"""The YAML reader: what values mean, where they stand, and that no bytes at all can surprise it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from floe_core.findings import Finding, FloeError, Place
from floe_core.source import MAX_DEPTH, MAX_DIGITS, cut, parse, read_source, spell

MANIFEST = """\
# the platform of acme
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: acme, version: "1.10"}
scope: enterprise
plugins:
  compute: &spark
    type: spark
    config:
      master: local[2]
      timeout: 1.5
  catalog:
    <<: *spark
    type: sql
naming_conventions:
  - raw_*
  - regex: '^x[0-9]+$'
governance:
  quality_gates: {threshold: 80, block_on_failure: true}
"""


unhurried = settings(deadline=None)  # a busy machine is not a finding


def read(text: str) -> Any:
    return parse(text.encode(), "f.yaml").root.plain()


def refusal(data: bytes) -> FloeError:
    with pytest.raises(FloeError) as caught:
        parse(data, "f.yaml")
    return caught.value


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("off", "off"),
        ("on", "on"),
        ("No", "No"),
        ("yes", "yes"),
        ("y", "y"),
        ("0", 0),
        ("-7", -7),
        ("+7", 7),
        ("012", 12),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1,000", "1,000"),
        ("9" * MAX_DIGITS, int("9" * MAX_DIGITS)),
        ("1.10", 1.1),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1.5e3", -1500.0),
        ("1e3", 1000.0),
        ("1.2.3", "1.2.3"),
        ("1e", "1e"),
        (".", "."),
        ("-", [None]),
        ("+", "+"),
        (".NaN.", ".NaN."),
        ("2027-01-31", "2027-01-31"),
        ("12:30:45", "12:30:45"),
        ("15m", "15m"),
        ("=", "="),
        ("'true'", "true"),
        ('"1.10"', "1.10"),
        ("'~'", "~"),
        ("''", ""),
        ('".nan"', ".nan"),
        ("!!str 1.10", "1.10"),
        ("!!str", ""),
        ("! 12", "12"),
        ("!!int '12'", 12),
        ("!!float 3", 3),
        ("!!bool 'true'", True),
        ("!!null ''", None),
        ("!!seq [1]", [1]),
        ("!!map {a: 1}", {"a": 1}),
        ('"a\\tb\\nc\\u00e9"', "a\tb\ncé"),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(written: str, value: object) -> None:
    found = read(f"v:\n  {written}\n")["v"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("written", ["!!int 1.5", "!!int yes", "!!bool on", "!!null no", "!!float x", "!!int ''"])
def test_a_tag_does_not_turn_a_value_into_another(written: str) -> None:
    (finding,) = refusal(f"v: {written}\n".encode()).findings
    assert (finding.code, finding.place) == ("FLOE-E101", Place("f.yaml", 1, 4))


def test_block_scalars_keep_their_lines() -> None:
    assert read("a: |\n  x\n  y\nb: >-\n  x\n  y\n") == {"a": "x\ny\n", "b": "x y"}


def test_an_alias_repeats_its_anchor() -> None:
    assert read("a: &x {b: [1, two]}\nc: *x\nd: &x 5\ne: *x\n") == {
        "a": {"b": [1, "two"]},
        "c": {"b": [1, "two"]},
        "d": 5,
        "e": 5,
    }


def test_a_key_can_be_an_anchor() -> None:
    assert read("&k name: 1\nother: *k\n") == {"name": 1, "other": "name"}


@pytest.mark.parametrize(
    ("merge", "value"),
    [
        ("<<: *a\nk: own", {"k": "own", "a": 1}),
        ("k: own\n<<: *a", {"k": "own", "a": 1}),
        ("<<: [*a, *b]", {"k": "of a", "a": 1, "b": 2}),
        ("<<: [*b, *a]", {"k": "of b", "a": 1, "b": 2}),
        ("<<: *b\n<<: *a", {"k": "of b", "a": 1, "b": 2}),
        ("<<: {c: 3}", {"c": 3}),
        ("<<: []", {}),
        ("'<<': *a", {"<<": {"k": "of a", "a": 1}}),
    ],
)
def test_in_a_merge_keys_written_out_win_then_earlier_bases(merge: str, value: object) -> None:
    bases = "a: &a {k: of a, a: 1}\nb: &b {k: of b, b: 2}\nm:\n"
    merged = "".join(f"  {line}\n" for line in merge.splitlines())
    assert read(bases + merged)["m"] == value


def test_a_merged_value_stands_where_it_is_written() -> None:
    source = parse(b"base: &b\n  list: [1, 2]\n  word: x\nm:\n  <<: *b\n  own: y\n", "f.yaml")
    assert source.place(("m", "word")) == Place("f.yaml", 3, 9)
    assert source.place(("m", "list"), of_key=True) == Place("f.yaml", 2, 3)
    assert source.place(("m", "list", 1)) == Place("f.yaml", 2, 13)
    assert source.place(("m", "own")) == Place("f.yaml", 6, 8)
    assert source.place(("m",)) == Place("f.yaml", 4, 1)


PLACES: dict[tuple[str | int, ...], tuple[tuple[int, int], tuple[int, int]]] = {
    ("apiVersion",): ((2, 13), (2, 1)),
    ("metadata", "name"): ((4, 18), (4, 12)),
    ("metadata", "version"): ((4, 33), (4, 24)),
    ("plugins",): ((6, 1), (6, 1)),
    ("plugins", "compute"): ((7, 3), (7, 3)),
    ("plugins", "compute", "config", "timeout"): ((11, 16), (11, 7)),
    ("plugins", "catalog", "type"): ((14, 11), (14, 5)),
    ("plugins", "catalog", "config", "master"): ((10, 15), (10, 7)),
    ("naming_conventions", 0): ((16, 5), (16, 5)),
    ("naming_conventions", 1): ((17, 5), (17, 5)),
    ("naming_conventions", 1, "regex"): ((17, 12), (17, 5)),
    ("governance", "quality_gates", "block_on_failure"): ((19, 52), (19, 34)),
}


@pytest.mark.parametrize("path", PLACES, ids=spell)
@pytest.mark.parametrize(
    ("name", "start", "end"), [("LF", "", "\n"), ("CRLF with BOM", "\ufeff", "\r\n"), ("CR", "", "\r")]
)
def test_every_value_and_key_has_its_place(path: tuple[str | int, ...], name: str, start: str, end: str) -> None:
    source = parse((start + MANIFEST.replace("\n", end)).encode(), name)
    value, key = PLACES[path]
    assert source.place(path) == Place(name, *value)
    assert source.place(path, of_key=True) == Place(name, *key)


def test_columns_count_characters_not_bytes() -> None:
    assert parse("é: {ü: 😀, x: 1}\n".encode(), "f").place(("é", "x")) == Place("f", 1, 14)


def test_what_is_absent_stands_at_the_nearest_value_around_it() -> None:
    source = parse(MANIFEST.encode(), "f")
    assert source.place(("plugins", "ingestion")) == Place("f", 6, 1)
    assert source.place(("identity", "enforcement")) == Place("f", 2, 1)
    assert source.node(("plugins", "ingestion", "type")) is None
    assert source.node(("naming_conventions", 9)) is None


def test_the_first_of_two_equal_keys_is_named_too() -> None:
    (finding,) = refusal(b"a: 1\nb: {c: 1,\n  c: 2}\n").findings
    assert finding.code == "FLOE-E103"
    assert finding.place == Place("f.yaml", 3, 3)
    assert [item.place for item in finding.related] == [Place("f.yaml", 2, 5)]


def test_nesting_up_to_the_limit_is_read() -> None:
    levels = MAX_DEPTH - 2  # the file and the value inside count as well
    assert read("a: " + "[" * levels + "1" + "]" * levels)
    assert refusal(("a: " + "[" * (levels + 1) + "1" + "]" * (levels + 1)).encode()).findings[0].code == "FLOE-E105"


def test_a_message_never_repeats_a_long_text() -> None:
    for data in (
        b"a: *" + b"k" * 9999,
        b"a: !" + b"k" * 9999,
        b"? " + b"k" * 9999 + b"\n? " + b"k" * 9999 + b"\n: 1",
    ):
        assert len(refusal(data).findings[0].message) < 200
    assert cut("x" * 61) == "x" * 57 + "..."
    assert spell(("a", 0, "b" * 99)) == "a[0]." + "b" * 57 + "..."


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.yaml", "none.yaml does not exist"),
        (tmp_path, f"{tmp_path.name} is a folder, not a file"),
        (tmp_path / ("n" * 300), f"{'n' * 300} cannot be read: File name too long"),
        (tmp_path / "a\0b", "a\0b cannot be read: embedded null byte"),
    ):
        with pytest.raises(FloeError) as caught:
            read_source(path)
        (finding,) = caught.value.findings
        assert (finding.code, finding.message, finding.place) == ("FLOE-E100", reason, Place(str(path)))


# libyaml takes these three for line breaks, as YAML 1.1 did, and folds them.
BREAKS = "\x85\u2028\u2029"
TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters=BREAKS), max_size=30)
WORDS = st.text("abcdefghijklmnopqrstuvwxyzABCDEFXYZ _-#:,[]{}&*!|>'\"%@`?", max_size=12)
NUMBERS = st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False)


def documents(text: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    values = st.recursive(
        st.none() | st.booleans() | NUMBERS | text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=20,
    )
    return st.dictionaries(text, values, max_size=5)


@unhurried
@given(documents(TEXT))
def test_json_is_read_as_json(data: dict[str, Any]) -> None:
    assert repr(read(json.dumps(data, ensure_ascii=False))) == repr(data)
    assert repr(read(json.dumps(data, ensure_ascii=False, indent=2))) == repr(data)


@unhurried
@given(documents(TEXT))
def test_quoted_yaml_is_read_back(data: dict[str, Any]) -> None:
    written = yaml.safe_dump(data, default_style='"', sort_keys=False, allow_unicode=True)
    assert repr(read(written)) == repr(data)


@unhurried
@given(documents(WORDS))
def test_plain_yaml_is_read_back(data: dict[str, Any]) -> None:
    assert repr(read(yaml.safe_dump(data, sort_keys=False, width=40))) == repr(data)


def check_any(data: bytes) -> None:
    """A source, or findings of the reader at places that the file has; never anything else."""
    value, findings = None, tuple[Finding, ...]()
    try:
        value = parse(data, "f.yaml").root.plain()
    except FloeError as exc:
        findings = exc.findings
    assert json.loads(json.dumps(value)) == value
    assert (value is None) == bool(findings)
    lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", data.decode("utf-8", "replace").removeprefix("\ufeff"))
    for finding in findings:
        assert re.fullmatch("FLOE-E1(0[1-9]|1[0-2])", finding.code)
        for place in (finding.place, *(item.place for item in finding.related)):
            assert place.path == "f.yaml"
            assert 1 <= place.line <= len(lines)
            assert 1 <= place.column <= len(lines[place.line - 1]) + 1


@unhurried
@given(st.binary(max_size=60))
def test_any_bytes_are_answered(data: bytes) -> None:
    check_any(data)


@unhurried
@given(st.text(max_size=60))
@example("a: 1\n\ufeffb: 2")
@example("a: \u2028 [")
def test_any_text_is_answered(text: str) -> None:
    check_any(text.encode("utf-8", "surrogatepass"))


TOKENS = (
    """a b : - ? [ ] { } , & * &a *a << <<: ! !!int !!str !x ' " | > # % %TAG --- ... ~ 1 1e999 .nan 0x \\ @ `"""
)


@unhurried
@given(
    st.lists(
        st.sampled_from([*TOKENS.split(), " ", "\n", "\n  ", "\t", ": ", "\r", "\u2028", "\ufeff"]), max_size=40
    )
)
def test_any_soup_of_yaml_is_answered(tokens: list[str]) -> None:
    check_any("".join(tokens).encode())


@unhurried
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(MANIFEST)), st.integers(0, 12), st.sampled_from(TOKENS.split()) | st.text(max_size=3)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_damage_to_a_manifest_is_answered(damage: list[tuple[int, int, str]]) -> None:
    text = MANIFEST
    for start, length, put in damage:
        text = text[:start] + put + text[start + length :]
    check_any(text.encode("utf-8", "surrogatepass"))
