"""The line: which stages run, what stops it, what it writes, and what it says meanwhile."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import standins

from floe_core.artifacts import FILE, read_artifacts
from floe_core.compile import Outcome, compile_project
from floe_core.env import Env, Identity, Spec, Verdict
from floe_core.findings import Finding, FloeError, Place, Severity
from floe_core.line import Line

PRODUCT = """\
apiVersion: floe.dev/v1
kind: DataProduct
metadata: {name: customer-360, version: "1.0", repository: github.com/acme/x}
platform: ../acme.yaml
transforms: [{type: dbt, path: models}]
"""
PLATFORM = """\
apiVersion: floe.dev/v1
kind: Manifest
metadata: {name: acme, version: "1.2.3"}
scope: enterprise
plugins: {compute: duckdb}
data_architecture: {pattern: medallion}
"""
STEPS = [
    "Loading platform artifacts",
    "Validating product identity",
    "Validating naming conventions",
    "Checking quality gates",
    "Validating data contracts",
]
LAST = "Registering and writing artifacts"


@pytest.fixture
def product(tmp_path: Path) -> Path:
    folder = tmp_path / "customer-360"
    (folder / "models").mkdir(parents=True)
    (tmp_path / "acme.yaml").write_text(PLATFORM)
    (folder / "floe.yaml").write_text(PRODUCT)
    (folder / "dbt_project.yml").write_text("name: p\n")
    (folder / "models" / "bronze_customers.sql").write_text("select 1 as id\n")
    return folder


@dataclass
class Diary:
    """Writes down what a line shows."""

    steps: list[str] = field(default_factory=list)
    lines: dict[str, list[str]] = field(default_factory=dict)

    def step(self, number: int, of: int, title: str) -> None:
        assert of == 6
        self.steps.append(title)
        self.lines[title] = []
        if title != "Compilation FAILED":
            assert number == len(self.steps)

    def note(self, text: str) -> None:
        self.lines[self.steps[-1]].append(text)

    def working(self, text: str) -> None:
        self.note(f"… {text}")

    def found(self, findings: Sequence[Finding]) -> None:
        self.lines[self.steps[-1]] += [f"! {item.code}" for item in findings]


def compile_here(product: Path, env: Env | None = None) -> tuple[Outcome, Diary]:
    diary = Diary()
    return compile_project(product, env or standins.env(), Line(diary)), diary


def codes(outcome: Outcome) -> list[str]:
    return [item.code for item in outcome.findings]


def test_a_clean_product_goes_through_six_steps_and_is_written(product: Path) -> None:
    outcome, diary = compile_here(product)
    assert codes(outcome) == []
    assert diary.steps == [*STEPS, LAST]
    assert diary.lines["Loading platform artifacts"] == [
        "Platform version: 1.2.3 (acme)",
        "Compute: duckdb (enforced)",
        "Architecture: medallion (warn enforcement)",
    ]
    assert diary.lines["Validating product identity"] == [
        "Product ID: default.customer_360",
        "Repository: github.com/acme/x",
        "not checked: no catalog plugin can say who owns it",
    ]
    naming = diary.lines["Validating naming conventions"]
    assert naming[0].startswith("… Parsing the dbt project (dbt ")
    assert naming[1:] == ["… working", "bronze_customers: valid (bronze layer)"]
    assert outcome.written.path == product / FILE
    artifacts = read_artifacts(product / FILE)
    assert [(model.name, model.layer) for model in artifacts.models] == [("bronze_customers", "bronze")]
    assert outcome.not_checked == {"identity": "no catalog plugin can say who owns it"}


def test_a_finding_is_shown_in_its_step_and_nothing_is_written(product: Path) -> None:
    (product / "models" / "stg_payments.sql").write_text("select 1")
    outcome, diary = compile_here(product)
    assert codes(outcome) == ["FLOE-E163"]
    assert diary.steps == [*STEPS, "Compilation FAILED"]
    assert diary.lines["Validating naming conventions"][-1] == "! FLOE-E163"
    assert not (product / FILE).exists()


def test_when_something_blocks_the_artifacts_of_before_stay(product: Path) -> None:
    compile_here(product)
    before = (product / FILE).read_bytes()
    (product / "models" / "stg_payments.sql").write_text("select 1")
    compile_here(product)
    assert (product / FILE).read_bytes() == before


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("floe.yaml", "kind: [", "FLOE-E101"),
        ("../acme.yaml", "kind: [", "FLOE-E101"),
        ("floe.yaml", f"{PRODUCT}compute: spark\n", "FLOE-E170"),
    ],
)
def test_load_resolve_and_merge_stop_the_line(product: Path, name: str, text: str, code: str) -> None:
    (product / name).write_text(text)
    standin = standins.StandIn()
    outcome, diary = compile_here(product, standins.env(standin))
    assert codes(outcome) == [code]
    assert diary.steps == ["Loading platform artifacts", "Compilation FAILED"]
    assert diary.lines["Loading platform artifacts"] == [f"! {code}"]
    assert standin.asked == []


CANNOT_PARSE = Finding("FLOE-E163", "dbt says no", Place("models/x.sql", 3))


@dataclass
class Platform:
    """A catalog and a contract plugin that write down what they are asked."""

    asked: list[str] = field(default_factory=list)
    down: FloeError | None = None
    finds: tuple[Finding, ...] = ()

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise self.down

    def validate(self, spec: Spec) -> tuple[Identity, list[Finding]]:
        self._ask(f"validate {spec.namespace}")
        return Identity(("Namespace available",)), []

    def register(self, spec: Spec, identity: Identity, contracts: Sequence[Any]) -> tuple[Identity, list[Finding]]:
        del identity
        self._ask(f"register {spec.namespace} with {len(contracts)}")
        return Identity(("Product registered in catalog",), "2026-01-01T00:00:00Z"), []

    def read(self, spec: Spec, projects: Sequence[Any]) -> tuple[Sequence[Any], list[Finding]]:
        del spec
        self._ask(f"read {len(projects)}")
        return (Promise(),), []

    def check(
        self, spec: Spec, contracts: Sequence[Any], models: Sequence[Any], unanswered: Sequence[Any] = ()
    ) -> Verdict:
        del spec, models, unanswered
        self._ask(f"check {len(contracts)}")
        return Verdict(("customers 1.0.0: valid",), self.finds)


class Promise:
    def to_json(self) -> dict[str, Any]:
        return {"name": "customers", "version": "1.0.0"}


def test_a_project_that_dbt_cannot_parse_is_one_finding_and_the_other_steps_run(product: Path) -> None:
    (product.parent / "acme.yaml").write_text(PLATFORM + "data_contracts: {enforcement: block}\n")
    platform = Platform()
    standin = standins.StandIn(refuses=FloeError(CANNOT_PARSE))
    env = standins.env(standin, identities=platform, contracts=platform)
    outcome, diary = compile_here(product, env)
    assert outcome.findings == (CANNOT_PARSE,)
    assert diary.lines["Validating naming conventions"][1:] == ["not checked: dbt says no", "! FLOE-E163"]
    assert diary.lines["Checking quality gates"] == ["not checked: dbt says no"]
    assert diary.lines["Validating data contracts"] == ["customers 1.0.0: valid"]
    assert platform.asked == ["validate default.customer_360", "read 0", "check 1"]
    assert diary.steps[-1] == "Compilation FAILED"


def test_a_catalog_that_is_down_leaves_its_step_unchecked_and_the_others_run(product: Path) -> None:
    (product / "models" / "stg_payments.sql").write_text("select 1")
    down = FloeError(Finding("FLOE-E802", "the catalog does not answer", Place("acme.yaml", 5)))
    outcome, diary = compile_here(product, standins.env(identities=Platform(down=down)))
    assert codes(outcome) == ["FLOE-E802", "FLOE-E163"]
    assert diary.lines["Validating product identity"][2:] == [
        "not checked: the catalog does not answer",
        "! FLOE-E802",
    ]
    assert outcome.not_checked == {"identity": "the catalog does not answer"}


def test_contracts_that_are_off_are_not_checked_and_said_to_be_off(product: Path) -> None:
    platform = Platform()
    _, diary = compile_here(product, standins.env(contracts=platform))
    assert diary.lines["Validating data contracts"] == ["data contracts are off"]
    assert platform.asked == ["read 1"]


def test_contracts_that_nothing_can_check_are_said_to_be_unchecked(product: Path) -> None:
    (product.parent / "acme.yaml").write_text(PLATFORM + "data_contracts: {enforcement: warn}\n")
    outcome, diary = compile_here(product)
    assert diary.lines["Validating data contracts"] == ["not checked: no contract plugin is installed"]
    assert outcome.not_checked["data_contracts"] == "no contract plugin is installed"


@pytest.mark.parametrize(
    ("level", "keys", "asked", "said"),
    [
        ("register", {}, [], "would register default.customer_360 (not a git repository"),
        ("register", {"register": True}, ["register default.customer_360 with 1"], "Product registered in catalog"),
        ("register", {"check": True, "register": True}, [], "would register default.customer_360 (--check)"),
        ("warn", {"register": True}, [], "Artifacts: target/floe/compiled_artifacts.json"),
    ],
)
def test_registration_comes_last_and_only_when_it_may(
    product: Path, monkeypatch: pytest.MonkeyPatch, level: str, keys: dict[str, Any], asked: list[str], said: str
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(product.parent.parent))
    (product.parent / "acme.yaml").write_text(PLATFORM + f"identity: {{enforcement: {level}}}\n")
    platform = Platform()
    outcome, diary = compile_here(product, standins.env(identities=platform, contracts=platform, **keys))
    assert platform.asked == ["validate default.customer_360", "read 1", *asked]
    assert diary.lines[LAST][0].startswith(said)
    assert outcome.written.artifacts
    assert outcome.written.artifacts.identity.namespace_registered is bool(asked)
    assert outcome.written.artifacts.data_contracts == ({"name": "customers", "version": "1.0.0"},)


@pytest.mark.parametrize("strict", [False, True])
def test_warnings_keep_artifacts_from_being_written_only_when_strict(product: Path, strict: bool) -> None:
    (product.parent / "acme.yaml").write_text(PLATFORM + "data_contracts: {enforcement: warn}\n")
    warning = Finding("FLOE-E163", "odd", Place("x"), Severity.WARNING)
    outcome, _ = compile_here(product, standins.env(contracts=Platform(finds=(warning,)), strict=strict))
    assert codes(outcome) == ["FLOE-E163"]
    assert (product / FILE).exists() is not strict


def test_without_an_environment_the_rules_of_floe_judge(product: Path) -> None:
    (product.parent / "acme.yaml").write_text(PLATFORM + "approved_sources: [salesforce]\n")
    (product / "floe.yaml").write_text(
        PRODUCT.rpartition("transforms")[0] + "ingestion: [{type: dlt, source: stripe}]\n"
    )
    outcome = compile_project(product)
    assert codes(outcome) == ["FLOE-E172"]
    assert list(outcome.not_checked) == ["identity"]


# dbt


def test_a_manifest_that_is_up_to_date_is_not_made_again(product: Path) -> None:
    standin = standins.StandIn()
    compile_here(product, standins.env(standin))
    outcome, diary = compile_here(product, standins.env(standin))
    assert len(standin.asked) == 1
    assert diary.lines["Validating naming conventions"] == ["bronze_customers: valid (bronze layer)"]
    (product / "models" / "bronze_orders.sql").write_text("select 2")
    outcome, _ = compile_here(product, standins.env(standin))
    assert len(standin.asked) == 2
    assert outcome.summary == {"models": 2}


def test_a_manifest_that_was_damaged_or_cut_off_is_made_again(product: Path) -> None:
    standin = standins.StandIn()
    compile_here(product, standins.env(standin))
    folder = product / "target" / "floe" / "dbt" / "project"
    for number, (name, text) in enumerate(
        [("manifest.json", "{"), ("fingerprint.json", "{"), ("fingerprint.json", "[]"), ("fingerprint.json", "{}")],
        2,
    ):
        (folder / name).write_text(text)
        compile_here(product, standins.env(standin))
        assert len(standin.asked) == number


def test_the_plugin_is_told_what_it_needs(product: Path) -> None:
    ports = "output_ports: [{name: customers, table: bronze_customers, published_as: customers}]\n"
    (product / "floe.yaml").write_text(PRODUCT.replace("path: models", "path: models, vars: {a: 1}") + ports)
    standin = standins.StandIn()
    compile_here(product, standins.env(standin))
    [request] = standin.asked
    assert (request.product, request.path, request.vars) == (product.resolve(), "models", {"a": 1})
    assert request.work == product.resolve() / "target" / "floe" / "dbt" / "project"
    assert request.namespace == "default.customer_360"
    assert request.layers == {"bronze_": "bronze", "silver_": "silver", "gold_": "gold"}
    assert request.published == {"bronze_customers": "customers"}


def test_two_folders_of_one_project_are_one_manifest_and_two_projects_are_two(product: Path) -> None:
    for folder in ("models/deep", "other/models"):
        (product / folder).mkdir(parents=True)
    (product / "other" / "dbt_project.yml").write_text("name: o\n")
    paths = ("models", "models/deep", "other/models")
    transforms = ", ".join(f"{{type: dbt, path: {path}}}" for path in paths)
    (product / "floe.yaml").write_text(PRODUCT.replace("[{type: dbt, path: models}]", f"[{transforms}]"))
    standin = standins.StandIn()
    compile_here(product, standins.env(standin))
    assert [(request.path, request.work.name) for request in standin.asked] == [
        ("models", "project"),
        ("other/models", "other"),
    ]


def test_without_transforms_there_is_no_dbt_and_that_is_said(product: Path) -> None:
    (product / "floe.yaml").write_text(PRODUCT.rpartition("transforms")[0])
    standin = standins.StandIn()
    _, diary = compile_here(product, standins.env(standin))
    assert standin.asked == []
    assert diary.lines["Validating naming conventions"] == ["no transforms: there is no dbt project to check"]
    assert diary.steps[-1] == LAST


def test_without_floe_dbt_the_line_that_installs_it_is_shown(
    product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("floe_core.transforms.installed", lambda _: [])
    outcome, diary = compile_here(product, Env())
    [finding] = outcome.findings
    assert (finding.code, finding.place) == ("FLOE-E801", Place(str(product / "floe.yaml"), 5, 21))
    assert "uv pip install --find-links WHEELS floe-dbt" in finding.fix
    assert diary.lines["Checking quality gates"] == [f"not checked: {finding.message}"]


def test_a_manifest_of_the_user_is_used_as_it_is(product: Path) -> None:
    manifest = product.parent / "manifest.json"
    manifest.write_text(json.dumps({"metadata": {}, "names": ["bronze_mine"]}))
    standin = standins.StandIn()
    outcome, _ = compile_here(product, standins.env(standin, dbt_manifest=manifest))
    assert codes(outcome) == ["FLOE-E145"]  # bronze_customers.sql is not in it
    (product / "models" / "bronze_customers.sql").unlink()
    outcome, _ = compile_here(product, standins.env(standin, dbt_manifest=manifest))
    assert outcome.summary == {"models": 1}
    assert standin.asked == []


def test_a_manifest_of_the_user_that_belongs_to_nothing_is_refused_and_not_left_unread(product: Path) -> None:
    text = (product / "floe.yaml").read_text()
    (product / "floe.yaml").write_text(text[: text.index("transforms:")])
    outcome, _ = compile_here(product, standins.env(dbt_manifest=product / "manifest.json"))
    [finding] = outcome.findings
    assert (finding.code, finding.path) == ("FLOE-E001", "(command line)")
    assert "no transforms" in finding.message


@pytest.mark.parametrize("own_manifest", [False, True])
def test_a_path_that_leads_nowhere_or_out_is_refused_where_it_is_written(product: Path, own_manifest: bool) -> None:
    """Also next to one that begins like it, in any spelling, and when dbt is not asked at all."""
    (product / "models-2").mkdir()
    (product.parent / "elsewhere").mkdir()
    (product / "out").symlink_to(product.parent / "elsewhere")
    manifest = product.parent / "manifest.json" if own_manifest else None
    head, _, _ = (product / "floe.yaml").read_text().partition("transforms:")
    line = head.count("\n") + 2
    for path, code in (("models-2/x", "FLOE-E301"), ("out", "FLOE-E302")):
        transforms = f'transforms:\n  - {{type: dbt, path: "{path}"}}\n  - {{type: dbt, path: models-2}}\n'
        (product / "floe.yaml").write_text(head + transforms)
        [finding] = compile_here(product, standins.env(dbt_manifest=manifest))[0].findings
        assert (finding.code, finding.place) == (code, Place(str(product / "floe.yaml"), line, 23))


# What is written, and where


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


def test_check_writes_nothing_in_the_folder(product: Path) -> None:
    before = everything(product.parent)
    standin = standins.StandIn()
    outcome, diary = compile_here(product, standins.env(standin, check=True))
    assert everything(product.parent) == before
    assert diary.lines[LAST] == ["nothing written: --check"]
    assert outcome.written.artifacts
    compile_here(product, standins.env(standin, check=True))
    assert len(standin.asked) == 1  # the cache outside remembers
    assert standin.asked[0].work.is_relative_to(os.environ["FLOE_CACHE"])


def test_check_uses_a_manifest_that_a_compile_has_made(product: Path) -> None:
    standin = standins.StandIn()
    compile_here(product, standins.env(standin))
    compile_here(product, standins.env(standin, check=True))
    assert len(standin.asked) == 1


@pytest.mark.parametrize("blocked", ["target", "target/floe", "target/floe/dbt"])
def test_a_folder_that_cannot_be_written_is_a_finding(product: Path, blocked: str) -> None:
    (product / blocked).parent.mkdir(parents=True, exist_ok=True)
    (product / blocked).write_text("a file where a folder belongs")
    outcome, diary = compile_here(product)
    assert codes(outcome) == ["FLOE-E900"]
    assert diary.steps[-1] == "Compilation FAILED"


def test_artifacts_that_cannot_be_written_leave_the_old_ones(
    product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_here(product)
    before = (product / FILE).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    (product.parent / "acme.yaml").write_text(PLATFORM.replace("1.2.3", "1.2.4"))
    outcome, _ = compile_here(product)
    [finding] = outcome.findings
    assert (finding.code, finding.path) == ("FLOE-E900", str(product / FILE))
    assert finding.message == "compiled_artifacts.json cannot be written: No space left on device"
    assert (product / FILE).read_bytes() == before
    assert sorted(path.name for path in (product / FILE).parent.iterdir()) == ["compiled_artifacts.json", "dbt"]


@pytest.mark.parametrize("pinned", ["yesterday", "", "-1", "1e9", " 5", "٣", "9" * 30])
def test_a_date_that_is_none_is_a_finding(product: Path, monkeypatch: pytest.MonkeyPatch, pinned: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", pinned)
    [finding] = compile_here(product)[0].findings
    assert (finding.code, finding.path) == ("FLOE-E001", "(environment)")
    assert repr(pinned) in finding.message
    assert "git log -1 --format=%ct" in finding.fix


# Spans


def test_each_stage_has_a_span_and_a_time(product: Path) -> None:
    opened: list[str] = []

    @contextmanager
    def span(name: str) -> Iterator[None]:
        opened.append(name)
        yield

    line = Line(span=span)
    compile_project(product, standins.env(), line)
    stages = ["tell_time", "load", "follow", "merge", "validate_identity", "read_dbt", "read_contracts", "enforce"]
    stages += ["check_contracts", "register_and_write"]
    assert opened == [f"floe.compile.{name}" for name in stages]
    assert list(line.seconds) == stages
