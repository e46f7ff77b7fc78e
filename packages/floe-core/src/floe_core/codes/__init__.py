"""Every code floe can print: one row, one meaning, never reused.

Terminal output, `floe explain`, the reference docs and the exit code all read this table.
"""

from __future__ import annotations

from floe_core.codes.contracts import CONTRACTS
from floe_core.codes.identity import IDENTITY, IDENTITY_RULES, UNKNOWN_PRODUCT, UNPROVEN
from floe_core.codes.models import CLASSIFICATION, CUSTOM, DBT_PACKAGES, DBT_PROJECT, GATES, NAMING, SEMANTIC, SQL
from floe_core.codes.plugins import ARTIFACTS, PLUGINS
from floe_core.codes.reading import BUG, DBT_MANIFEST, LOAD, RESOLVE, STALE_MANIFEST, UNREACHABLE, USAGE
from floe_core.codes.row import DOCS, Code, Exit
from floe_core.codes.running import CHECKS, DBT_RUN, ENGINE, GUARDRAILS, PUBLICATION, STAGING
from floe_core.codes.tiers import APPROVAL, WEAKENING

GROUPS = (
    BUG,
    USAGE,
    LOAD,
    DBT_MANIFEST,
    STALE_MANIFEST,
    RESOLVE,
    UNREACHABLE,
    WEAKENING,
    APPROVAL,
    NAMING,
    GATES,
    DBT_PROJECT,
    DBT_PACKAGES,
    SEMANTIC,
    SQL,
    CLASSIFICATION,
    CUSTOM,
    CONTRACTS,
    IDENTITY_RULES,
    UNPROVEN,
    UNKNOWN_PRODUCT,
    IDENTITY,
    ENGINE,
    DBT_RUN,
    STAGING,
    PUBLICATION,
    GUARDRAILS,
    CHECKS,
    PLUGINS,
    ARTIFACTS,
)

CODES: dict[str, Code] = {code.id: code for group in GROUPS for code in group}

__all__ = [
    "APPROVAL",
    "ARTIFACTS",
    "BUG",
    "CHECKS",
    "CLASSIFICATION",
    "CODES",
    "CONTRACTS",
    "CUSTOM",
    "DBT_MANIFEST",
    "DBT_PACKAGES",
    "DBT_PROJECT",
    "DBT_RUN",
    "DOCS",
    "ENGINE",
    "GATES",
    "GROUPS",
    "GUARDRAILS",
    "IDENTITY",
    "IDENTITY_RULES",
    "LOAD",
    "NAMING",
    "PLUGINS",
    "PUBLICATION",
    "RESOLVE",
    "SEMANTIC",
    "SQL",
    "STAGING",
    "STALE_MANIFEST",
    "UNKNOWN_PRODUCT",
    "UNPROVEN",
    "UNREACHABLE",
    "USAGE",
    "WEAKENING",
    "Code",
    "Exit",
]
