from __future__ import annotations

import pytest
from products import Product

from floe_core.findings import FloeError
from floe_dbt.locate import find_project

PROJECT = "name: p\nversion: '1.0'\n"


def test_the_nearest_project_above_the_path_is_taken(product: Product) -> None:
    product.put("dbt_project.yml", PROJECT)
    product.put("transform/dbt_project.yml", PROJECT)
    product.put("transform/models/gold/gold_x.sql", "select 1 as id")
    assert find_project(product.request("transform/models/gold")) == product.folder / "transform"
    product.put("models/gold_y.sql", "select 1 as id")
    assert find_project(product.request("models")) == product.folder


def test_a_project_above_the_product_is_not_its_own(product: Product) -> None:
    product.put("../dbt_project.yml", PROJECT)
    product.put("models/gold_x.sql", "select 1 as id")
    assert find_project(product.request("models")) is None


@pytest.mark.parametrize(("path", "code"), [("nowhere/", "FLOE-E301"), ("../elsewhere", "FLOE-E302")])
def test_a_path_that_leads_nowhere_or_out_is_refused_at_its_line(product: Product, path: str, code: str) -> None:
    product.put("../elsewhere/models/x.sql", "select 1 as id")
    request = product.request(path)
    with pytest.raises(FloeError) as caught:
        find_project(request)
    [finding] = caught.value.findings
    assert (finding.code, finding.line) == (code, 4)
    assert path in finding.message


def test_a_link_out_of_the_product_is_refused(product: Product) -> None:
    product.put("../elsewhere/x.sql", "select 1 as id")
    product.put("models/gold_x.sql", "select 1 as id")
    (product.folder / "linked").symlink_to(product.folder.parent / "elsewhere")
    assert product.refused("linked") == ["floe.yaml:4 FLOE-E302"]
