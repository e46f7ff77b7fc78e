"""Where a product's dbt project is."""

from __future__ import annotations

import re
from pathlib import Path

from floe_core.findings import Finding, FloeError, Place
from floe_core.transforms import TransformRequest

PROJECT_FILE = "dbt_project.yml"


def find_project(request: TransformRequest) -> Path | None:
    """The folder of the nearest dbt_project.yml from `path` up to the product's folder; None when there is none."""
    product, start = request.product.resolve(), (request.product / request.path).resolve()
    if not start.is_relative_to(product):
        raise _refuse(request, "FLOE-E302", f"path {request.path!r} leads out of the product's folder")
    if not start.exists():
        raise _refuse(request, "FLOE-E301", f"path {request.path!r} does not exist")
    folders = [folder for folder in (start, *start.parents) if folder.is_relative_to(product)]
    return next((folder for folder in folders if (folder / PROJECT_FILE).is_file()), None)


def line_of(file: Path, pattern: str) -> int:
    """The first line of a file in which the regular expression is found; 1 when there is none."""
    try:
        lines = file.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return 1
    return next((number for number, line in enumerate(lines, 1) if re.search(pattern, line)), 1)


def _refuse(request: TransformRequest, code: str, message: str) -> FloeError:
    file = request.product / "floe.yaml"
    line = line_of(file, rf"\bpath:\s*[\"']?{re.escape(request.path)}")
    return FloeError(Finding(code, message, Place(str(file), line)))
