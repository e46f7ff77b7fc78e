from __future__ import annotations

from products import Product

PACKAGE = "name: common\nversion: '1.0'\nmodels: {+schema: extra}\n"


def with_package(product: Product) -> None:
    product.put("../common/dbt_project.yml", PACKAGE)
    product.put("../common/macros/one.sql", "{% macro one() %}1{% endmacro %}")
    product.put("../common/models/shared.sql", "select 1 as id")
    product.put("packages.yml", "packages:\n  - local: ../common\n")
    product.put("dbt_project.yml", "name: p\nversion: '1.0'\n")
    product.put("models/gold_x.sql", "select {{ common.one() }} as id from {{ ref('shared') }}")


def test_packages_are_installed_under_work_and_once(product: Product) -> None:
    with_package(product)
    manifest = product.manifest()
    node = manifest["nodes"]["model.p.gold_x"]
    assert node["compiled_code"] == "select 1 as id from sales.customer_360.extra.shared"
    assert not (product.folder / "dbt_packages").exists()
    assert not (product.folder / "package-lock.yml").exists()
    product.manifest()
    assert product.said.count("installing dbt packages") == 1


def test_packages_that_the_project_installed_are_used(product: Product) -> None:
    with_package(product)
    product.manifest()
    (product.folder / "package-lock.yml").write_text(
        "packages:\n  - local: ../common\n    name: common\nsha1_hash: de2deba3d66ce107a2a8bb1a7d4de7b5b1a1e7e7\n"
    )
    (product.folder / "dbt_packages").mkdir()
    (product.folder / "dbt_packages" / "common").symlink_to(product.folder.parent / "common")
    product.said.clear()
    assert "model.common.shared" in product.manifest()["nodes"]


def test_a_package_that_goes_away_is_forgotten(product: Product) -> None:
    with_package(product)
    product.manifest()
    (product.folder / "packages.yml").unlink()
    product.put("models/gold_x.sql", "select 1 as id")
    assert list(product.manifest()["nodes"]) == ["model.p.gold_x"]


def test_packages_that_cannot_be_installed_could_not_be_checked(product: Product) -> None:
    with_package(product)
    product.put("packages.yml", "packages:\n  - local: ../nowhere\n")
    [finding] = product.refusal()
    assert (finding.code, finding.line, finding.row.exit) == ("FLOE-E303", 2, 3)
    assert finding.path.endswith("packages.yml")


def test_a_malformed_list_of_packages_is_refused_at_its_file(product: Product) -> None:
    with_package(product)
    for text in ("packages: [1]\n", "packages: {a: b}\n", "packages:\n  - locale: x\n", "packages: [\n"):
        product.put("packages.yml", text)
        [finding] = product.refusal()
        assert (finding.code, finding.path.rpartition("/")[2]) == ("FLOE-E303", "packages.yml")


def test_files_of_packages_that_are_no_text_are_refused_or_not_used(product: Product) -> None:
    with_package(product)
    (product.folder / "package-lock.yml").write_bytes("sha1_hash: x".encode("utf-16"))
    assert product.manifest()["nodes"]
    (product.folder / "package-lock.yml").write_text("packages: [")
    assert product.manifest()["nodes"]
    (product.folder / "packages.yml").write_bytes("packages: []".encode("utf-16"))
    assert product.refused() == ["packages.yml:1 FLOE-E303"]
