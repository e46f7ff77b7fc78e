"""A product's folder that tests fill with files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from floe_core.findings import Finding, FloeError
from floe_core.transforms import TransformRequest
from floe_dbt.transform import DbtTransform

LAYERS = {"bronze_": "bronze", "silver_": "silver", "gold_": "gold"}


@dataclass
class Product:
    """A product folder, and where floe may write for it."""

    folder: Path
    work: Path
    said: list[str] = field(default_factory=list)

    def put(self, path: str, text: str) -> None:
        """Write a file of the product."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"), "utf-8")

    def request(self, path: str = "models", **settings: Any) -> TransformRequest:
        (self.folder / "floe.yaml").parent.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "floe.yaml").exists():
            self.put("floe.yaml", f"kind: DataProduct\ntransforms:\n  - type: dbt\n    path: {path}\n")
        settings = {"layers": LAYERS, "namespace": "sales.customer_360", **settings}
        return TransformRequest(product=self.folder, path=path, work=self.work, **settings)

    def manifest(self, path: str = "models", **settings: Any) -> dict[str, Any]:
        """The manifest that floe makes, read back from its file."""
        file = DbtTransform().make_manifest(self.request(path, **settings), self.said.append)
        read: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return read

    def refusal(self, path: str = "models", **settings: Any) -> tuple[Finding, ...]:
        """What floe refuses to make a manifest for."""
        with pytest.raises(FloeError) as caught:
            self.manifest(path, **settings)
        return caught.value.findings

    def refused(self, path: str = "models", **settings: Any) -> list[str]:
        """The same as `path:line CODE`, paths relative to the product."""
        return [
            f"{Path(item.path).relative_to(self.folder.resolve()).as_posix()}:{item.line} {item.code}"
            for item in self.refusal(path, **settings)
        ]
