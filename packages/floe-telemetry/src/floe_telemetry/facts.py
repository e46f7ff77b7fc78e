"""Who reports: the product and its platform, as attributes and facets say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floe_telemetry import names

if TYPE_CHECKING:  # whoever has artifacts has loaded this already; whoever has none need not
    from floe_core.artifacts import CompiledArtifacts


@dataclass(frozen=True, slots=True)
class Facts:
    """What every span, metric and lineage event says about its origin."""

    product: str
    version: str
    mode: str
    namespace: str
    floe_version: str
    domain: str = ""
    enterprise: str = ""

    @classmethod
    def of(cls, artifacts: CompiledArtifacts) -> Facts:
        tiers = {item.scope: item.name for item in artifacts.inheritance if artifacts.mode == "mesh"}
        return cls(
            product=artifacts.metadata.product_name,
            version=artifacts.metadata.product_version,
            mode=artifacts.mode,
            namespace=artifacts.observability.namespace,
            floe_version=artifacts.metadata.floe_version,
            domain=tiers.get("domain", ""),
            enterprise=tiers.get("enterprise", ""),
        )

    @property
    def producer(self) -> str:
        """The URI that lineage events name as their origin."""
        return f"https://floe.dev/floe/{self.floe_version}"

    def attributes(self) -> dict[str, str]:
        """The resource of every span and metric."""
        said = {
            names.NAMESPACE: self.namespace,
            names.PRODUCT_NAME: self.product,
            names.PRODUCT_VERSION: self.version,
            names.MODE: self.mode,
            names.FLOE_VERSION: self.floe_version,
            names.DOMAIN: self.domain,
            names.ENTERPRISE: self.enterprise,
        }
        return {attribute.name: value for attribute, value in said.items() if value}
