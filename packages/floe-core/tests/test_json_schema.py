"""The printed JSON Schemas say exactly what pydantic says: an editor and `floe compile` never disagree.

Both judges get the same documents: the specification's examples, then the same with odd values at every place, and
with several random changes at once. Rules that look at two keys together, or at the calendar, are pydantic's alone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import jsonschema_rs
import pydantic
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floe_core.json_schema import manifest_schema, product_schema
from floe_core.load import all_keys
from floe_core.schemas.aliases import ALIASES
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.source import parse

Model: TypeAlias = type[Manifest] | type[DataProduct]
Document: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str | int, ...]

EXAMPLES = Path(__file__).parent / "spec_examples"
MINIMAL = {"apiVersion": "floe.dev/v1", "kind": "Manifest", "metadata": {"name": "acme"}, "scope": "enterprise"}
SCHEMAS = {Manifest: manifest_schema(), DataProduct: product_schema()}
JUDGES = {model: jsonschema_rs.Draft202012Validator(schema) for model, schema in SCHEMAS.items()}


def read_example(name: str) -> tuple[Model, Document]:
    document = parse((EXAMPLES / name).read_bytes(), name).root.plain()
    if "kind" not in document:
        document = {**MINIMAL, **document}
    if "naming" in document:
        document["data_architecture"] = {"naming": document.pop("naming")}
    return (DataProduct if document["kind"] == "DataProduct" else Manifest), document


NAMES = sorted(path.name for path in EXAMPLES.iterdir())
SAMPLES = [read_example(name) for name in NAMES]

NUMBERS: list[Any] = [0, 1, -1, 100, 1000, 1001, 2**63, 10**39, -(10**39)]
NUMBERS += [-0.0, 0.5, 1.0, 1.5, 100.5, 5e-324, 1e308, -1e308]
BLANKS = ["", " ", "\n", "\t", "\0", "\x1c", "\x85", "\xa0", "\u2028", "\ufeff"]
WORDS = ["text", "Text", "two words", "a\nb", "a\rb", "a\u2028b", "a\n", " a", "a ", "\ufeffa", "é", "ſtrict"]
NAMES_LIKE = ["customer-360", "customer__360", "a-", "a.b", "a.b.c", "A.b", "sales.customer_360\n"]
VERSIONS = ["1.2", "1.2.3", "v1.2.3", "01.2", "1.2.3.4", "1", "1.2\n", ">=0.1", ">= 0.1", ">=  0.1", ">=0.1\n"]
DURATIONS = ["15m", "0s", "999999w", "1000000s", "PT6H", "P", "PT", "PT0S", "P1D", "P1M", "P1WT1S", "P1DT", "p1d"]
DURATIONS += ["15M", "PT6H\n", "-5m", "1.5h", "٣m"]
PERCENTAGES = ["99.9%", "100%", "100.0%", "100.1%", "05%", "005%", "99.9%\n", "-1%", "%", "99.1234567890%", "٣%"]
CRONS = ["* * * * *", "* * * *", "* * * * * *", " * * *  * * ", "* * * * *\n", "*\ufeff*\ufeff*\ufeff*\ufeff*"]
PATHS = [
    "models/",
    "/abs",
    "../up",
    "a/../b",
    "a/..",
    "..",
    "..a",
    "a\\b",
    "a\n/..",
    "\n/..",
    "./x",
    ".",
    "oci://x",
]
DATES = ["2027-01-31", "2027-13-31", "20270131", "2027-01-31\n", "FLOE-E201", "floe-e201", "FLOE-E201\n"]
RUNGS = ["OFF", "Off", "off", "warn", "Strict", "BLOCK", "alert_only", "Domain", "ENTERPRISE", "MEDALLION", "PII"]
RUNGS += ["DBT", "DomainManifest", "DataProduct", "FLOE.DEV/V1", "require_meta_field", "Append"]
LISTS: list[Any] = [[], [None], [[]], ["a"], [["a"]], ["a", ["b"]], ["PII", "phi"], ["a", 1], [{}], ["PUBLIC"]]
LISTS += [["raw_*", {"regex": "x"}], [["raw_*"], [{"glob": "x"}]]]
BLOCKS: list[Any] = [
    {},
    {"a": 1},
    {"type": "x"},
    {"type": "x", "config": None},
    {"type": ""},
    {"type": "x", "a": 1},
]
BLOCKS += [{"ref": "x"}, {"ref": "/x"}, {"ref": "x", "version": "^1"}, {"ref": "x", "version": 1.2}]
BLOCKS += [{"glob": "x"}, {"glob": "x", "regex": "y"}, {"glob": "x", "regex": None}, {"regex": ""}]
BLOCKS += [
    {"check_interval": "1h"},
    {"check_interval": None},
    {"product": "a.b"},
    {"product": "a.b", "ingestion": "x"},
]
BLOCKS += [{"min": 80}, {"min": "80%"}, {"min": None}, {"threshold": 80}, {"quality_gates": {"threshold": "x"}}]
TEXTS = BLANKS + WORDS + NAMES_LIKE + VERSIONS + DURATIONS + PERCENTAGES + CRONS + PATHS + DATES + RUNGS
ODD: list[Any] = [None, True, False, *NUMBERS, *TEXTS, *LISTS, *BLOCKS]
EXTRA_KEYS = ["bogus", "Gold", "x__y", "scope", "quality_gates", "registration", "test_coverage", "min", "schema"]


def is_cross_field(error: Any) -> bool:
    """The three rules that a schema of single keys does not hold."""
    said = str(error["msg"])
    if error["type"] == "E126":
        return said == "a source is either a product or an ingestion" or said.endswith(" a date that exists")
    return bool(error["type"] == "E127")  # an alias and its own place differ


def refusals(model: Model, document: Any) -> list[Any]:
    try:
        model.model_validate(document)
    except pydantic.ValidationError as exc:
        return list(exc.errors(include_url=False))
    return []


def disagreement(model: Model, document: Any) -> str:
    """What the two judges say when they differ; empty when they agree."""
    errors = refusals(model, document)
    accepts = bool(JUDGES[model].is_valid(document))
    if accepts is not bool(errors):
        return ""
    if accepts and all(map(is_cross_field, errors)):
        return ""
    return f"the schema {'accepts' if accepts else 'refuses'}, pydantic says {errors or 'it is valid'}"


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    yield at
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in steps:
        yield from places(inner, (*at, step))


def value_at(document: Any, place: Place) -> Any:
    for step in place:
        document = document[step]
    return document


def replaced(document: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    inner = copy.copy(document)
    inner[place[0]] = replaced(inner[place[0]], place[1:], value) if place[1:] else value
    return inner


def without(document: Any, place: Place) -> Any:
    block = copy.copy(value_at(document, place[:-1]))
    del block[place[-1]]
    return replaced(document, place[:-1], block)


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=["manifest", "product"])
def test_the_schema_is_valid_draft_2020_12(schema: Document) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(schema)


@pytest.mark.parametrize(("model", "document"), SAMPLES, ids=NAMES)
def test_both_judges_accept_the_examples(model: Model, document: Document) -> None:
    assert JUDGES[model].is_valid(document)
    assert refusals(model, document) == []


@pytest.mark.parametrize(("model", "document"), SAMPLES, ids=NAMES)
def test_the_judges_agree_on_every_odd_value_at_every_place(model: Model, document: Document) -> None:
    found = [
        (place, odd, said)
        for place in places(document)
        for odd in ODD
        if (said := disagreement(model, replaced(document, place, odd)))
    ]
    assert found == []


@pytest.mark.parametrize(("model", "document"), SAMPLES, ids=NAMES)
def test_the_judges_agree_on_every_key_left_out(model: Model, document: Document) -> None:
    found = [
        (place, said)
        for place in places(document)
        if place and (said := disagreement(model, without(document, place)))
    ]
    assert found == []


@pytest.mark.parametrize(("model", "document"), SAMPLES, ids=NAMES)
def test_the_judges_agree_on_every_key_added(model: Model, document: Document) -> None:
    names = {name.rpartition(".")[2] for name in all_keys(model)} - {"*"} | set(EXTRA_KEYS)
    blocks = [place for place in places(document) if isinstance(value_at(document, place), dict)]
    found = [
        (place, name, value, said)
        for place in blocks
        for name in sorted(names - set(value_at(document, place)))
        for value in cast(tuple[Any, ...], (None, 80, "text", {}))
        if (said := disagreement(model, replaced(document, (*place, name), value)))
    ]
    assert found == []


odd_values = st.one_of(
    st.sampled_from(ODD),
    st.text(max_size=12),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.from_regex(r"\A[0-9]{1,4}(\.[0-9]{1,3})?[%smhdwSMHDW]\Z"),
    st.from_regex(r"\AP([0-9]{1,3}[YMWD])?(T([0-9]{1,3}[HMS])?)?\Z"),
    st.from_regex(r"\A[a-zA-Z0-9]{1,3}([-_./ ]{1,2}[a-z0-9]{1,3}){0,3}\Z"),
)


@st.composite
def changed_documents(draw: st.DrawFn) -> tuple[Model, Any]:
    """An example after one to four changes: a value replaced, a key removed, renamed or moved elsewhere."""
    model, document = draw(st.sampled_from(SAMPLES))
    value: Any
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.sampled_from(list(places(document))))
        kind = draw(st.sampled_from(["replace", "remove", "rename", "move", "add"]))
        if kind == "replace" or not place:
            document = replaced(document, place, draw(odd_values))
        elif kind == "remove":
            document = without(document, place)
        else:
            value = draw(odd_values) if kind == "add" else value_at(document, place)
            document = without(document, place) if kind in ("rename", "move") else document
            blocks = [at for at in places(document) if isinstance(value_at(document, at), dict)]
            block = draw(st.sampled_from(blocks)) if kind == "move" else place[:-1]
            name = draw(st.sampled_from(EXTRA_KEYS)) if kind != "move" else str(place[-1])
            if isinstance(value_at(document, block), dict):
                document = replaced(document, (*block, name), value)
        if not isinstance(document, dict):
            break
    return model, document


@settings(max_examples=1000, deadline=None)
@given(changed_documents())
def test_the_judges_agree_after_any_few_changes(changed: tuple[Model, Any]) -> None:
    assert disagreement(*changed) == ""


VALUES: dict[Place, tuple[Any, Any]] = {  # for each setting with an alias, a value and another
    ("scope",): ("Domain", "enterprise"),
    ("governance", "quality_gates", "minimum_test_coverage"): ("80%", 70),
    ("governance", "quality_gates"): ({"threshold": 80}, {"threshold": 70}),
    ("identity", "registration"): ({"jitter": 0.2}, {"jitter": 0.1}),
}
ALIASED = [(own, alias, *VALUES[own]) for own, alias in ALIASES.items()]
UNSCOPED = {name: value for name, value in MINIMAL.items() if name != "scope"}


def written_at(place: Place, value: Any, *, document: Document) -> Document:
    for number in range(1, len(place)):
        if place[number - 1] not in value_at(document, place[: number - 1]):
            document = replaced(document, place[:number], {})
    changed: Document = replaced(document, place, value)
    return changed


@pytest.mark.parametrize(("own", "alias", "value", "other"), ALIASED)
def test_an_alias_is_read_as_its_own_place(own: Place, alias: Place, value: Any, other: Any) -> None:
    base = UNSCOPED if own == ("scope",) else MINIMAL
    at_alias = written_at(alias, value, document=base)
    assert JUDGES[Manifest].is_valid(at_alias)
    assert Manifest.model_validate(at_alias) == Manifest.model_validate(written_at(own, value, document=base))
    assert Manifest.model_validate(at_alias) != Manifest.model_validate(written_at(own, other, document=base))


@pytest.mark.parametrize(("own", "alias", "value", "other"), ALIASED)
def test_an_alias_may_repeat_its_own_place_and_may_not_differ(
    own: Place, alias: Place, value: Any, other: Any
) -> None:
    document = written_at(own, value, document=MINIMAL)
    for repeated in (value, None):
        assert JUDGES[Manifest].is_valid(written_at(alias, repeated, document=document))
        repeating = Manifest.model_validate(written_at(alias, repeated, document=document))
        assert repeating == Manifest.model_validate(document)
    differing = written_at(alias, other, document=document)
    assert [error["type"] for error in refusals(Manifest, differing)] == ["E127"]


def test_a_domain_manifest_is_of_scope_domain_whatever_its_spelling() -> None:
    unscoped = {**MINIMAL, "kind": "DomainManifest"}
    for scope in ("domain", "Domain", "DOMAIN", None):
        document = {**unscoped, "scope": scope}
        assert JUDGES[Manifest].is_valid(document)
        assert Manifest.model_validate(document).scope.value == "domain"
    assert [error["type"] for error in refusals(Manifest, unscoped)] == ["E127"]


def test_a_manifest_without_a_scope_is_refused_by_both() -> None:
    for document in (
        {**MINIMAL, "scope": None},
        {**MINIMAL, "scope": None, "metadata": {"name": "acme", "scope": None}},
        UNSCOPED,
    ):
        assert not JUDGES[Manifest].is_valid(document)
        assert [error["loc"] for error in refusals(Manifest, document)] == [("scope",)]


LEGAL: dict[str, tuple[list[Any], list[Any]]] = {  # for one key of each kind: what both accept, what both refuse
    "metadata.name": (["a", "customer-360", "a_1"], ["A", "a__b", "1a", "a-", "ä", "a\n", 1, None]),
    "metadata.version": (["1.2", "0.1.0", "10.20.30"], [1.2, 1, "1", "v1.2", "01.2", "1.2.3.4", "1.2-rc1"]),
    "metadata.owner": (["a@acme.com", "two words", None], ["", " ", "a\nb", "a\n", 7, ["a"]]),
    "required_floe_version": ([">=0.1", ">= 1.2.3", ">=2"], ["0.1", ">0.1", "^1", ">=1.2.3.4", 0.1]),
    "identity.registration.jitter": ([0, 1, 0.2, -0.0], [1.1, -0.1, "0.2", True]),
    "identity.registration.max_attempts": ([0, 3, 3.0, 1000], [1001, -1, 2.5, "3", False]),
    "identity.registration.max_backoff": (
        ["10s", "15m", "24h", "7d", "2w", "PT6H", "P1W", "P1DT2H3M4S"],
        ["0s", "PT0S", "P1M", "P1Y", "10", 10, "1.5h", "10S", "PT", "P1DT", "six hours"],
    ),
    "sla_minimums.availability": ([0, 100, 99.9, "99.9%", "100%"], [101, -1, "101%", "99.9", "99,9%", True]),
    "identity.auto_register": ([True, False], ["true", "yes", 1, 0]),
    "identity.enforcement": (["warn", "WARN", "Enforce", "off"], [False, "of", "warn ", "", 1]),
    "governance.schedule.allowed": (
        [["* 0-6 * * *"], []],
        [["* * * *"], ["@daily"], "* * * * *", [["* * * * *"], "x"]],
    ),
    "governance.policy_overrides.0.expires": (["2028-02-29", None], ["2028-2-29", "29.02.2028", 2028]),
    "data_contracts.base": ([["a/b.yaml"], ["..a/b"]], [["/a"], ["../a"], ["a/../b"], ["a\\b"], [""], "a"]),
    "parent": (
        ["v1.2.3", "../a.yaml", {"ref": "oci://h/r", "version": "^1"}],
        ["/abs", "", " a", {"ref": 1}, {}, 1],
    ),
}


@pytest.mark.parametrize("key", LEGAL)
def test_what_both_accept_is_what_the_key_reference_means(key: str) -> None:
    _, document = read_example("keys-manifest.yaml")
    place = tuple(int(step) if step.isdigit() else step for step in key.split("."))
    for number, values in enumerate(LEGAL[key]):
        for value in values:
            changed = replaced(document, place, value)
            refused = (not JUDGES[Manifest].is_valid(changed), bool(refusals(Manifest, changed)))
            assert (value, refused) == (value, (bool(number), bool(number)))


@pytest.mark.parametrize(
    "hostile",
    [
        "a" * 1_000_000 + "\n",
        " " * 1_000_000,
        "a-" * 500_000 + "-",
        "/" * 1_000_000,
        "0 " * 500_000,
        "P" + "1" * 10**6,
    ],
    ids=["line", "blanks", "name", "slashes", "cron", "digits"],
)
def test_no_pattern_takes_longer_than_the_value_is_long(hostile: str) -> None:
    """A quadratic pattern would need hours for these: the test would not fail, it would not end."""
    for model, document in (read_example("keys-manifest.yaml"), read_example("keys-product.yaml")):
        for place in places(document):
            if isinstance(value_at(document, place), str):
                refusals(model, replaced(document, place, hostile))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=["manifest", "product"])
def test_the_schema_says_nothing_that_only_repeats_a_key(schema: Document) -> None:
    noise = [
        place
        for place in places(schema)
        if place[1:]
        and place[-1] in ("title", "default")
        and value_at(schema, place) in (None, str(place[-2]).title())
    ]
    assert noise == []
