"""Where a product's tables live: `{domain}.{product}.{layer}`, spelt exactly as Spark spells it.

dbt-spark compares schema names as text. A catalog in front, a capital or a backtick makes it take an existing table
for a missing one and replace it, silently and with its history, so nothing but plain lower-case names gets through.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def as_identifier(name: str) -> str:
    """A name of floe.yaml as catalogs as_identifier it: customer-360 is customer_360."""
    return name.lower().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Namespace:
    """The namespace of a product, and those of its layers."""

    domain: str
    product: str
    nested: bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        parts = (as_identifier(self.domain), as_identifier(self.product))
        return parts if self.nested else ("__".join(parts),)

    def layer(self, layer: str) -> tuple[str, ...]:
        return (*self.parts, layer) if self.nested else (f"{self.parts[0]}__{layer}",)

    def holds(self, parts: tuple[str, ...]) -> bool:
        """Whether a namespace is this product's own, or one of its layers."""
        if not self.nested:
            own = self.parts[0]
            return len(parts) == 1 and (parts[0] == own or parts[0].startswith(f"{own}__"))
        return parts[:2] == self.parts and len(parts) <= 3 and all(_PART.fullmatch(part) for part in parts)

    def __str__(self) -> str:
        return ".".join(self.parts)
