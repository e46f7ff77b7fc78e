"""What a run says before any engine is asked; tests on Spark are in `spark/`."""

from __future__ import annotations

import pytest
from products import Product

from floe_dbt.events import NodeFinished, NodeStarted
from floe_dbt.run import execute
from floe_dbt.shadow import make_shadow


def test_a_selection_that_dbt_does_not_understand_stops_the_run(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    outcome = execute(make_shadow(product.request()), select=["no_such_method:x"])
    [finding] = outcome.findings
    assert (outcome.success, outcome.nodes, finding.code) == (False, (), "FLOE-E713")
    assert "no_such_method" in finding.message


def test_an_empty_selection_runs_nothing(product: Product, capfd: pytest.CaptureFixture[str]) -> None:
    product.put("models/gold_x.sql", "select 1 as id")
    events: list[NodeStarted | NodeFinished] = []
    outcome = execute(make_shadow(product.request()), select=["nothing_of_that_name"], on_event=events.append)
    assert (outcome.success, outcome.nodes, events) == (True, (), [])
    assert capfd.readouterr() == ("", "")
