"""A manifest is made again when, and only when, something that dbt reads has changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from floe_core.findings import FloeError
from floe_core.fingerprint import hash_files, hash_lock, hash_packages, hash_setting, layout_of, project_root, walk


@pytest.fixture
def product(tmp_path: Path) -> Path:
    folder = tmp_path / "product"
    for name, text in {
        "dbt_project.yml": "name: p\nmodel-paths: [models, more]\n",
        "models/a.sql": "select 1",
        "models/deep/er/b.sql": "select {{ env_var('REGION', 'eu') }}",
        "more/c.py": "def model(dbt, session): ...",
        "seeds/s.csv": "id\n1\n",
        "macros/m.sql": '{% macro x() %}{{ env_var(\n  "STAGE") }}{% endmacro %}',
        "models/docs.md": "{% docs a %}x{% enddocs %}",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def digest(product: Path, path: str = "models/") -> str:
    return hash_files(layout_of(product, path)).digest


@pytest.mark.parametrize(
    "name",
    [
        "dbt_project.yml",
        "models/a.sql",
        "models/deep/er/b.sql",
        "more/c.py",
        "seeds/s.csv",
        "macros/m.sql",
        "models/docs.md",
    ],
)
def test_a_change_anywhere_that_dbt_reads_counts(product: Path, name: str) -> None:
    before = digest(product)
    with (product / name).open("a", encoding="utf-8") as file:
        file.write(" ")
    assert digest(product) != before


@pytest.mark.parametrize(
    "name", ["packages.yml", "dependencies.yml", "models/new.yml", "tests/t.sql", "snapshots/s.sql"]
)
def test_a_new_file_counts(product: Path, name: str) -> None:
    before = digest(product)
    (product / name).parent.mkdir(exist_ok=True)
    (product / name).write_text("x", encoding="utf-8")
    assert digest(product) != before


@pytest.mark.parametrize(
    "name",
    ["target/run.sql", "logs/x.md", "dbt_packages/p/models/a.sql", ".floe/x.yml", "README.md", "models/x.png"],
)
def test_what_dbt_does_not_read_does_not_count(product: Path, name: str) -> None:
    before = digest(product)
    (product / name).parent.mkdir(parents=True, exist_ok=True)
    (product / name).write_text("x", encoding="utf-8")
    assert digest(product) == before


def test_times_folders_and_the_order_on_disk_do_not_count(product: Path, tmp_path: Path) -> None:
    before = digest(product)
    os.utime(product / "models" / "a.sql", (1, 1))
    assert digest(product) == before
    product.rename(tmp_path / "elsewhere")
    assert digest(tmp_path / "elsewhere") == before


def test_a_renamed_file_and_swapped_contents_count(product: Path) -> None:
    before = digest(product)
    (product / "models" / "a.sql").rename(product / "models" / "z.sql")
    renamed = digest(product)
    assert renamed != before


def test_variables_that_the_project_asks_for_are_part_of_the_setting(
    product: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = hash_files(layout_of(product, "models/")).variables
    assert variables == ("REGION", "STAGE")
    monkeypatch.delenv("REGION", raising=False)
    absent = hash_setting({}, {}, variables)
    monkeypatch.setenv("REGION", "us")
    assert hash_setting({}, {}, variables) != absent
    assert hash_setting({"floe-dbt": "2"}, {}, ()) != hash_setting({"floe-dbt": "1"}, {}, ())
    assert hash_setting({}, {"vars": {"a": 1}}, ()) != hash_setting({}, {"vars": {"a": 2}}, ())


def test_links_are_followed_once_and_circles_end(product: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "s.sql").write_text("select 1")
    (product / "models" / "linked").symlink_to(shared)
    (product / "models" / "circle").symlink_to(product / "models")
    (product / "models" / "self").symlink_to("self")
    (product / "models" / "gone.sql").symlink_to(tmp_path / "nowhere")
    assert sorted(path.name for path in walk(product / "models")) == [
        "a.sql",
        "b.sql",
        "docs.md",
        "gone.sql",
        "s.sql",
    ]
    before = digest(product)
    (shared / "s.sql").write_text("select 2")
    assert digest(product) != before


def test_a_pipe_in_the_project_does_not_block(product: Path) -> None:
    before = digest(product)
    os.mkfifo(product / "models" / "pipe.sql")
    assert digest(product) == before


def forbidding(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same call, which nobody may make on a file or folder of that name (root may read everything)."""

    def forbidden(path: Any, *args: Any, **keys: Any) -> Any:
        if Path(path).name == name:
            raise PermissionError(13, "Permission denied", str(path))
        return call(path, *args, **keys)

    return forbidden


@pytest.mark.parametrize(
    ("module", "function", "name"),
    [("os", "scandir", "deep"), ("builtins", "open", "a.sql"), ("builtins", "open", "dbt_project.yml")],
)
def test_what_dbt_would_leave_out_because_it_may_not_read_it_is_an_error(
    product: Path, monkeypatch: pytest.MonkeyPatch, module: str, function: str, name: str
) -> None:
    original = getattr(import_module(module), function)
    monkeypatch.setattr(f"{module}.{function}", forbidding(original, name))
    with pytest.raises(FloeError) as caught:
        digest(product)
    [finding] = caught.value.findings
    assert (finding.code, Path(finding.path).name) == ("FLOE-E100", name)
    assert finding.message == f"{name} cannot be read: Permission denied"


def test_where_paths_are_computed_every_folder_counts(product: Path) -> None:
    (product / "dbt_project.yml").write_text("name: p\nmodel-paths: [\"{{ var('x') }}\"]\n")
    before = digest(product)
    (product / "anywhere").mkdir()
    (product / "anywhere" / "x.sql").write_text("select 1")
    assert digest(product) != before


def test_a_project_file_that_cannot_be_read_still_has_a_fingerprint(product: Path) -> None:
    (product / "dbt_project.yml").write_text("name: [")
    before = digest(product)
    (product / "dbt_project.yml").write_text("name: ]")
    assert digest(product) != before


def test_the_project_is_the_nearest_one_inside_the_product(product: Path, tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: outside\n")
    (product / "inner").mkdir()
    (product / "inner" / "dbt_project.yml").write_text("name: inner\n")
    assert project_root(product, "models/deep") == product.resolve()
    assert project_root(product, "inner/models") == (product / "inner").resolve()
    (product / "dbt_project.yml").unlink()
    assert project_root(product, "models") is None


def test_a_product_without_a_dbt_project_is_hashed_by_its_path(product: Path) -> None:
    (product / "dbt_project.yml").unlink()
    before = digest(product)
    (product / "more" / "c.py").write_text("changed")
    assert digest(product) == before
    (product / "models" / "a.sql").write_text("changed")
    assert digest(product) != before


def test_packages_count_by_their_lock_their_project_files_and_their_links(product: Path, tmp_path: Path) -> None:
    layout = layout_of(product, "models/")
    assert (hash_lock(layout), hash_packages(layout)) == ("", "")
    (product / "package-lock.yml").write_text("sha1_hash: x\n")
    assert len(hash_lock(layout)) == 64
    package = product / "dbt_packages" / "utils"
    package.mkdir(parents=True)
    (package / "dbt_project.yml").write_text("version: 1\n")
    first = hash_packages(layout)
    (package / "dbt_project.yml").write_text("version: 2\n")
    second = hash_packages(layout)
    local = tmp_path / "local"
    local.mkdir()
    (local / "m.sql").write_text("select 1")
    (product / "dbt_packages" / "local").symlink_to(local)
    third = hash_packages(layout)
    (local / "m.sql").write_text("select 2")
    assert len({first, second, third, hash_packages(layout)}) == 4
