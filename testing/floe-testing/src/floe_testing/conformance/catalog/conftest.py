"""The plugin that the options name, products nobody else has, and processes to use them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import Any, NoReturn

import pydantic
import pytest
import yaml

from floe_core.catalog import CatalogPlugin
from floe_core.findings import FloeError
from floe_core.references import resolve_references
from floe_testing.conformance.catalog.processes import Process, processes
from floe_testing.conformance.catalog.products import claimed
from floe_testing.conformance.catalog.subject import HERE, Opens, Subject
from floe_testing.services.proxy import Proxy, fault_proxy

NewProduct = Callable[[], str]
Open = Callable[[], AbstractContextManager[Any]]


def pytest_collection_modifyitems(config: pytest.Config) -> None:
    if not config.getoption("--floe-catalog"):
        raise pytest.UsageError("name the plugin: --floe-catalog=NAME, and its settings: --floe-config=FILE")


@pytest.fixture(scope="session")
def subject(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Subject:
    """The plugin under test. One that cannot even be made is one message, not a failure of every test."""
    name, file = request.config.getoption("--floe-catalog"), request.config.getoption("--floe-config")
    try:
        found = Subject(name, read_config(file), tmp_path_factory.mktemp("home") / ".floe")
        found.make()
    except OSError as exc:
        stop(f"--floe-config: {exc}")
    except FloeError as exc:
        stop("\n".join(f"{finding.code} {finding.message}" for finding in exc.findings))
    except pydantic.ValidationError as exc:  # its own text would show the settings
        stop("\n".join(f"{file}: {'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors()))
    return found


def read_config(file: str | None) -> dict[str, Any]:
    if not file:
        return {}
    path = Path(file).absolute()
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    return resolve_references(written or {}, HERE, path.parent)


def stop(message: str) -> NoReturn:
    pytest.exit(message, returncode=pytest.ExitCode.USAGE_ERROR)


@pytest.fixture(scope="session")
def domain() -> str:
    """Of this run alone: the catalog may have seen others."""
    return f"kit{secrets.token_hex(4)}"


@pytest.fixture(scope="session")
def catalog(subject: Subject, domain: str) -> CatalogPlugin:
    """The plugin, its registry ready, and everything imported that a registration needs."""
    plugin = subject.make()
    plugin.init_registry()
    claimed(plugin, f"{domain}.first")
    return plugin


@pytest.fixture(scope="session")
def new_product(domain: str) -> NewProduct:
    """Ids that nobody has registered."""
    numbers = count(1)
    return lambda: f"{domain}.product_{next(numbers)}"


@pytest.fixture
def product(new_product: NewProduct) -> str:
    return new_product()


@pytest.fixture(scope="session")
def rounds(request: pytest.FixtureRequest) -> int:
    number: int = request.config.getoption("--floe-rounds")
    return number


@pytest.fixture(scope="session")
def crew(request: pytest.FixtureRequest, subject: Subject, catalog: CatalogPlugin) -> Iterator[Sequence[Process]]:
    """Processes that race each other."""
    del catalog  # the registry stands before they start
    with processes(subject, request.config.getoption("--floe-processes")) as running:
        yield running


@pytest.fixture
def client(catalog: CatalogPlugin) -> Open:
    """The catalog without floe in front: what anybody can do who may write to it."""
    if not isinstance(catalog, Opens):
        pytest.skip("this plugin does not show its client: it has no method `open`")
    return catalog.open


@pytest.fixture
def proxy(subject: Subject, catalog: CatalogPlugin) -> Iterator[Proxy]:
    """A proxy in front of a catalog that is reached over HTTP."""
    del catalog
    uri = str(subject.config.get("uri", ""))
    if not uri.startswith("http://"):
        pytest.skip("only the answers of a service at http:// can be lost on the way")
    with fault_proxy(uri) as running:
        yield running
