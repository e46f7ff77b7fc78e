"""dbt's manifest.json: what is read, what is refused, and what the project says about its nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifests import laws
from rule_context import dbt_test, model

from floe_core.circles import circles
from floe_core.findings import FloeError
from floe_core.project import DependsOn, Metadata, Project, RawManifest, RawNode, Ref, read_manifest

URL = "https://schemas.getdbt.com/dbt/manifest/v{}.json"


def refused(tmp_path: Path, data: bytes) -> tuple[str, str]:
    path = tmp_path / "manifest.json"
    path.write_bytes(data)
    with pytest.raises(FloeError) as caught:
        read_manifest(path)
    [finding] = caught.value.findings
    assert finding.place.path == str(path)
    assert finding.row.exit == 2
    return finding.code, finding.message


def document(version: object = 12, **keys: Any) -> bytes:
    about = {"dbt_schema_version": URL.format(version), "project_name": "shop"}
    return json.dumps({"metadata": about, **keys}).encode()


@pytest.mark.parametrize("version", [11, 12])
def test_versions_11_and_12_are_read(tmp_path: Path, version: int) -> None:
    (tmp_path / "manifest.json").write_bytes(document(version))
    assert read_manifest(tmp_path / "manifest.json").metadata.project_name == "shop"


@pytest.mark.parametrize("version", [1, 10, 13, 112, "9" * 5000])
def test_any_other_version_is_refused_by_name_with_those_that_are_read(tmp_path: Path, version: object) -> None:
    code, message = refused(tmp_path, document(version))
    assert code == "FLOE-E130"
    assert message == f"manifest.json is v{version}; floe reads v11 and v12"


def test_another_version_is_named_also_when_its_nodes_have_another_shape(tmp_path: Path) -> None:
    nodes = {"model.shop.a": {"refs": [["a"]], "name": 1}}
    assert refused(tmp_path, document(9, nodes=nodes)) == (
        "FLOE-E130",
        "manifest.json is v9; floe reads v11 and v12",
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b"not json",
        b'{"metadata": ',
        b"\xff\xfe",
        b'{"metadata": {"dbt_schema_version": "\xff"}}',
        b"[" * 200_000,
        document(nodes={"a": {"name": 1}}),
        document(nodes=[]),
    ],
)
def test_what_is_no_manifest_is_refused(tmp_path: Path, data: bytes) -> None:
    assert refused(tmp_path, data)[0] == "FLOE-E132"


def test_a_manifest_without_a_version_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, b'{"metadata": {}}')[0] == "FLOE-E130"


@laws
@given(cut=st.integers(0, 200))
def test_a_manifest_cut_short_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    whole = document(nodes={"model.shop.a": {"name": "a"}})
    assert refused(tmp_path_factory.mktemp("cut"), whole[: min(cut, len(whole) - 1)])[0] == "FLOE-E132"


@pytest.mark.parametrize("name", ["absent.json", "folder"])
def test_a_manifest_that_cannot_be_opened_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FloeError) as caught:
        read_manifest(tmp_path / name)
    assert [item.code for item in caught.value.findings] == ["FLOE-E131"]


def project(*nodes: RawNode) -> Project:
    return Project(RawManifest(Metadata(project_name="shop"), {node.unique_id: node for node in nodes}), Path())


def reading(name: str, *parents: str, **keys: Any) -> RawNode:
    return model(name, depends_on=DependsOn([f"model.shop.{parent}" for parent in parents]), **keys)


def test_tests_belong_to_the_node_they_are_attached_to() -> None:
    a = model("a")
    found = project(a, model("b"), dbt_test(a, "not_null", "id")).tests
    assert {key: [test.test_name for test in tests] for key, tests in found.items()} == {
        "model.shop.a": ["not_null"]
    }


@pytest.mark.parametrize(
    ("keys", "targets"),
    [
        ({"attached_node": None, "depends_on": DependsOn(["model.shop.a"])}, ["model.shop.a"]),
        ({"attached_node": None, "depends_on": DependsOn(["model.shop.b", "model.shop.a"])}, ["model.shop.a"]),
        ({"attached_node": None, "depends_on": DependsOn([])}, []),
    ],
)
def test_a_test_without_an_attachment_belongs_to_the_model_it_names(
    keys: dict[str, Any], targets: list[str]
) -> None:
    test = dbt_test(model("a"), "relationships", "id", model="{{ get_where_subquery(ref('a')) }}")
    loose = RawNode(**{name: getattr(test, name) for name in test.__struct_fields__} | keys)
    assert list(project(model("a"), model("b"), loose).tests) == targets


def test_a_singular_test_belongs_to_all_that_it_reads() -> None:
    singular = reading("totals", "a", "b", unique_id="test.shop.totals", resource_type="test")
    found = project(model("a"), model("b"), singular).tests
    assert sorted(found) == ["model.shop.a", "model.shop.b"]
    assert singular.test_name == "totals"


def test_the_order_has_every_node_after_all_that_it_reads() -> None:
    made = project(reading("c", "b", "a"), reading("b", "a"), model("a"))
    assert [node.name for node in made.order] == ["a", "b", "c"]
    assert made.circles == []


def test_nodes_in_circles_are_reported_and_the_rest_is_ordered() -> None:
    made = project(
        model("root"),
        reading("a", "b", "root"),
        reading("b", "a"),
        reading("own", "own"),
        reading("behind", "a"),
        reading("free", "root"),
    )
    assert [node.name for node in made.order] == ["root", "free"]
    assert [[node.name for node in circle] for circle in made.circles] == [["a", "b"], ["own"]]


def test_what_a_node_reads_includes_installed_packages_and_leaves_out_what_is_not_there() -> None:
    package = model("dates", package_name="dbt_date", unique_id="model.dbt_date.dates")
    node = model("a", depends_on=DependsOn(["model.dbt_date.dates", "source.shop.x.y", "model.shop.gone"]))
    made = project(package, node)
    assert [parent.name for parent in made.parents(node)] == ["dates"]
    assert [item.name for item in made.nodes] == ["a"]


graphs = st.dictionaries(st.sampled_from("abcdefg"), st.lists(st.sampled_from("abcdefg"), max_size=3), max_size=7)


@laws
@given(graphs)
def test_two_names_share_a_circle_when_each_reaches_the_other(graph: dict[str, list[str]]) -> None:
    def reach(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for after in graph[todo.pop()]:
                if after in graph and after not in seen:
                    seen.add(after)
                    todo.append(after)
        return seen

    reached = {name: reach(name) for name in graph}
    expected = {tuple(sorted({o for o in reached[n] if n in reached[o]})) for n in graph if n in reached[n]}
    assert {tuple(circle) for circle in circles(graph)} == expected


def test_a_chain_of_a_hundred_thousand_names_needs_no_recursion() -> None:
    names = [str(number) for number in range(100_000)]
    chain = {name: [following] for name, following in zip(names, [*names[1:], names[0]], strict=True)}
    assert [len(circle) for circle in circles(chain)] == [100_000]


def test_refs_are_read_as_they_were_written(tmp_path: Path) -> None:
    node = {
        "unique_id": "test.shop.t",
        "name": "t",
        "resource_type": "test",
        "package_name": "shop",
        "original_file_path": "tests/t.sql",
        "refs": [{"name": "ghost", "package": None, "version": None}],
        "config": {"enabled": False, "tags": "one"},
    }
    (tmp_path / "manifest.json").write_bytes(document(nodes={"test.shop.t": node}))
    [read] = read_manifest(tmp_path / "manifest.json").nodes.values()
    assert read.refs == [Ref("ghost")]
    assert read.all_tags == {"one"}
