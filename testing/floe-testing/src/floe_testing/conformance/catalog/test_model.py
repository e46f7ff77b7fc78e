"""Any sequence of operations, crashes and tampering does what the model says, or what it said before the crash."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from floe_core.catalog import CatalogPlugin
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.model import Operation, State, observe
from floe_testing.conformance.catalog.products import namespace_of
from floe_testing.conformance.catalog.subject import Subject, Trap

REPOSITORIES = ("github.com/acme/a", "github.com/acme/b")
RUNS_PER_ROUND = 4

repositories = st.sampled_from(REPOSITORIES)
versions = st.sampled_from(("1.0.0", "1.1.0"))
operations = st.one_of(
    st.builds(Operation, st.just("claim"), repositories),
    st.builds(Operation, st.just("publish"), repositories, versions),
    st.builds(Operation, st.just("transfer"), repositories, repositories),
    st.builds(Operation, st.just("retire"), repositories),
    st.builds(Operation, st.just("promise"), repositories, versions, st.sampled_from(("d1", "d2"))),
    st.builds(Operation, st.just("withdraw"), repositories, versions),
)


class Crash(BaseException):
    """The process ends here; nothing that only catches errors may stop it."""


def crash() -> None:
    raise Crash


class Registry(RuleBasedStateMachine):
    """One product of a real catalog, beside its model."""

    catalog: CatalogPlugin
    subject: Subject
    new_product: NewProduct
    client: Open
    state = State()

    @initialize(is_bare=st.booleans())
    def start(self, is_bare: bool) -> None:
        self.product, self.state = self.new_product(), State()
        self.namespace = namespace_of(self.catalog, self.product).parts
        if is_bare:
            with self.client() as raw:
                raw.create_namespace(self.namespace)

    @rule(operation=operations)
    def do(self, operation: Operation) -> None:
        expected, status = operation.expected(self.state)
        result = operation.perform(self.catalog, self.product)
        assert result.status == status, result
        self.state = expected
        assert observe(self.catalog, self.product) == expected

    @rule(operation=operations, number=st.integers(1, 8))
    def crash_in(self, operation: Operation, number: int) -> None:
        expected, status = operation.expected(self.state)
        try:
            result = operation.perform(self.subject.make(Trap(number, crash)), self.product)
            assert result.status == status, result
            before = expected
        except Crash:
            before = self.state
        after = observe(self.catalog, self.product)
        assert after in (before, expected)
        self.state = after

    @rule(key=st.sampled_from(("floe.product.repo", "floe.product.version", "floe.contracts")))
    def tamper(self, key: str) -> None:
        with self.client() as raw:
            if not raw.namespace_exists(self.namespace):
                return
            raw.update_namespace_properties(self.namespace, None, {key: "forged"})
        assert observe(self.catalog, self.product) == self.state
        if self.state.repository:
            assert key in {item.key for item in self.catalog.verify_product(self.product)}

    @rule(repository=repositories)
    def look(self, repository: str) -> None:
        seen = self.catalog.validate_product_identity(self.product, repository)
        if self.state.repository is None:
            assert seen.status == "available"
        else:
            assert seen.status == ("valid" if self.state.is_open_to(repository) else "conflict")

    def teardown(self) -> None:
        """Whatever happened, the readable copy can be made to tell the truth again."""
        if self.state.repository:
            self.catalog.repair_product(self.product)
            assert self.catalog.verify_product(self.product) == []
        super().teardown()


def test_the_registry_does_what_the_model_says(
    catalog: CatalogPlugin, subject: Subject, new_product: NewProduct, client: Open, rounds: int
) -> None:
    parts = {"catalog": catalog, "subject": subject, "new_product": staticmethod(new_product)}
    machine = type("ThisRegistry", (Registry,), {**parts, "client": staticmethod(client)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=rounds * RUNS_PER_ROUND,
            stateful_step_count=10,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # shrinking on a real catalog takes longer than reading ten steps
            suppress_health_check=list(HealthCheck),
        ),
    )
