"""put_once: one winner whatever the client says, an honest answer when the catalog is unwell."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pyiceberg.exceptions import ForbiddenError, NoSuchNamespaceError, ServerError
from sqlite_catalog import ABOUT, PRODUCT, SqliteCatalog, raising

from floe_core.findings import FloeError
from floe_core.identity import Retry
from floe_iceberg import Registry
from floe_iceberg.entries import ContractEntry, stem


@pytest.fixture
def registry(catalog: SqliteCatalog) -> Iterator[Registry]:
    with catalog.connect() as opened:
        yield opened


def test_the_first_one_wins_and_everybody_sees_what_it_said(registry: Registry) -> None:
    first = registry.put_once("fact__1", '{"owner": "a"}')
    second = registry.put_once("fact__1", '{"owner": "b"}')
    assert (first.won, second.won) == (True, False)
    assert first.fact == second.fact == registry.get("fact__1")
    assert registry.names() == ["fact__1"]


def test_a_registry_that_is_not_there_is_empty(registry: Registry) -> None:
    assert registry.get("fact__1") is None
    assert registry.has("fact__1") is False
    assert registry.names() == []


def test_a_lost_answer_is_recognised_as_our_own_success(registry: Registry, catalog: SqliteCatalog) -> None:
    registry.init()
    catalog.calls.after = raising("create_table", ConnectionResetError("the answer was lost"))
    assert registry.put_once("fact__1", "a").won is True
    assert catalog.calls.names[-2:] == ["create_table", "load_table"]
    catalog.calls.after = str.strip
    assert registry.put_once("fact__1", "b").won is False


def test_a_server_error_for_a_loser_is_a_lost_race_and_not_an_error(
    registry: Registry, catalog: SqliteCatalog
) -> None:
    registry.put_once("fact__1", "a")

    catalog.calls.before = raising("create_table", ServerError("500"))
    put = registry.put_once("fact__1", "b")
    assert (put.won, put.fact.text) == (False, "a")


def test_a_passing_failure_is_tried_again_as_often_as_configured(catalog: SqliteCatalog) -> None:
    waited: list[float] = []
    catalog.retry = Retry(4, timedelta(seconds=1), timedelta(seconds=3), 0, timedelta(minutes=1), waited.append)

    catalog.calls.before = raising("create_table", ServerError("503"))
    with pytest.raises(FloeError) as caught, catalog.connect() as registry:
        registry.put_once("fact__1", "a")
    assert caught.value.findings[0].code == "FLOE-E807"
    assert waited == [1, 2, 3]
    assert catalog.calls.names.count("create_table") == 4


def test_the_try_that_succeeds_after_failures_wins(registry: Registry, catalog: SqliteCatalog) -> None:
    def fail(name: str) -> None:
        if name == "create_table" and catalog.calls.names.count(name) < 3:
            raise ServerError("503")

    catalog.calls.before = fail
    assert registry.put_once("fact__1", "a").won is True


def test_a_refusal_is_not_tried_again(catalog: SqliteCatalog) -> None:
    catalog.calls.before = raising("create_table", ForbiddenError("403"))
    with pytest.raises(FloeError, match="FLOE-E807"), catalog.connect() as registry:
        registry.put_once("fact__1", "a")
    assert catalog.calls.names == ["create_table", "load_table"]


def test_a_bug_in_the_client_stays_a_bug(catalog: SqliteCatalog) -> None:
    catalog.calls.before = raising("create_table", ZeroDivisionError())
    with pytest.raises(ZeroDivisionError), catalog.connect() as registry:
        registry.put_once("fact__1", "a")


def test_a_wait_is_spread_by_its_jitter_and_ends_with_the_patience() -> None:
    spread = [next(Retry(jitter=0.2).delays()) for _ in range(100)]
    assert all(0.8 <= wait <= 1.2 for wait in spread)
    assert max(spread) - min(spread) > 0.1
    assert list(Retry(10, patience=timedelta(0)).delays()) == []


def test_entries_whose_files_are_gone_are_damaged_and_not_free(registry: Registry, tmp_path: Path) -> None:
    registry.put_once("fact__1", "a")
    for path in tmp_path.rglob("*.metadata.json"):
        path.unlink()
    assert registry.has("fact__1") is True
    for ask in (lambda: registry.get("fact__1"), lambda: registry.put_once("fact__1", "b")):
        with pytest.raises(FloeError, match="its metadata file is missing") as caught:
            ask()
        assert caught.value.findings[0].code == "FLOE-E622"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"floe.fact": "other"}, "its content does not match its digest"),
        ({"floe.digest": "0"}, "its content does not match its digest"),
    ],
)
def test_entries_that_were_changed_are_not_believed(
    registry: Registry, catalog: SqliteCatalog, change: dict[str, str], message: str
) -> None:
    registry.put_once("fact__1", "a")
    with catalog.raw() as raw, raw.load_table("floe__registry.fact__1").transaction() as transaction:
        transaction.set_properties(change)
    with pytest.raises(FloeError, match=message) as caught:
        registry.get("fact__1")
    assert (caught.value.findings[0].code, caught.value.findings[0].row.exit) == ("FLOE-E622", 3)


def test_a_table_of_somebody_else_is_no_entry(registry: Registry, catalog: SqliteCatalog) -> None:
    registry.put_once("fact__1", "a")
    with catalog.raw() as raw:
        raw.create_table("floe__registry.fact__2", raw.load_table("floe__registry.fact__1").schema())
    with pytest.raises(FloeError, match="it is not an entry of floe's"):
        registry.get("fact__2")


def test_a_catalog_where_a_lost_race_destroys_gets_its_registry_by_hand(tmp_path: Path) -> None:
    catalog = SqliteCatalog(tmp_path, creates_registry=False)
    with pytest.raises(FloeError, match="no namespace floe__registry") as caught:
        catalog.register_product_namespace(PRODUCT, ABOUT)
    assert caught.value.findings[0].code == "FLOE-E621"
    assert "create_namespace" not in catalog.calls.names
    assert [catalog.init_registry(), catalog.init_registry()] == [True, False]
    assert catalog.register_product_namespace(PRODUCT, ABOUT).status == "created"


def test_a_catalog_that_cannot_decide_a_race_is_not_even_asked(tmp_path: Path) -> None:
    catalog = SqliteCatalog(tmp_path, atomic_create=False)
    with pytest.raises(FloeError) as caught:
        catalog.register_product_namespace(PRODUCT, ABOUT)
    assert caught.value.findings[0].code == "FLOE-E623"
    assert catalog.calls.names == []


@pytest.mark.parametrize(
    ("subject", "table"),
    [
        (("customers", "1.0.0"), "contract__sales__customer_360__customers__1_0_0"),
        (("cust-list", "1.0.0"), "contract__sales__customer_360__cust_list_1_0_0__h"),
        (("cust_list", "1.0.0-rc1"), "contract__sales__customer_360__cust_list_1_0_0_rc1__h"),
        (("c" * 80, "1.0.0"), f"contract__sales__customer_360__{'c' * 30}__h"),
    ],
)
def test_tables_are_called_after_their_subject_and_stay_short(subject: tuple[str, ...], table: str) -> None:
    name = stem(ContractEntry, PRODUCT, *subject)
    assert name.startswith(table)
    assert len(name) <= 120


def test_subjects_that_look_alike_have_tables_of_their_own() -> None:
    subjects = [("a-b", "1.0.0"), ("a_b", "1.0.0"), ("a__b", "1.0.0"), ("a", "b", "1.0.0"), ("a.b", "1.0.0")]
    assert len({stem(ContractEntry, PRODUCT, *subject) for subject in subjects}) == len(subjects)


def test_a_namespace_that_vanishes_meanwhile_is_could_not_check(catalog: SqliteCatalog) -> None:
    catalog.register_product_namespace(PRODUCT, ABOUT)
    with catalog.raw() as raw:
        raw.update_namespace_properties("sales.customer_360", None, {"floe.product.owner": "evil"})
    catalog.calls.before = raising("update_namespace_properties", NoSuchNamespaceError("gone"))
    with pytest.raises(FloeError, match=r"FLOE-E807 .* do not stay as they are written"):
        catalog.repair_product(PRODUCT)
