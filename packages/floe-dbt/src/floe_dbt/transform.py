"""The transform plugin `dbt`: a dbt project in, manifest.json out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from floe_core.transforms import TransformPlugin, TransformRequest
from floe_dbt.manifest import compile_nodes, parse, write
from floe_dbt.packages import install_packages
from floe_dbt.placement import check_placement
from floe_dbt.shadow import make_shadow


class DbtTransform(TransformPlugin):
    """Makes manifests with dbt-core, in process, on a generated profile, without Spark."""

    api_version: ClassVar[int] = 1

    def make_manifest(self, request: TransformRequest, progress: Callable[[str], None]) -> Path:
        shadow = make_shadow(request)
        install_packages(shadow, progress)
        manifest = parse(shadow)
        check_placement(shadow, manifest)
        compile_nodes(shadow, manifest)
        return write(manifest, request.work / "manifest.json")
