"""Following references: product → domain → enterprise, relative to the file that holds them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from floe_core.findings import Finding, FloeError
from floe_core.load import load_product
from floe_core.resolve import Chain, resolve

HEAD = "apiVersion: floe.dev/v1\n"

Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(path: str, *lines: str) -> None:
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(HEAD + "\n".join(lines) + "\n")

    return write_file


def product(*lines: str, metadata: str = "name: orders") -> tuple[str, ...]:
    return ("kind: DataProduct", f'metadata: {{{metadata}, version: "1.0"}}', *lines)


def manifest(scope: str, *lines: str, name: str = "acme") -> tuple[str, ...]:
    return ("kind: Manifest", f"metadata: {{name: {name}}}", f"scope: {scope}", *lines)


def chain(tmp_path: Path, path: str = "floe.yaml") -> Chain:
    return resolve(load_product(tmp_path / path))


def refusal(tmp_path: Path) -> Finding:
    with pytest.raises(FloeError) as caught:
        chain(tmp_path)
    (finding,) = caught.value.findings
    return finding


def at(finding: Finding, tmp_path: Path) -> str:
    return f"{Path(finding.path).relative_to(tmp_path)}:{finding.line}:{finding.column} {finding.code}"


def test_a_product_alone_is_simple(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product())
    found = chain(tmp_path)
    assert (found.mode, found.manifests, found.product_id) == ("simple", (), "default.orders")


def test_a_product_below_a_platform_is_centralized(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("platform: platform.yaml", metadata="name: orders, domain: back-office"))
    write("platform.yaml", *manifest("enterprise"))
    found = chain(tmp_path)
    assert (found.mode, found.domain, found.product_id) == ("centralized", "back-office", "back_office.orders")
    assert [tier.name for tier in found.tiers()] == ["enterprise acme", "product orders"]


def test_a_product_below_a_domain_is_mesh(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: {ref: domain.yaml}", metadata="name: customer-360"))
    write("domain.yaml", *manifest("domain", "parent: top.yaml", "catalog_namespace: eu", name="field-sales"))
    write("top.yaml", *manifest("enterprise"))
    found = chain(tmp_path)
    assert (found.mode, found.domain, found.product_id) == ("mesh", "field-sales", "field_sales.customer_360")
    assert [tier.name for tier in found.tiers()] == [
        "enterprise acme",
        "domain field-sales",
        "product customer-360",
    ]


def test_references_are_relative_to_the_file_that_holds_them(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("products/orders/floe.yaml", *product("domain: ../../domains/sales.yaml"))
    write("domains/sales.yaml", *manifest("domain", "parent: ../top/enterprise.yaml", name="sales"))
    write("top/enterprise.yaml", *manifest("enterprise"))
    monkeypatch.chdir(tmp_path / "top")
    names = [Path(item.source.path).name for item in chain(tmp_path, "products/orders/floe.yaml").manifests]
    assert names == ["enterprise.yaml", "sales.yaml"]


def test_a_folder_stands_for_its_manifest(tmp_path: Path, write: Write) -> None:
    write("a/floe.yaml", *product("platform: ../platform"))
    write("platform/manifest.yaml", *manifest("enterprise"))
    assert [item.document.metadata.name for item in chain(tmp_path, "a/floe.yaml").manifests] == ["acme"]


def test_kind_domain_manifest_is_a_domain(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: sales.yaml"))
    write("sales.yaml", "kind: DomainManifest", "metadata: {name: sales}", "parent: top.yaml")
    write("top.yaml", *manifest("enterprise"))
    assert chain(tmp_path).product_id == "sales.orders"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("none.yaml", "none.yaml is not there"),
        ("../none/manifest.yaml", "../none/manifest.yaml is not there"),
        ("floe.yaml/x", "floe.yaml/x is not there"),
        (".", ". is a folder without a manifest.yaml"),
        ("n" * 300, f"{'n' * 57}... cannot be followed: File name too long"),
    ],
)
def test_a_parent_that_is_not_there_is_named(tmp_path: Path, write: Write, reference: str, message: str) -> None:
    write("floe.yaml", *product(f"platform: {reference}"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:4:11 FLOE-E150"
    assert finding.message == message


def test_links_that_lead_in_a_circle_are_no_parent(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("platform: a.yaml"))
    (tmp_path / "a.yaml").symlink_to("b.yaml")
    (tmp_path / "b.yaml").symlink_to("a.yaml")
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:4:11 FLOE-E150"
    assert finding.message.startswith("a.yaml cannot be followed: ")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_entered_is_no_parent(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("platform: closed/manifest.yaml"))
    write("closed/manifest.yaml", *manifest("enterprise"))
    (tmp_path / "closed").chmod(0)
    finding = refusal(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert finding.message == "closed/manifest.yaml cannot be followed: Permission denied"


def test_what_is_wrong_inside_a_parent_is_shown_there(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("platform: top.yaml"))
    write("top.yaml", *manifest("enterprise", "plugin: {}"))
    assert at(refusal(tmp_path), tmp_path) == "top.yaml:5:1 FLOE-E121"


@pytest.mark.parametrize(
    ("reference", "parent", "message"),
    [
        ("platform", manifest("domain", "parent: top.yaml"), "acme is of scope domain, not enterprise"),
        ("domain", manifest("enterprise"), "acme is of scope enterprise, not domain"),
    ],
)
def test_a_reference_leads_to_its_own_scope(
    tmp_path: Path, write: Write, reference: str, parent: tuple[str, ...], message: str
) -> None:
    write("floe.yaml", *product(f"{reference}:", "  ref: parent.yaml"))
    write("parent.yaml", *parent)
    write("top.yaml", *manifest("enterprise"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:5:8 FLOE-E151"
    assert finding.message == message
    assert [(Path(item.place.path).name, item.place.line) for item in finding.related] == [("parent.yaml", 4)]


def test_a_domain_below_a_domain_is_refused_at_the_lower_one(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: low.yaml"))
    write("low.yaml", *manifest("domain", "parent: high.yaml", name="low"))
    write("high.yaml", *manifest("domain", "parent: top.yaml", name="high"))
    write("top.yaml", *manifest("enterprise"))
    assert at(refusal(tmp_path), tmp_path) == "low.yaml:5:9 FLOE-E151"


def test_an_enterprise_has_no_parent(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("platform: top.yaml"))
    write("top.yaml", *manifest("enterprise", "parent: higher.yaml"))
    write("higher.yaml", *manifest("enterprise"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "top.yaml:5:9 FLOE-E151"
    assert finding.fix == "Remove `parent`."


@pytest.mark.parametrize(
    ("domain", "place"),
    [
        (manifest("domain", name="sales"), "sales.yaml:4:8"),
        (("kind: DomainManifest", "metadata: {name: sales}"), "sales.yaml:2:7"),
        (("kind: Manifest", "metadata: {name: sales, scope: domain}"), "sales.yaml:3:32"),
    ],
)
def test_a_domain_needs_a_parent(tmp_path: Path, write: Write, domain: tuple[str, ...], place: str) -> None:
    write("floe.yaml", *product("domain: sales.yaml"))
    write("sales.yaml", *domain)
    assert at(refusal(tmp_path), tmp_path) == f"{place} FLOE-E152"


def test_a_manifest_that_is_its_own_parent_is_a_circle(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: sales/manifest.yaml"))
    write("sales/manifest.yaml", *manifest("domain", "parent: .", name="sales"))
    assert at(refusal(tmp_path), tmp_path) == "sales/manifest.yaml:5:9 FLOE-E153"


def test_two_manifests_above_each_other_are_a_circle(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: a.yaml"))
    write("a.yaml", *manifest("domain", "parent: b.yaml", name="a"))
    write("b.yaml", *manifest("enterprise", "parent: {ref: ./a.yaml}", name="b"))
    assert at(refusal(tmp_path), tmp_path) == "b.yaml:5:15 FLOE-E153"


def test_a_circle_through_a_link_is_one_too(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: a.yaml"))
    write("a.yaml", *manifest("domain", "parent: link.yaml", name="a"))
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    assert refusal(tmp_path).code == "FLOE-E153"


@pytest.mark.parametrize("reference", ["floe.yaml", "other.yaml"])
def test_a_product_is_no_parent(tmp_path: Path, write: Write, reference: str) -> None:
    write("floe.yaml", *product(f"platform: {reference}"))
    write("other.yaml", *product())
    assert at(refusal(tmp_path), tmp_path) == "floe.yaml:4:11 FLOE-E154"


def test_platform_and_domain_exclude_each_other(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: nowhere.yaml", "platform: {ref: nowhere.yaml}"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:5:1 FLOE-E155"
    assert [item.place.line for item in finding.related] == [4]


def test_a_product_names_the_domain_it_belongs_to(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("domain: sales.yaml", metadata="name: orders, domain: sale"))
    write("sales.yaml", *manifest("domain", "parent: top.yaml", name="sales"))
    write("top.yaml", *manifest("enterprise"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:3:34 FLOE-E156"
    assert (finding.expected, finding.actual) == ("sales", "sale")
    assert [(Path(item.place.path).name, item.place.line) for item in finding.related] == [("sales.yaml", 3)]


@pytest.mark.parametrize(
    "reference",
    ["oci://registry.acme.com/platform:v1.2.3", "oci-layout:platform", "v1.2.3", "1.2", "oci://h/r@sha256:00"],
)
def test_a_registry_cannot_be_reached_yet(tmp_path: Path, write: Write, reference: str) -> None:
    write("floe.yaml", *product(f"platform: '{reference}'"))
    finding = refusal(tmp_path)
    assert at(finding, tmp_path) == "floe.yaml:4:11 FLOE-E159"
    assert finding.message == f"{reference} leads to a registry"


def test_a_product_below_a_tier_says_only_its_coverage(tmp_path: Path, write: Write) -> None:
    write("floe.yaml", *product("quality:", "  minimum_coverage: 90"))
    (tier,) = chain(tmp_path).tiers()
    path = ("governance", "quality_gates", "minimum_test_coverage")
    assert tier.settings.values == {path: 90}
    assert (tier.locate(path).line, tier.locate(path).column) == (5, 21)
