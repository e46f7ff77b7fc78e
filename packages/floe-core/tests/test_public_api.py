"""The names that other code may import from floe_core, and where they live."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module, metadata

import pytest

import floe_core

PUBLIC = {
    "CODES": "codes",
    "Context": "rules",
    "DbtModel": "enforcer",
    "DefaultPolicyEnforcer": "enforcer",
    "Enforced": "rules",
    "PolicyEnforcer": "enforcer",
    "Project": "project",
    "Rule": "rules",
    "RulePlugin": "rules",
    "ValidationResult": "enforcer",
    "enforce": "rules",
    "read_manifest": "project",
    "ClassificationLevel": "schemas.levels",
    "CompiledArtifacts": "artifacts",
    "ContractEnforcement": "schemas.levels",
    "ContractViolation": "findings",
    "DataProduct": "schemas.data_product",
    "EnforcementViolation": "findings",
    "Env": "env",
    "Finding": "findings",
    "FloeError": "findings",
    "Manifest": "schemas.manifest",
    "Policy": "policy",
    "PolicyViolation": "findings",
    "PolicyViolationError": "findings",
    "Report": "findings",
    "Severity": "findings",
    "SqlLinting": "schemas.levels",
    "ValidationError": "findings",
    "compile_project": "compile",
    "is_stale": "compiled",
    "load_manifest": "load",
    "load_product": "load",
    "merge_manifests": "merge",
    "read_artifacts": "artifacts",
    "validate_policy_inheritance": "policy",
}


def test_the_public_names_are_exactly_these() -> None:
    assert sorted(floe_core.__all__) == sorted([*PUBLIC, "__version__"])
    assert len(set(floe_core.__all__)) == len(floe_core.__all__)


@pytest.mark.parametrize(("name", "home"), PUBLIC.items())
def test_a_public_name_is_the_object_of_its_module(name: str, home: str) -> None:
    assert getattr(floe_core, name) is getattr(import_module(f"floe_core.{home}"), name)


@pytest.mark.parametrize(
    "name", ["ValidationError", "PolicyViolation", "EnforcementViolation", "ContractViolation"]
)
def test_the_four_names_of_the_specification_are_one_finding(name: str) -> None:
    assert getattr(floe_core, name) is floe_core.Finding


def test_a_policy_violation_can_be_caught_as_a_floe_error() -> None:
    assert issubclass(floe_core.PolicyViolationError, floe_core.FloeError)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match=r"module 'floe_core' has no attribute 'Manifesto'"):
        getattr(floe_core, "Manifesto")  # noqa: B009 - mypy knows that it is not there
    with pytest.raises(ImportError, match="Manifesto"):
        exec("from floe_core import Manifesto")  # noqa: S102 - the statement itself is what is tested


def test_the_version_is_that_of_the_installed_package() -> None:
    assert floe_core.__version__ == metadata.version("floe-core")


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    script = (
        "import sys, floe_core; print(sorted(m for m in sys.modules if m.startswith(('floe', 'pydantic', 'yaml'))))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['floe_core']"
