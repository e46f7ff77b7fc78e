"""Lets the tests of this folder import the modules beside them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from products import Product


@pytest.fixture
def product(tmp_path: Path) -> Product:
    return Product(tmp_path / "customer-360", tmp_path / "work")
