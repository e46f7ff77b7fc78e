"""The specification's `PolicyEnforcer`: the rules of a compile, for those who call them from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

from floe_core.findings import Finding, Place
from floe_core.load import Loaded
from floe_core.merge import merge_tiers
from floe_core.naming import layer_of
from floe_core.order import show
from floe_core.project import RawNode
from floe_core.resolve import Chain
from floe_core.rules import RULES, enforce
from floe_core.rules.context import Context
from floe_core.rules.engine import in_force, of_model
from floe_core.rules.naming import broken_groups, name_finding
from floe_core.rules.rule import Topic, naming
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.source import Node, Source

DbtModel = RawNode  # the specification's name for a node of dbt's manifest


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """A verdict, and the findings behind it."""

    valid: bool
    findings: tuple[Finding, ...] = ()


class PolicyEnforcer(ABC):
    """Validates pipelines against the platform."""

    @abstractmethod
    def validate_data_product(self, product: DataProduct, manifest: Manifest) -> list[Finding]:
        """Validate a data product against manifest constraints."""

    @abstractmethod
    def enforce_naming(self, model_name: str, layer: str) -> ValidationResult:
        """Enforce naming conventions based on data architecture pattern."""

    @abstractmethod
    def check_classification_compliance(self, model: DbtModel) -> list[Finding]:
        """Check if model handles classified data correctly."""


@dataclass(frozen=True)
class DefaultPolicyEnforcer(PolicyEnforcer):
    """The rules that `floe compile` runs, on the same context."""

    context: Context

    @classmethod
    def of(cls, product: DataProduct, manifest: Manifest) -> DefaultPolicyEnforcer:
        """An enforcer for documents that come from no file; its findings stand at the first line."""
        chain = Chain(_unfiled(product, "floe.yaml"), (_unfiled(manifest, "manifest.yaml"),))
        merged, _ = merge_tiers(chain.tiers())
        return cls(Context(chain.product, chain, merged))

    def validate_data_product(self, product: DataProduct, manifest: Manifest) -> list[Finding]:
        """Everything that steps 3 and 4 of a compile find for this product under this manifest.

        Where they are the documents of the enforcer's own context, findings keep their places in its files.
        """
        if product is self.context.product.document and manifest is self._nearest:
            return enforce(self.context).findings
        chain = Chain(_unfiled(product, "floe.yaml"), (_unfiled(manifest, "manifest.yaml"),))
        merged, weakenings = merge_tiers(chain.tiers())
        other = replace(self.context, product=chain.product, chain=chain, merged=merged)
        return [*weakenings, *enforce(other).findings]

    def enforce_naming(self, model_name: str, layer: str) -> ValidationResult:
        """Whether a name is legal, and is one of the layer; an empty layer asks for the name alone."""
        context, place = self.context, Place(model_name)
        severity = naming(context.merged)
        if severity is None:
            return ValidationResult(valid=True)
        if broken := broken_groups(model_name, context.merged):
            finding = name_finding(model_name, context.chain, context.merged, broken, place)
        elif layer and (said := layer_of(model_name, context.pattern)) != layer:
            message = f"Model '{model_name}' violates naming convention"
            expected = f"{layer}_*" if layer in context.layers else show(context.layers)
            finding = Finding("FLOE-E201", message, place, expected=expected, actual=said or "no layer")
        else:
            return ValidationResult(valid=True)
        return ValidationResult(False, (replace(finding, severity=severity),))

    def check_classification_compliance(self, model: DbtModel) -> list[Finding]:
        """What the rules about classified data find in one model of the context's project."""
        rows = [*in_force(self.context, [rule for rule in RULES if rule.topic is Topic.CLASSIFICATION])]
        found = (project for project in self.context.projects if model.unique_id in project.manifest.nodes)
        return [
            hit.finding
            for project in found
            for hit in of_model(self.context, self.context.model(model, project), rows)
        ]

    @property
    def _nearest(self) -> Manifest | None:
        return self.context.chain.manifests[-1].document if self.context.chain.manifests else None


D = TypeVar("D", Manifest, DataProduct)


def _unfiled(document: D, name: str) -> Loaded[D]:
    return Loaded(document, Source(name, Node(None, 1, 1)))
