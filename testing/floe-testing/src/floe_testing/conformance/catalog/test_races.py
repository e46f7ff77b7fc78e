"""Real processes at the same moment: one owner, nothing lost, and everybody told the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from floe_core.catalog import CatalogPlugin
from floe_core.identity import Action, RegistrationResult
from floe_testing.conformance.catalog.conftest import NewProduct, Open
from floe_testing.conformance.catalog.processes import Done, Process, race
from floe_testing.conformance.catalog.products import (
    ACTOR,
    OURS,
    OWNER,
    Claim,
    claimed,
    consumer,
    contract,
    metadata,
    namespace_of,
)


def results(answers: Sequence[Any]) -> list[RegistrationResult]:
    assert all(isinstance(answer, Done) for answer in answers), answers
    return [answer.value for answer in answers]


def statuses(answers: Sequence[Any]) -> Counter[str]:
    return Counter(str(result.status) for result in results(answers))


def rivals(crew: Sequence[Process]) -> list[str]:
    return [f"github.com/acme/rival-{number}" for number in range(len(crew))]


def check_one_owner(catalog: CatalogPlugin, product: str, answers: Sequence[Any], repositories: list[str]) -> None:
    """One winner, who knows; losers who know the winner; a registry that agrees with both."""
    found = results(answers)
    winners = [name for name, result in zip(repositories, found, strict=True) if result.status == "created"]
    assert len(winners) == 1, found
    losers = [result for result in found if result.status != "created"]
    assert {(str(result.status), result.existing_owner) for result in losers} == {("conflict", winners[0])}
    assert catalog.get_namespace_owner(product) == winners[0]


def test_one_of_many_claims_wins(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        product, repositories = new_product(), rivals(crew)
        answers = race(crew, [Claim(product, name).arguments() for name in repositories])
        check_one_owner(catalog, product, answers, repositories)
        assert catalog.verify_product(product) == []


def test_one_of_many_adopts_a_bare_namespace(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int, client: Open
) -> None:
    for _ in range(rounds):
        product, repositories = new_product(), rivals(crew)
        with client() as raw:
            raw.create_namespace(namespace_of(catalog, product).parts)
        answers = race(crew, [Claim(product, name).arguments() for name in repositories])
        check_one_owner(catalog, product, answers, repositories)


def test_claims_of_one_repository_are_one_claim(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        product = new_product()
        answers = race(crew, [Claim(product).arguments()] * len(crew))
        assert statuses(answers) == {"created": 1, "already_owned": len(crew) - 1}
        assert [line.action for line in catalog.product_history(product)] == [Action.CLAIM]


def test_no_contract_version_is_lost(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        claimed(catalog, product := new_product())
        versions = [f"1.{number}.0" for number in range(len(crew))]
        answers = race(
            crew, [("register_contract", product, "customers", each, "s1", contract()) for each in versions]
        )
        assert statuses(answers) == {"created": len(crew)}
        assert [found.version for found in catalog.list_registered_contracts(product)] == versions
        assert catalog.verify_product(product) == []


def test_one_content_of_a_contract_version_wins(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        claimed(catalog, product := new_product())
        documents = [contract(document=f"{number}", document_hash=f"d{number}") for number in range(len(crew))]
        answers = race(
            crew, [("register_contract", product, "customers", "1.0.0", "s1", each) for each in documents]
        )
        assert statuses(answers) == {"created": 1, "conflict": len(crew) - 1}
        [kept] = catalog.list_registered_contracts(product)
        winner = [result.status for result in results(answers)].index("created")  # type: ignore[arg-type]  # a StrEnum
        assert kept.document == f"{winner}"


def test_no_consumer_is_lost(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        claimed(catalog, product := new_product())
        readers = [f"finance.report_{number}" for number in range(len(crew))]
        answers = race(crew, [("register_consumer", product, consumer(name)) for name in readers])
        assert statuses(answers) == {"created": len(crew)}
        assert sorted(found.product for found in catalog.list_consumers(product)) == readers


def test_every_update_is_recorded(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        claimed(catalog, product := new_product())
        versions = [f"2.{number}.0" for number in range(len(crew))]
        answers = race(
            crew, [("update_product_metadata", product, metadata(product, version=each)) for each in versions]
        )
        assert statuses(answers) == {"updated": len(crew)}
        lines = catalog.product_history(product)
        assert sorted(line.after["version"] for line in lines if line.after) == ["", *versions]
        found = catalog.get_product(product)
        assert found
        assert found.version in versions
        assert catalog.verify_product(product) == []


def test_a_product_is_given_away_once(
    catalog: CatalogPlugin, crew: Sequence[Process], new_product: NewProduct, rounds: int
) -> None:
    for _ in range(rounds):
        claimed(catalog, product := new_product())
        for racer, name in zip(crew, rivals(crew), strict=True):
            racer.send("transfer_product", product, name, OWNER, by=ACTOR)
        answers = [racer.receive() for racer in crew]
        assert statuses(answers) == {"updated": 1, "conflict": len(crew) - 1}
        owner = catalog.get_namespace_owner(product)
        assert [result.repository for result in results(answers)] == [owner] * len(crew)
        assert owner != OURS
