"""The files of this repository, as the tests of the docs see them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FLOE = Path(sys.executable).with_name("floe")
UPDATE = bool(os.environ.get("FLOE_UPDATE"))
SKIPPED = {"build", "dist", "mutants", "node_modules", "target", "dbt_packages"}


def pages() -> list[str]:
    """Every Markdown file that belongs to the repository."""
    every = (path.relative_to(ROOT) for path in ROOT.rglob("*.md"))
    return sorted(path.as_posix() for path in every if not any(map(_is_skipped, path.parts[:-1])))


def _is_skipped(folder: str) -> bool:
    return folder in SKIPPED or (folder.startswith(".") and folder != ".github")


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def keep_current(page: str, expected: str) -> None:
    """The file holds the text that it should; with FLOE_UPDATE (`make docs`) it is written."""
    path = ROOT / page
    if UPDATE:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(expected, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == expected, f"{page} is out of date: run make docs"  # noqa: S101
