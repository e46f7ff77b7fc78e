"""What makes dbt's manifest.json: the interface of transform plugins (entry-point group `floe.transforms`).

Reading a manifest is floe-core's job; making one imports dbt, which is the plugin's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from floe_core.findings import Finding, FloeError, Place
from floe_core.merge import Merged
from floe_core.naming import LAYERS
from floe_core.plugins import PluginInterface, installed, load_plugin
from floe_core.resolve import Chain
from floe_core.schemas.data_product import TransformConfig
from floe_core.schemas.manifest import Pattern

GROUP = "floe.transforms"


@dataclass(frozen=True, slots=True)
class TransformRequest:
    """What a transform plugin needs to know about one entry of a product's `transforms`."""

    product: Path  # the folder of floe.yaml
    path: str  # transforms[].path: the dbt project is the nearest one from here up to the product
    work: Path  # where floe may write: shadow project, profile, dbt's target
    namespace: str  # {domain}.{product} as the catalog spells it
    layers: Mapping[str, str] = field(default_factory=dict)  # prefix of a model's name -> layer, "gold_" -> "gold"
    published: Mapping[str, str] = field(default_factory=dict)  # model -> table name, where a port publishes it so
    vars: Mapping[str, Any] = field(default_factory=dict)
    nested: bool = True  # whether the catalog has namespaces of several levels; else parts are joined with __


class TransformPlugin(PluginInterface):
    """Turns a dbt project into a manifest."""

    API_VERSION: ClassVar[int] = 1

    @abstractmethod
    def make_manifest(self, request: TransformRequest, progress: Callable[[str], None]) -> Path:
        """Write manifest.json with compiled code, without an engine, and return its path.

        Raises FloeError with FLOE-E30x at dbt's own file and line when dbt cannot parse the project.
        """


def request_of(
    chain: Chain, merged: Merged, transform: TransformConfig, work: Path, *, nested: bool = True
) -> TransformRequest:
    """What a transform plugin is told about one of a product's transforms."""
    product = chain.product.document
    pattern = merged.get(("data_architecture", "pattern"), Pattern.CUSTOM)
    return TransformRequest(
        product=chain.product.folder.resolve(),
        path=transform.path,
        work=work,
        namespace=".".join(chain.namespace().parts),
        layers={f"{layer}_": layer for layer in LAYERS[pattern]},
        published={
            port.table or port.name: port.published_as for port in product.output_ports if port.published_as
        },
        vars=transform.vars or {},
        nested=nested,
    )


INSTALL = (
    "Install floe-dbt from the index or wheel folder that floe came from: "
    "`uv pip install --find-links WHEELS floe-dbt`. Or hand over a manifest of your own dbt with --dbt-manifest."
)


def load_transform(name: str, place: Place) -> TransformPlugin:
    """The transform plugin of that name; `place` is where the name was written."""
    if not any(plugin.name == name for plugin in installed(GROUP)):
        message = f"floe-{name} is not installed, and the {name} project has no manifest that is up to date"
        raise FloeError(Finding("FLOE-E801", message, place, fix=INSTALL))
    return load_plugin(GROUP, name, TransformPlugin, place)()  # type: ignore[type-abstract]
