"""Loading a manifest or a product: every error of a file at once, each at its line, with what to write instead."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floe_core.compile import compile_project
from floe_core.findings import Finding, FloeError
from floe_core.load import MAX_ERRORS, all_keys, load_manifest, load_product
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.levels import ClassificationLevel, FieldClass, NamingEnforcement
from floe_core.schemas.manifest import Manifest, Scope
from floe_core.source import parse

MANIFEST = "apiVersion: floe.dev/v1\nkind: Manifest\nscope: enterprise\nmetadata: {name: acme}\n"
PRODUCT = 'apiVersion: floe.dev/v1\nkind: DataProduct\nmetadata: {name: orders, version: "1.0"}\n'
EXAMPLES = Path(__file__).parent / "spec_examples"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.yaml"


def findings(file: Path, text: str) -> tuple[Finding, ...]:
    """What loading the text finds: as a product when it starts like one, as a manifest otherwise."""
    file.write_text(text, encoding="utf-8")
    load = load_product if "kind: DataProduct" in text else load_manifest
    try:
        load(file)
    except FloeError as exc:
        return exc.findings
    return ()


def brief(file: Path, text: str) -> list[str]:
    return sorted(f"{item.line}:{item.column} {item.code} {item.message}" for item in findings(file, text))


# What is added to a minimal file (whose own lines are 1 to 4, in a product 1 to 3), and how the finding begins.
LEVELS = "off | warn | register | enforce"
RULES = "require_tags_for_prefix | require_meta_field | require_tests_of_type"
IN_MANIFEST = [
    # unknown keys: the nearest legal key beside it, then elsewhere, then none
    ("plugin: {}", "5:1 FLOE-E121 unknown key plugin; did you mean plugins?"),
    ("governance:\n  schedul: {}", "6:3 FLOE-E121 unknown key governance.schedul; did you mean schedule?"),
    ("threshold: 80", "5:1 FLOE-E121 unknown key threshold; threshold belongs under governance.quality_gates"),
    ("identity: {parent: x}", "5:12 FLOE-E121 unknown key identity.parent; parent belongs under the top level"),
    ("minimum: INTERNAL", "5:1 FLOE-E121 unknown key minimum; minimum belongs under governance.classification"),
    ("layer_ordr: off", "5:1 FLOE-E121 unknown key layer_ordr; did you mean data_architecture.layer_order?"),
    ("zzz: 1", "5:1 FLOE-E121 unknown key zzz"),
    ("data_architecture: {layers: {gold: {a: 1}}}", "5:37 FLOE-E121 unknown key data_architecture.layers.gold.a"),
    (
        "governance: {custom_rules: [{type: require_meta_field, field: x, applies: y}]}",
        "5:66 FLOE-E121 unknown key governance.custom_rules[0].applies; did you mean applies_to?",
    ),
    # missing keys
    ("governance: {custom_rules: [{a: x}]}", "5:29 FLOE-E122 governance.custom_rules[0].type is missing"),
    # wrong types
    ("plugins: [spark]", "5:1 FLOE-E123 plugins: must be a mapping of keys"),
    ("approved_sources: salesforce", "5:19 FLOE-E123 approved_sources: must be a list"),
    ("approved_sources: [a, 5]", "5:23 FLOE-E123 approved_sources[1]: must be text (quote it)"),
    ("naming_conventions: [a, [b]]", "5:22 FLOE-E123 naming_conventions[0]: must be a list"),
    ("naming_conventions: [a, 5]", "5:25 FLOE-E123 naming_conventions[1]: must be a glob like raw_*"),
    ("naming_conventions: [[a], [b, 5]]", "5:31 FLOE-E123 naming_conventions[1][1]: must be a glob like raw_*"),
    ("observability: {traces: yes}", "5:25 FLOE-E123 observability.traces: must be true or false"),
    ("secrets_backend: {type: a, config: [b]}", "5:28 FLOE-E123 secrets_backend.config: must be a mapping of keys"),
    ("sla_minimums: {freshness: 24}", "5:27 FLOE-E123 sla_minimums.freshness: must be text (quote it)"),
    # not one of the legal values
    ("identity: {enforcement: a}", f"5:25 FLOE-E124 identity.enforcement: a is not one of {LEVELS}"),
    (
        "governance: {custom_rules: [{type: [a]}]}",
        f"5:30 FLOE-E124 governance.custom_rules[0].type: a list is not one of {RULES}",
    ),
    # malformed
    ("registration: {jitter: 2}", "5:24 FLOE-E126 registration.jitter: 2 is not a number from 0 to 1"),
    ("catalog_namespace: Sales", "5:20 FLOE-E126 catalog_namespace: Sales is not a name like customer-360"),
    ("data_architecture:\n  layers:\n    Au: {}", "7:5 FLOE-E126 data_architecture.layers.Au: Au is not a name"),
    (
        "governance:\n  schedule:\n    allowed:\n    - '* 0-6 * * *'\n    - daily",
        "9:7 FLOE-E126 governance.schedule.allowed[1]: daily is not a cron expression",
    ),
]
IN_PRODUCT = [
    (
        "output_ports:\n  - {name: a, scheme: []}",
        "5:15 FLOE-E121 unknown key output_ports[0].scheme; did you mean s",
    ),
    ("governance: {}", "4:1 FLOE-E121 unknown key governance"),
    ("transforms: [{path: models/}]", "4:14 FLOE-E122 transforms[0].type is missing"),
    ("schedule: {timezone: UTC}", "4:1 FLOE-E122 schedule.cron is missing"),
    ("input_ports:\n- name: a", "5:3 FLOE-E122 input_ports[0].source is missing"),
    ("output_ports: [{name: }]", "4:17 FLOE-E122 output_ports[0].name has no value"),
    ("transforms: [{type: spark}]", "4:21 FLOE-E124 transforms[0].type: spark is not dbt"),
    ("transforms: [{type: dbt, path: ../x}]", "4:32 FLOE-E126 transforms[0].path: ../x is not a path inside"),
    ("platform: /etc/x.yaml", "4:11 FLOE-E126 platform.ref: /etc/x.yaml is not a relative path"),
    ("input_ports: [{name: a, source: {}}]", "4:25 FLOE-E126 input_ports[0].source: a source is either a product"),
]
MISTAKES = [*((MANIFEST, *row) for row in IN_MANIFEST), *((PRODUCT, *row) for row in IN_PRODUCT)]


@pytest.mark.parametrize(("head", "added", "expected"), MISTAKES, ids=[row[2][:60] for row in MISTAKES])
def test_one_mistake_is_one_finding_at_its_place(file: Path, head: str, added: str, expected: str) -> None:
    (found,) = brief(file, f"{head}{added}\n")
    assert found.startswith(expected)


def test_an_unknown_key_comes_with_its_cure(file: Path) -> None:
    near, moved, alone = (findings(file, MANIFEST + key)[0] for key in ("plugin: 1", "threshold: 1", "zzz: 1"))
    assert (near.expected, near.actual, near.fix) == ("plugins", "plugin", "Rename it to `plugins`.")
    assert moved.fix == "Move it to `governance.quality_gates.threshold`."
    assert alone.fix.startswith("Remove it. The keys here are apiVersion, approved_plugins,")


def test_all_errors_of_a_file_come_at_once(file: Path) -> None:
    text = """\
apiVersion: floe.dev/v2
kind: Manifest
metadata: {version: 1.10}
scop: enterprise
plugins: {compute: 5}
governance: {quality_gates: {threshold: 200}}
shared_services: {password: hunter2}
"""
    assert [item.split(" ")[:2] for item in brief(file, text)] == [
        ["1:1", "FLOE-E122"],  # scope
        ["1:13", "FLOE-E128"],
        ["3:1", "FLOE-E122"],  # metadata.name
        ["3:21", "FLOE-E125"],
        ["4:1", "FLOE-E121"],
        ["5:20", "FLOE-E123"],
        ["6:41", "FLOE-E126"],
        ["7:29", "FLOE-E140"],
    ]


def test_of_very_many_errors_the_first_are_shown_and_the_rest_counted(file: Path) -> None:
    found = findings(file, MANIFEST + "".join(f"k{number}: 1\n" for number in range(MAX_ERRORS + 50)))
    assert len(found) == MAX_ERRORS
    assert found[-1].message == "unknown key k99 (and 50 more errors in this file)"


@pytest.mark.parametrize("spelling", ["strict", "STRICT", "Strict"])
def test_words_are_read_in_any_case(file: Path, spelling: str) -> None:
    file.write_text(
        f"{MANIFEST}data_architecture: {{naming: {{enforcement: {spelling}}}}}\n"
        f"classification_levels: [public, Internal]\n"
    )
    document = load_manifest(file).document
    assert document.data_architecture
    assert document.data_architecture.naming
    assert document.data_architecture.naming.enforcement is NamingEnforcement.STRICT
    assert document.classification_levels == (ClassificationLevel.PUBLIC, ClassificationLevel.INTERNAL)


def test_a_column_may_have_one_class_or_several(file: Path) -> None:
    columns = "{name: a, type: text, classification: PII}, {name: b, type: text, classification: [pii, phi]}"
    file.write_text(f"{PRODUCT}output_ports: [{{name: c, schema: [{columns}]}}]\n")
    (port,) = load_product(file).document.output_ports
    assert port.columns
    assert [column.classification for column in port.columns] == [
        (FieldClass.PII,),
        (FieldClass.PII, FieldClass.PHI),
    ]


@pytest.mark.parametrize("version", ["1.10", "2", "0x10", "1e1", "-1"])
def test_an_unquoted_version_is_refused_as_it_was_written(file: Path, version: str) -> None:
    (finding,) = findings(file, MANIFEST.replace("acme", f"acme, version: {version}"))
    assert (finding.code, finding.line, finding.column) == ("FLOE-E125", 4, 33)
    assert finding.fix == f'Quote it: version: "{version}"'


@pytest.mark.parametrize("version", ["1", "v1.2", "1.2.3.4", "1.02", "1.2.3-rc1", ""])
def test_a_version_of_another_form_is_refused(file: Path, version: str) -> None:
    (finding,) = findings(file, PRODUCT.replace('"1.0"', f'"{version}"'))
    assert (finding.code, finding.line, finding.column) == ("FLOE-E126", 3, 35)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (MANIFEST.replace("floe.dev/v1", "floe.dev/v2"), "1:13 FLOE-E128"),
        (MANIFEST.replace("kind: Manifest", "kind: Deployment"), "2:7 FLOE-E128"),
        (MANIFEST.replace("kind: Manifest", "kind: [Manifest]"), "2:1 FLOE-E128"),
        (MANIFEST.replace("kind: Manifest\n", ""), "1:1 FLOE-E122"),
        (MANIFEST.replace("kind: Manifest", "kind:"), "1:1 FLOE-E122"),
        (MANIFEST.replace("apiVersion: floe.dev/v1", "apiVersion:"), "1:1 FLOE-E122"),
        (MANIFEST.replace("scope: enterprise\n", ""), "1:1 FLOE-E122"),
        (MANIFEST.replace("scope: enterprise", "scope:"), "3:1 FLOE-E122"),
        (MANIFEST.replace("{name: acme}", ""), "4:1 FLOE-E122"),
    ],
)
def test_what_kind_of_file_it_is_must_be_said(file: Path, text: str, code: str) -> None:
    assert [item[: len(code)] for item in brief(file, text)] == [code]


def test_a_manifest_is_no_product_and_a_product_no_manifest(file: Path) -> None:
    file.write_text(MANIFEST)
    with pytest.raises(FloeError, match="kind is Manifest, not DataProduct"):
        load_product(file)
    file.write_text(PRODUCT)
    with pytest.raises(FloeError, match="kind is DataProduct, not Manifest or DomainManifest"):
        load_manifest(file)


NEWER = "required_floe_version: '>=99.1'\n"


@pytest.mark.parametrize(
    "text",
    [
        MANIFEST + NEWER + "hologram: {a: 1}\nplugins: 5\n",
        NEWER + "apiVersion: floe.dev/v9\nkind: Constellation\n",
        PRODUCT + NEWER + "warp: 1\n",
        NEWER + "password: hunter2\n",
    ],
)
def test_a_file_for_a_newer_floe_is_judged_by_nothing_else(file: Path, text: str) -> None:
    (finding,) = findings(file, text)
    assert finding.code == "FLOE-E120"
    assert finding.message.startswith("needs floe ≥ 99.1; this is floe ")
    assert finding.line == text.split("\n").index(NEWER.strip()) + 1


@pytest.mark.parametrize("bound", [">=0", ">=0.1", ">= 0.1.0"])
def test_a_bound_that_this_floe_meets_is_no_finding(file: Path, bound: str) -> None:
    assert brief(file, f"{MANIFEST}required_floe_version: '{bound}'\n") == []


def test_a_bound_that_cannot_be_read_is_a_finding_of_its_own(file: Path) -> None:
    assert brief(file, MANIFEST + "required_floe_version: '~=0.3'\n") == [
        "5:24 FLOE-E126 required_floe_version: ~=0.3 is not a lower bound like >=0.3"
    ]


def test_null_is_as_good_as_absent(file: Path) -> None:
    file.write_text(
        f"{MANIFEST}plugins:\ngovernance: {{quality_gates: , sql_linting: {{enforcement: ~}}}}\nquality_gates:\n"
    )
    document = load_manifest(file).document
    assert document.plugins is None
    assert document.governance
    assert document.governance.quality_gates is None
    assert document.governance.sql_linting
    assert document.governance.sql_linting.enforcement is None


def test_null_where_only_the_platform_may_speak_says_nothing(file: Path) -> None:
    file.write_text(PRODUCT + "compute:\nplugins: ~\n")
    assert compile_project(file).findings == ()


def test_a_plugin_and_a_reference_may_be_one_word(file: Path) -> None:
    file.write_text(
        f"{MANIFEST.replace('enterprise', 'domain')}secrets_backend: k8s-secrets\nparent: ../enterprise.yaml\n"
    )
    document = load_manifest(file).document
    assert document.secrets_backend
    assert (document.secrets_backend.type, document.secrets_backend.config) == ("k8s-secrets", {})
    assert document.parent
    assert document.parent.ref == "../enterprise.yaml"


ALIASES = [
    ("metadata: {name: acme, scope: domain}", Scope.DOMAIN, "scope"),
    ("quality_gates: {threshold: 70}", 70, "governance.quality_gates.threshold"),
    ("test_coverage: {min: 60}", 60, "governance.quality_gates.minimum_test_coverage"),
    ("registration: {max_attempts: 7}", 7, "identity.registration.max_attempts"),
]
BARE = "apiVersion: floe.dev/v1\nkind: Manifest\n"


def without(added: str) -> str:
    """The minimal keys that `added` does not bring itself."""
    scope = "" if "scope" in added else "scope: enterprise\n"
    return BARE + scope + ("" if "metadata" in added else "metadata: {name: acme}\n")


def value_at(document: Any, path: str) -> object:
    for step in path.split("."):
        document = getattr(document, step)
    return document


@pytest.mark.parametrize(("added", "value", "path"), ALIASES, ids=[row[2] for row in ALIASES])
def test_a_setting_at_its_alias_is_read_and_found_there(file: Path, added: str, value: object, path: str) -> None:
    text = without(added) + added + "\n"
    file.write_text(text)
    loaded = load_manifest(file)
    assert value_at(loaded.document, path) == value
    written = str(getattr(value, "value", value))
    assert loaded.place(tuple(path.split("."))).column == added.index(written) + 1
    assert loaded.place(tuple(path.split("."))).line == len(text.splitlines())


AGREE = [
    MANIFEST.replace("acme", "acme, scope: Enterprise"),
    MANIFEST.replace("kind: Manifest\nscope: enterprise", "kind: DomainManifest\nscope: Domain"),
    MANIFEST + "quality_gates: {threshold: 1}\ngovernance: {quality_gates: {threshold: 1}}\n",
    MANIFEST + "test_coverage: {min: 60}\nquality_gates: {minimum_test_coverage: 60}\n",
]
COVERAGE = "governance: {quality_gates: {minimum_test_coverage: 61}}\n"
DIFFER = [
    (MANIFEST.replace("acme", "acme, scope: domain"), "4:24 FLOE-E127 metadata.scope and scope say"),
    (MANIFEST.replace("Manifest", "DomainManifest"), "2:1 FLOE-E127 kind and scope say"),
    (MANIFEST + COVERAGE + "quality_gates: {}\n", "6:1 FLOE-E127 quality_gates and governance.quality_gates say"),
    (MANIFEST + "test_coverage:\n  min: 60\n" + COVERAGE, "6:3 FLOE-E127 test_coverage.min and governance."),
    (
        MANIFEST + "identity: {registration: {max_attempts: 1}}\nregistration: {max_attempts: 2}\n",
        "6:1 FLOE-E127 registration and identity.registration say",
    ),
]
AT_ALIAS = [
    (MANIFEST + "quality_gates:\n  threshold: 101\n", "6:14 FLOE-E126 quality_gates.threshold: 101 is not"),
    (
        MANIFEST + "quality_gates: {treshold: 1}\n",
        "5:17 FLOE-E121 unknown key quality_gates.treshold; did you mean t",
    ),
    (MANIFEST + "test_coverage: {min: a}\n", "5:22 FLOE-E126 test_coverage.min: a is not a percentage"),
    (MANIFEST + "test_coverage: {min: 1, max: 2}\n", "5:1 FLOE-E121 unknown key test_coverage"),
    (
        MANIFEST.replace("scope: enterprise", "").replace("acme", "acme, scope: x"),
        "4:31 FLOE-E124 metadata.scope: x",
    ),
]


@pytest.mark.parametrize("text", AGREE)
def test_a_setting_may_stand_at_its_alias_as_well(file: Path, text: str) -> None:
    assert brief(file, text) == []


@pytest.mark.parametrize(("text", "expected"), DIFFER, ids=[row[1] for row in DIFFER])
def test_an_alias_that_says_something_else_is_refused_there(file: Path, text: str, expected: str) -> None:
    (found,) = brief(file, text)
    assert found.startswith(expected)
    assert found.endswith("say different things")


@pytest.mark.parametrize(("text", "expected"), AT_ALIAS, ids=[row[1] for row in AT_ALIAS])
def test_a_mistake_at_an_alias_is_shown_under_the_name_that_was_written(
    file: Path, text: str, expected: str
) -> None:
    (found,) = brief(file, text)
    assert found.startswith(expected)


def test_every_key_has_one_dotted_path() -> None:
    assert "governance.quality_gates.minimum_test_coverage" in all_keys(Manifest)
    assert "data_architecture.layers.*.required_tests" in all_keys(Manifest)
    assert "output_ports.schema.classification" in all_keys(DataProduct)
    assert len(set(all_keys(Manifest))) == len(all_keys(Manifest))


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every path into a tree of data."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in inner:
        yield from places(child, (*at, step))


SEEDS = [
    parse((EXAMPLES / f"keys-{name}.yaml").read_bytes(), name).root.plain() for name in ("manifest", "product")
]
WORDS = ["", " ", "x", "é", "\n", "a" * 200, "../..", "{", "oci://x", ">=0.1", "1.0", "99%", "PT0S", "P1M"]
BLOCKS = [[], [None], [[]], {}, {"": 1}, {"type": "x"}, [{}, 5], {"a": {"b": [1]}}, ["x", ["y"]]]
ODD = st.sampled_from([None, True, 0, -1, 1.5, 10**30, *WORDS, *BLOCKS])


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_value_anywhere_is_read_or_found_with_a_code(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    document = copy.deepcopy(data.draw(st.sampled_from(SEEDS)))
    path = data.draw(st.sampled_from([path for path in places(document) if path]))
    target = document
    for step in path[:-1]:
        target = target[step]
    if isinstance(target, dict) and data.draw(st.booleans()):
        target[data.draw(st.sampled_from(["zzz", "type", "refs", "0", "a.b", "Name", "*"]))] = data.draw(ODD)
    else:
        target[path[-1]] = data.draw(ODD)
    for item in findings(tmp_path_factory.getbasetemp() / "any.yaml", json.dumps(document, indent=1)):
        assert re.fullmatch("FLOE-E1[0-4][0-9]", item.code)
        assert item.line >= 1
        assert len(item.message) < 600
