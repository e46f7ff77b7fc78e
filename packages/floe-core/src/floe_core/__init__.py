"""floe-core: what a valid platform is, and what is stricter than what.

The names below are the public API. Each is imported on first use, so that `floe --version` stays instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from floe_core.artifacts import CompiledArtifacts as CompiledArtifacts
    from floe_core.artifacts import read_artifacts as read_artifacts
    from floe_core.codes import CODES as CODES
    from floe_core.compile import compile_project as compile_project
    from floe_core.compiled import is_stale as is_stale
    from floe_core.enforcer import DbtModel as DbtModel
    from floe_core.enforcer import DefaultPolicyEnforcer as DefaultPolicyEnforcer
    from floe_core.enforcer import PolicyEnforcer as PolicyEnforcer
    from floe_core.enforcer import ValidationResult as ValidationResult
    from floe_core.env import Env as Env
    from floe_core.findings import ContractViolation as ContractViolation
    from floe_core.findings import EnforcementViolation as EnforcementViolation
    from floe_core.findings import Finding as Finding
    from floe_core.findings import FloeError as FloeError
    from floe_core.findings import PolicyViolation as PolicyViolation
    from floe_core.findings import PolicyViolationError as PolicyViolationError
    from floe_core.findings import Report as Report
    from floe_core.findings import Severity as Severity
    from floe_core.findings import ValidationError as ValidationError
    from floe_core.load import load_manifest as load_manifest
    from floe_core.load import load_product as load_product
    from floe_core.merge import merge_manifests as merge_manifests
    from floe_core.policy import Policy as Policy
    from floe_core.policy import validate_policy_inheritance as validate_policy_inheritance
    from floe_core.project import Project as Project
    from floe_core.project import read_manifest as read_manifest
    from floe_core.rules import Context as Context
    from floe_core.rules import Enforced as Enforced
    from floe_core.rules import Rule as Rule
    from floe_core.rules import RulePlugin as RulePlugin
    from floe_core.rules import enforce as enforce
    from floe_core.schemas.data_product import DataProduct as DataProduct
    from floe_core.schemas.levels import ClassificationLevel as ClassificationLevel
    from floe_core.schemas.levels import ContractEnforcement as ContractEnforcement
    from floe_core.schemas.levels import SqlLinting as SqlLinting
    from floe_core.schemas.manifest import Manifest as Manifest

_HOMES = {
    "artifacts": ("CompiledArtifacts", "read_artifacts"),
    "codes": ("CODES",),
    "compile": ("compile_project",),
    "enforcer": ("DbtModel", "DefaultPolicyEnforcer", "PolicyEnforcer", "ValidationResult"),
    "compiled": ("is_stale",),
    "env": ("Env",),
    "findings": (
        "ContractViolation",
        "EnforcementViolation",
        "Finding",
        "FloeError",
        "PolicyViolation",
        "PolicyViolationError",
        "Report",
        "Severity",
        "ValidationError",
    ),
    "load": ("load_manifest", "load_product"),
    "merge": ("merge_manifests",),
    "policy": ("Policy", "validate_policy_inheritance"),
    "project": ("Project", "read_manifest"),
    "rules": ("Context", "Enforced", "Rule", "RulePlugin", "enforce"),
    "schemas.data_product": ("DataProduct",),
    "schemas.levels": ("ClassificationLevel", "ContractEnforcement", "SqlLinting"),
    "schemas.manifest": ("Manifest",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*_HOME_OF, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'floe_core' has no attribute {name!r}")
    return getattr(import_module(f"floe_core.{_HOME_OF[name]}"), name)
