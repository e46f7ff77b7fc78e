"""Lets tests import the modules beside them, and keeps their scratch work out of the user's cache."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True, scope="module")  # no longer: what other packages' tests have fetched is in the cache
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLOE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
