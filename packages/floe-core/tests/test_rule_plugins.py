"""Rules of other packages: named in a manifest, found in real distributions, and never passed over in silence."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rule_context import context, model

from floe_core.findings import Finding
from floe_core.rules import enforce

HEAD = """
from floe_core.codes import Code, Exit
from floe_core.findings import Finding, Place, Severity
from floe_core.rules import RulePlugin

ROW = Code("ACME-001", "No banner", Exit.FINDINGS, "Readers must know.", "Add a banner.")
"""
BANNER = """
class Banner(RulePlugin):
    api_version = 1
    codes = (ROW,)
    def check(self, context, config):
        for model in context.models():
            if not model.node.all_meta.get(config["field"]):
                yield self.finding("ACME-001", f"{model.name} has no banner", model.places.code(model.node))
"""

Install = Callable[[str], None]


@pytest.fixture(name="install")
def install_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a distribution with one rule, `banner`, on sys.path."""

    def install(code: str) -> None:
        info = tmp_path / "acme_rules-1.0.dist-info"
        info.mkdir()
        (tmp_path / "acme_rules_code.py").write_text(HEAD + code)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[floe.rules]\nbanner = acme_rules_code:Banner\n")
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    sys.modules.pop("acme_rules_code", None)


def found(*rules: Mapping[str, Any], **meta: Any) -> list[Finding]:
    tier = {"governance": {"custom_rules": list(rules)}}
    return enforce(context(tier, nodes=(model("gold_a", meta=meta),))).findings


RULE = {"type": "plugin", "name": "banner", "config": {"field": "banner"}}


def test_a_rule_of_another_package_runs_with_its_own_code_and_config(install: Install) -> None:
    install(BANNER)
    [finding] = found(RULE)
    assert (finding.code, finding.message) == ("ACME-001", "gold_a has no banner")
    assert finding.why == "Readers must know."
    assert finding.fix == "Add a banner."
    assert finding.to_json()["docs"].endswith("#acme-001")
    assert found(RULE, banner="yes") == []


def test_an_installed_rule_that_no_manifest_names_does_not_run(install: Install) -> None:
    install("raise SystemExit('imported')\n" + BANNER)
    assert found() == []


def test_a_rule_that_is_not_installed_could_not_be_checked() -> None:
    [finding] = found({"type": "plugin", "name": "absent"})
    assert finding.code == "FLOE-E801"
    assert finding.blocks


@pytest.mark.parametrize(
    ("code", "expected", "message"),
    [
        ("raise RuntimeError('no')", "FLOE-E802", "RuntimeError: no"),
        ("class Banner: pass", "FLOE-E803", "is not a RulePlugin"),
        (BANNER.replace("api_version = 1", "api_version = 9"), "FLOE-E804", "plugin API 9"),
        (BANNER.replace("def check", "def chekc"), "FLOE-E803", "lacks check"),
        (BANNER.replace('config["field"]', 'config["x"]'), "FLOE-E809", "the rule banner failed: KeyError: 'x'"),
        (BANNER.replace("codes = (ROW,)", "codes = ()"), "FLOE-E809", "StopIteration"),
        (BANNER.replace("yield self.finding", "yield print"), "FLOE-E803", "no finding of its own"),
        (
            BANNER.replace('self.finding("ACME-001"', 'Finding("FLOE-E201"'),
            "FLOE-E803",
            "no finding of its own",
        ),
        (
            BANNER.replace("(ROW,)", "(Code('FLOE-E999', '', Exit.FINDINGS, '', ''),)"),
            "FLOE-E803",
            "FLOE-E999",
        ),
        (BANNER.replace("(ROW,)", "(Code('ACME-2', '', Exit.BUG, '', ''),)"), "FLOE-E803", "ACME-2"),
    ],
)
def test_a_broken_rule_is_named_and_never_a_pass(install: Install, code: str, expected: str, message: str) -> None:
    install(code)
    [finding] = found(RULE)
    assert finding.code == expected
    assert message in finding.message
    assert finding.blocks
    assert finding.row.exit == 3


def test_two_rules_of_one_name_with_other_settings_both_run(install: Install) -> None:
    install(BANNER)
    assert len(found(RULE, {**RULE, "config": {"field": "other"}})) == 2
