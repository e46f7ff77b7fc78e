"""A real catalog on SQLite for every test that asks for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # sqlite_catalog, also for processes that tests start

from sqlite_catalog import SqliteCatalog


@pytest.fixture
def catalog(tmp_path: Path) -> SqliteCatalog:
    return SqliteCatalog(tmp_path)
