"""The kit is worth something when plugins with real bugs do not pass it: one bug each, and the test it fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from floe_testing.services import required
from floe_testing.services.iceberg_rest import iceberg_rest

RunKit = Callable[..., str]

HEAD = """\
from contextlib import contextmanager
from floe_catalog_sql import SqlCatalogPlugin
from floe_catalog_rest import RestCatalogPlugin
from floe_core.catalog import Capabilities
from floe_core.identity import Actor
from floe_iceberg import IcebergCatalogPlugin
from floe_iceberg.relations import Relations

"""

CHECKS_THEN_WRITES = """\
class Broken(SqlCatalogPlugin):
    '''Looks whether the name is free and then writes, as if nobody could come in between.'''

    def register_product_identity(self, namespace, *args, **kwargs):
        if self.get_namespace_owner(namespace) is None:
            with self.open() as catalog:
                for identifier in catalog.list_tables("floe__registry"):
                    if identifier[-1].startswith("product__" + namespace.replace(".", "__") + "__"):
                        catalog.drop_table(identifier)
        return super().register_product_identity(namespace, *args, **kwargs)
"""

DECLARES_TOO_MUCH = """\
class Broken(SqlCatalogPlugin):
    '''Says that it keeps values which it cuts.'''

    capabilities = Capabilities(property_value_limit=1000)

    @contextmanager
    def open(self):
        with super().open() as catalog:
            update, create = catalog.update_namespace_properties, catalog.create_namespace
            cut = lambda values: {key: value[:200] for key, value in values.items()}
            catalog.update_namespace_properties = lambda n, r=None, u={}: update(n, r, cut(u))
            catalog.create_namespace = lambda n, p={}: create(n, cut(p))
            yield catalog
"""

BELIEVES_THE_MIRROR = """\
class Broken(SqlCatalogPlugin):
    '''Asks the readable copy who the owner is.'''

    def get_namespace_owner(self, namespace):
        with self.open() as catalog:
            found = catalog.load_namespace_properties(tuple(namespace.split(".")))
        return found.get("floe.product.repo")
"""

CALLS_FIRST = """\
class Broken(SqlCatalogPlugin):
    '''Opens the catalog before it looks whether it may.'''

    def register_product_identity(self, namespace, *args, **kwargs):
        with self.open() as catalog:
            catalog.list_namespaces()
        return super().register_product_identity(namespace, *args, **kwargs)
"""

UPDATES_FOR_ANYBODY = """\
class Broken(SqlCatalogPlugin):
    '''Takes a transfer from whoever asks.'''

    def transfer_product(self, namespace, repository, owner, **kwargs):
        kwargs["by"] = Actor(repository=self.get_namespace_owner(namespace) or "")
        return super().transfer_product(namespace, repository, owner, **kwargs)
"""

BELIEVES_ERRORS = """\
from floe_iceberg.registry import Registry

def put_once(self, name, text, _put=Registry.put_once):
    get, self.get = self.get, lambda name: None
    try:
        return _put(self, name, text)
    finally:
        self.get = get

class Broken(RestCatalogPlugin):
    '''Takes an error for the truth, and never reads back.'''

    def __init__(self, config, home):
        super().__init__(config, home)
        Registry.put_once = put_once
"""

WAITS_FOR_EVER = """\
import signal

class Broken(RestCatalogPlugin):
    '''PyIceberg's own client; somebody pulls the plug after 8 s.'''

    def client_properties(self):
        properties = super().client_properties()
        del properties["py-catalog-impl"]
        return {**properties, "type": "rest"}

    def validate_product_identity(self, *args):
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(RuntimeError("it hangs")))
        signal.alarm(8)
        return super().validate_product_identity(*args)
"""

TEARS = """\
class Broken(SqlCatalogPlugin):
    '''Says that tables change together, and changes one after the other.'''

    capabilities = Capabilities(property_value_limit=1000, atomic_commit=True)
    pointers = IcebergCatalogPlugin.pointers
    publish = IcebergCatalogPlugin.publish
"""

PUTS_IN_PLACE = """\
class Careless(Relations):
    def commit(self, change):
        self.catalog.drop_table(change.pointer.identifier)
        self.catalog.register_table(change.pointer.identifier, change.pointer.location)


class Broken(SqlCatalogPlugin):
    '''Puts the new table where the old one was, whatever has become of that.'''

    capabilities = Capabilities(property_value_limit=1000)
    relations = Careless
    pointers = IcebergCatalogPlugin.pointers
    publish = IcebergCatalogPlugin.publish
"""

SQL_BUGS = {
    "checks, then writes": (CHECKS_THEN_WRITES, "test_a_claimant_that_slept_learns_who_won"),
    "declares too much": (DECLARES_TOO_MUCH, "test_a_value_as_long_as_declared_is_kept"),
    "believes the mirror": (
        BELIEVES_THE_MIRROR,
        "test_a_property_that_says_something_else_is_noticed",
    ),
    "calls first": (CALLS_FIRST, "test_without_atomic_create_nothing_is_registered[identity]"),
    "tears": (TEARS, "test_what_somebody_writes_in_the_middle_is_never_lost"),
    "puts in place": (PUTS_IN_PLACE, "test_what_somebody_writes_in_the_middle_is_never_lost"),
    "updates for anybody": (UPDATES_FOR_ANYBODY, "test_a_product_is_given_away_by_its_owner"),
}
REST_BUGS = {
    "believes errors": (BELIEVES_ERRORS, "test_a_claim_survives_it_at_every_write[Fault.LOSE]"),
    "waits for ever": (WAITS_FOR_EVER, "test_a_service_that_is_silent_is_given_up"),
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a package that announces the catalog `broken`."""
    about = tmp_path / "broken" / "broken-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Name: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[floe.catalogs]\nbroken = broken:Broken\n")
    return about.parent


def failures(printed: str) -> list[str]:
    return re.findall(r"^FAILED \S+::(\S+)", printed, re.MULTILINE)


def only(test: str) -> tuple[str, str]:
    return "-k", test.partition("[")[0]


@pytest.mark.parametrize("bug", SQL_BUGS)
def test_a_bug_is_found(run_kit: RunKit, outside: Path, bug: str) -> None:
    code, test = SQL_BUGS[bug]
    (outside / "broken.py").write_text(HEAD + code)
    assert test in failures(run_kit("broken", {}, *only(test), exit_code=1, path=outside))


@pytest.mark.service
@pytest.mark.parametrize("bug", REST_BUGS)
def test_a_bug_of_a_service_is_found(run_kit: RunKit, outside: Path, tmp_path: Path, bug: str) -> None:
    code, test = REST_BUGS[bug]
    (outside / "broken.py").write_text(HEAD + code)
    with required(), iceberg_rest(tmp_path / "rest") as uri:
        assert test in failures(run_kit("broken", {"uri": uri}, *only(test), exit_code=1, path=outside))
