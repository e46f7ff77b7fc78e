"""Lineage events are valid, come in pairs, and are called as the rulings call them."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from customer_run import (
    BRONZE,
    CUSTOMERS,
    FACTS,
    LATE,
    Flags,
    at,
    fresh,
    silver_finished,
    verdict,
    whole_run,
)

from floe_telemetry import (
    Event,
    Node,
    NodeFinished,
    NodeStarted,
    RunFinished,
    RunStarted,
    Status,
    Telemetry,
)
from floe_testing.lineage import demand_valid
from floe_testing.services.lineage import LineageBackend

Json = dict[str, Any]
LINEAGE = Flags(traces=False, metrics=False)
PATIENCE = 60.0  # seconds; a guard, not a measure


@pytest.fixture
def reported(backend: LineageBackend, tmp_path: Path) -> Any:
    """Reports events to a real backend, and gives what arrived there."""

    def report(*events: Event, **environ: str) -> list[Json]:
        telemetry = Telemetry.of(FACTS, LINEAGE, {"OPENLINEAGE_URL": backend.uri, **environ}, tmp_path / "spool")
        for event in events:
            telemetry.record(event)
        assert telemetry.close(PATIENCE).problems == ()
        return backend.events()

    return report


def by_job(events: list[Json]) -> dict[str, list[Json]]:
    jobs = defaultdict(list)
    for event in events:
        jobs[event["job"]["name"]].append(event)
    return jobs


def test_every_event_of_a_run_is_valid(reported: Any) -> None:
    demand_valid(reported(*whole_run()))


def test_every_run_starts_once_and_ends_once(reported: Any) -> None:
    runs = defaultdict(list)
    for event in reported(*whole_run()):
        runs[event["run"]["runId"]].append(event["eventType"])
    assert Counter(map(tuple, runs.values())) == {
        ("START", "COMPLETE"): 4,
        ("START", "FAIL"): 3,
        ("START", "ABORT"): 1,
    }


def test_jobs_are_the_product_its_models_its_sources_and_its_contracts(reported: Any) -> None:
    jobs = by_job(reported(*whole_run()))
    assert set(jobs) == {
        "customer-360",
        "ingest.salesforce",
        "bronze_salesforce_accounts",
        "silver_customers",
        "gold_revenue",
        "contract_check.sales-customers",
    }
    assert {event["job"]["namespace"] for events in jobs.values() for event in events} == {"sales.customer-360"}


def test_run_ids_are_the_same_for_the_same_run_and_others_for_another(reported: Any) -> None:
    first = [event["run"]["runId"] for event in reported(*whole_run("a"))]
    again = [event["run"]["runId"] for event in reported(*whole_run("a"))][len(first) :]
    other = [event["run"]["runId"] for event in reported(*whole_run("b"))][2 * len(first) :]
    assert first == again
    assert not set(first) & set(other)
    assert all(str(uuid.UUID(one)) == one for one in first)


def test_what_is_inside_a_run_names_it_as_parent(reported: Any) -> None:
    jobs = by_job(reported(*whole_run()))
    pipeline = jobs.pop("customer-360")[0]
    assert "parent" not in pipeline["run"]["facets"]
    for event in (event for events in jobs.values() for event in events):
        parent = event["run"]["facets"]["parent"]
        assert parent["run"] == {"runId": pipeline["run"]["runId"]}
        assert parent["job"] == {"namespace": "sales.customer-360", "name": "customer-360"}


def test_a_model_called_like_its_product_is_a_run_of_its_own(reported: Any) -> None:
    node = NodeFinished(node=BRONZE.__class__("customer-360"), started=at(1), ended=at(2))
    events = reported(RunStarted("r", at(0)), node, RunFinished(at(3)))
    assert len({event["run"]["runId"] for event in events}) == 2


def test_the_end_of_a_model_says_what_was_read_written_and_tested(reported: Any) -> None:
    end = by_job(reported(*whole_run()))["silver_customers"][1]
    assert end["eventTime"] == "2026-01-03T10:22:00.000Z"
    assert [(item["namespace"], item["name"]) for item in end["inputs"]] == [
        ("sales.customer-360", "bronze_salesforce_accounts"),
        ("sales.orders", "gold_orders"),
    ]
    [output] = end["outputs"]
    facets = output["facets"]
    assert facets["floe"]["layer"] == "silver"
    assert facets["schema"]["fields"][1] == {
        "name": "email",
        "type": "string",
        "description": "Where to write to",
        "ordinal_position": 2,
    }
    assert facets["columnLineage"]["fields"]["customer_id"]["inputFields"] == [
        {
            "namespace": "sales.orders",
            "name": "gold_orders",
            "field": "id",
            "transformations": [{"type": "INDIRECT"}],
        }
    ]
    assert facets["quality"]["coverage"] == 92.0
    assert facets["quality"]["tests"] == [
        {"name": "not_null", "column": "customer_id", "status": "pass"},
        {"name": "unique", "column": "customer_id", "status": "warn"},
    ]
    statistics = output["outputFacets"]["outputStatistics"]
    assert (statistics["rowCount"], statistics["size"]) == (1_000, 4_096)


def test_a_dataset_of_another_product_does_not_claim_to_be_of_this_one(reported: Any) -> None:
    orders = by_job(reported(*whole_run()))["silver_customers"][1]["inputs"][1]
    assert set(orders["facets"]) == {"schema"}


def test_the_run_reads_what_it_did_not_write(reported: Any) -> None:
    end = by_job(reported(*whole_run()))["customer-360"][1]
    assert [item["name"] for item in end["inputs"]] == ["gold_orders"]
    assert [item["name"] for item in end["outputs"]] == ["bronze_salesforce_accounts", "silver_customers"]
    assert end["run"]["facets"]["errorMessage"]["message"] == "gold_revenue failed"


def test_a_broken_contract_fails_and_a_kept_one_completes(reported: Any) -> None:
    checks = by_job(reported(*whole_run()))["contract_check.sales-customers"]
    kept, broken, unknown = (event for event in checks if event["eventType"] != "START")
    assert (kept["eventType"], broken["eventType"], unknown["eventType"]) == ("COMPLETE", "FAIL", "ABORT")
    assert kept["run"]["facets"]["contractStatus"]["status"] == "pass"
    assert broken["run"]["facets"]["contractViolation"]["violationType"] == "freshness_violation"
    assert not {"contractStatus", "contractViolation"} & set(unknown["run"]["facets"])
    [assertion] = broken["inputs"][0]["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert (assertion["success"], assertion["column"], assertion["expected"]) == (False, "updated_at", "PT6H")
    assert broken["inputs"][0]["name"] == CUSTOMERS.name


def test_every_violation_of_one_check_is_told(reported: Any) -> None:
    events = reported(RunStarted("r", at(0)), fresh(8.0, violations=(LATE, LATE)), RunFinished(at(1)))
    fails = [event for event in events if event["eventType"] == "FAIL"]
    assert len({event["run"]["runId"] for event in fails}) == 2


def test_a_check_outside_of_a_run_has_no_parent_and_is_told_from_later_ones(reported: Any) -> None:
    events = reported(fresh())
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"]
    assert "parent" not in events[0]["run"]["facets"]
    demand_valid(events)


def test_a_model_ends_when_its_last_test_has_in_whatever_order_they_come(reported: Any) -> None:
    events = reported(
        RunStarted("r", at(0)), verdict("early"), silver_finished(), verdict("late"), RunFinished(at(9))
    )
    assert [event["eventType"] for event in events] == ["START", "START", "COMPLETE", "COMPLETE"]
    tests = events[2]["outputs"][0]["facets"]["quality"]["tests"]
    assert [test["name"] for test in tests] == ["early", "late"]


def test_a_test_that_never_comes_does_not_hold_the_end_back(reported: Any) -> None:
    events = reported(RunStarted("r", at(0)), silver_finished(tests=7), RunFinished(at(9)))
    assert [event["job"]["name"] for event in events[2:]] == ["silver_customers", "customer-360"]


def test_a_run_that_ends_early_is_aborted_with_all_that_had_begun(reported: Any) -> None:
    events = reported(RunStarted("r", at(0)), NodeStarted(BRONZE, at(1)), silver_finished(tests=0))
    ends = {event["job"]["name"]: event["eventType"] for event in events}
    assert ends == {
        "silver_customers": "COMPLETE",
        "bronze_salesforce_accounts": "ABORT",
        "customer-360": "ABORT",
    }
    demand_valid(events)


def test_what_was_skipped_is_not_told_unless_it_had_begun(reported: Any) -> None:
    skipped = NodeFinished(BRONZE, at(2), at(2), Status.SKIPPED)
    events = reported(RunStarted("r", at(0)), skipped, NodeStarted(BRONZE, at(1)), skipped, RunFinished(at(3)))
    assert [event["eventType"] for event in events] == ["START", "START", "ABORT", "COMPLETE"]


def test_models_may_end_in_many_threads(backend: LineageBackend, tmp_path: Path) -> None:
    telemetry = Telemetry.of(FACTS, LINEAGE, {"OPENLINEAGE_URL": backend.uri}, tmp_path / "spool")
    telemetry.record(RunStarted("r", at(0)))
    with ThreadPoolExecutor(8) as pool:
        for number in range(100):
            pool.submit(telemetry.record, NodeFinished(Node(f"model_{number}"), at(1), at(2)))
    telemetry.record(RunFinished(at(3)))
    assert telemetry.close(PATIENCE).delivered == 202
    assert [event["job"]["name"] for event in backend.events()][-1] == "customer-360"


def test_the_environment_names_the_namespace_over_the_platform(reported: Any) -> None:
    events = reported(*whole_run(), OPENLINEAGE_NAMESPACE="lab")
    assert {event["job"]["namespace"] for event in events} == {"lab"}
    assert {event["run"]["facets"]["floe"]["namespace"] for event in events} == {"lab"}
