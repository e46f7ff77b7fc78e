"""Lets tests import the modules beside them, and keeps their scratch work out of the user's cache."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("FLOE_CACHE")
    os.environ["FLOE_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    os.environ.pop("FLOE_CACHE")
    if before is not None:
        os.environ["FLOE_CACHE"] = before
