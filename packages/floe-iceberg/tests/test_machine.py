"""Any order of claims, changes, crashes, lost answers and tampering, against a model that fits on a page.

FLOE_EXAMPLES is how many runs are made; `make attack` makes 2,000.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlite_catalog import ABOUT, SqliteCatalog

from floe_core.identity import Actor, ContractMetadata, Product, RegistrationResult

PRODUCTS = ("sales.a", "sales.b", "finance.a")
REPOSITORIES = ("github.com/acme/x", "github.com/acme/y")
products, repositories = st.sampled_from(PRODUCTS), st.sampled_from(REPOSITORIES)


@dataclass(frozen=True)
class Known:
    """What the model knows of a product."""

    repository: str
    owner: str
    version: str
    retired: bool = False


@dataclass
class Model:
    """The registry as it should be."""

    products: dict[str, Known] = field(default_factory=dict)
    contracts: dict[tuple[str, str], str] = field(default_factory=dict)

    def register(self, product: str, repository: str, version: str) -> str:
        known = self.products.get(product)
        if known is None:
            self.products[product] = Known(repository, ABOUT.owner, version)
            return "created"
        if known.retired or known.repository != repository:
            return "conflict"
        wanted = replace(known, owner=ABOUT.owner, version=version)
        self.products[product] = wanted
        return "already_owned" if wanted == known else "updated"

    def change(self, product: str, by: str, admin: bool, wanted: Callable[[Known], Known]) -> str:
        known = self.products.get(product)
        if known is None:
            return "conflict"
        if wanted(known) == known:
            return "already_owned"
        if by != known.repository and not admin:
            return "conflict"
        self.products[product] = wanted(known)
        return "updated"

    def promise(self, product: str, version: str, content: str) -> str:
        known = self.products.get(product)
        if known is None or known.retired:
            return "conflict"
        there = self.contracts.setdefault((product, version), content)
        return "conflict" if there != content else "any"


class Crash(BaseException):
    """The process is gone: nothing catches this."""


class Registered(RuleBasedStateMachine):
    """The real registry, and the model beside it."""

    @initialize()
    def start(self) -> None:
        self.stack = ExitStack()
        self.home = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.catalog, self.model = SqliteCatalog(self.home), Model()
        self.tampered: set[str] = set()

    def teardown(self) -> None:
        self.stack.close()

    def do(
        self, product: str, work: Callable[[SqliteCatalog], RegistrationResult], expected: Callable[[], str]
    ) -> None:
        """Do it for real and in the model, and compare."""
        status = work(self.catalog).status
        wanted = expected()
        assert wanted == "any" or status == wanted
        if status in ("created", "updated", "already_owned"):
            self.tampered.discard(product)

    @rule(product=products, repository=repositories, version=st.sampled_from(["1.0.0", "2.0.0"]))
    def register(self, product: str, repository: str, version: str) -> None:
        about = replace(ABOUT, name=product.partition(".")[2], domain=product.partition(".")[0])
        about = replace(about, repository=repository, version=version)
        self.do(
            product,
            lambda catalog: catalog.register_product_namespace(product, about),
            lambda: self.model.register(product, repository, version),
        )

    @rule(product=products, by=repositories, to=repositories, admin=st.booleans())
    def transfer(self, product: str, by: str, to: str, admin: bool) -> None:
        self.do(
            product,
            lambda catalog: catalog.transfer_product(product, to, "t", reason="r", by=Actor(by), admin=admin),
            lambda: self.model.change(
                product, by, admin, lambda known: replace(known, repository=to, owner="t", retired=False)
            ),
        )

    @rule(product=products, by=repositories)
    def retire(self, product: str, by: str) -> None:
        self.do(
            product,
            lambda catalog: catalog.retire_product(product, by=Actor(by)),
            lambda: self.model.change(product, by, False, lambda known: replace(known, retired=True)),
        )

    @rule(product=products, version=st.sampled_from(["1.0.0", "1.1.0"]), content=st.sampled_from(["p", "q"]))
    def promise(self, product: str, version: str, content: str) -> None:
        about = ContractMetadata("o", document_hash=content)
        self.do(
            product,
            lambda catalog: catalog.register_contract(product, "c", version, content, about),
            lambda: self.model.promise(product, version, content),
        )

    @rule(product=products)
    def adopt(self, product: str) -> None:
        """Somebody makes the namespace by hand before anybody has registered it."""
        if product not in self.model.products:
            with self.catalog.raw() as raw:
                raw.create_namespace_if_not_exists(product)

    @rule(product=products, repository=repositories, number=st.integers(1, 5), after=st.booleans())
    def crash(self, product: str, repository: str, number: int, after: bool) -> None:
        """Register, and die before or after the client's call of that number; then register again."""
        dying = SqliteCatalog(self.home)

        def die(name: str) -> None:
            del name
            if len(dying.calls.names) == number:
                raise Crash

        if after:
            dying.calls.after = die
        else:
            dying.calls.before = die
        about = replace(ABOUT, name="n", repository=repository, version="3.0.0")
        before = self.model.products.get(product)
        with suppress(Crash):
            dying.register_product_namespace(product, about)
        self.model.register(product, repository, "3.0.0")
        found = self.catalog.get_product(product)
        assert _known(found) in (before, self.model.products.get(product))
        self.catalog.register_product_namespace(product, about)

    @rule(product=products, repository=repositories, number=st.integers(1, 4))
    def lose_an_answer(self, product: str, repository: str, number: int) -> None:
        """The call happened, and its answer never came."""
        unlucky = SqliteCatalog(self.home)

        def lose(name: str) -> None:
            del name
            if len(unlucky.calls.names) == number:
                raise ConnectionResetError("lost")

        unlucky.calls.after = lose
        about = replace(ABOUT, name="n", repository=repository, version="4.0.0")
        self.do(
            product,
            lambda _: unlucky.register_product_namespace(product, about),
            lambda: self.model.register(product, repository, "4.0.0"),
        )

    @rule(product=products, value=st.sampled_from([*REPOSITORIES, "evil"]))
    def tamper(self, product: str, value: str) -> None:
        known = self.model.products.get(product)
        if known:
            with self.catalog.raw() as raw:
                raw.update_namespace_properties(product, None, {"floe.product.repo": value})
            if value != known.repository:
                self.tampered.add(product)
                wrong = self.catalog.verify_product(product)
                assert [(item.key, item.actual) for item in wrong] == [("floe.product.repo", value)]

    @rule(product=products)
    def repair(self, product: str) -> None:
        if product in self.model.products:
            self.catalog.repair_product(product)
            self.tampered.discard(product)

    @invariant()
    def the_registry_is_what_the_model_says(self) -> None:
        with self.catalog.session():
            there = {product.id: _known(product) for product in self.catalog.list_products()}
            assert there == self.model.products
            for product in set(there) - self.tampered:
                assert self.catalog.verify_product(product) == []
            promised = {
                (product, contract.version): contract.document_hash
                for product in there
                for contract in self.catalog.list_registered_contracts(product)
            }
        assert promised == self.model.contracts


def _known(product: Product | None) -> Known | None:
    return Known(product.repository, product.owner, product.version, product.retired) if product else None


TestRegistry = Registered.TestCase
TestRegistry.settings = settings(
    max_examples=int(os.environ.get("FLOE_EXAMPLES", "5")),
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize="FLOE_EXAMPLES" not in os.environ,
)
