"""A real server for all tests here, and a proxy in front of it for each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest
from floe_testing.services.proxy import Proxy, fault_proxy


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs the server starts it."""
    for item in items:
        if "server" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.service)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with required(), iceberg_rest(tmp_path_factory.mktemp("rest")) as uri:
        yield uri


@pytest.fixture
def proxy(server: str) -> Iterator[Proxy]:
    with fault_proxy(server) as running:
        yield running
