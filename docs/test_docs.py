"""The docs say what the code does: generated parts are current, examples work, links lead somewhere."""

# ruff: noqa: S101 - assert is how pytest speaks

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from docs.generate import EXAMPLES, FILES, PARTS, walk_commands
from docs.keys import manifest_file, product_file
from docs.markdown import Fence, anchors, fences, links, with_part
from docs.repo import ROOT, keep_current, pages, read
from docs.walk import can_be_walked, walk

from floe_cli.main import cli
from floe_core import CODES, load_manifest, load_product
from floe_core.codes import Exit
from floe_core.findings import Finding, Place, Report
from floe_core.load import all_keys
from floe_core.schemas.data_product import DataProduct
from floe_core.schemas.manifest import Manifest
from floe_core.schemas.parts import NamePattern, Plugin, Reference
from floe_core.settings import strategies

PAGES = pages()
HEADS = {
    "manifest": "apiVersion: floe.dev/v1\nkind: Manifest\nmetadata: {name: acme}\nscope: enterprise\n",
    "product": 'apiVersion: floe.dev/v1\nkind: DataProduct\nmetadata: {name: acme, version: "1.0"}\n',
}


# Generated


@pytest.mark.parametrize("page", FILES)
def test_generated_file_is_current(page: str) -> None:
    keep_current(page, FILES[page]())


@pytest.mark.parametrize("page", sorted({page for page, _ in PARTS}))
def test_generated_parts_are_current(page: str) -> None:
    text = read(page)
    for (home, name), content in PARTS.items():
        if home == page:
            text = with_part(text, name, content())
    keep_current(page, text)


def test_every_code_has_an_entry() -> None:
    text = read("docs/reference/codes.md")
    for row in CODES.values():
        assert f"\n### {row.id}\n" in text
        assert row.docs.endswith(f"#{row.id.lower()}")
        assert row.why in text
        assert row.fix in text


def test_every_command_and_flag_has_an_entry() -> None:
    text = read("docs/reference/cli.md")
    for context in walk_commands():
        section = text.partition(f"\n## {context.command_path}\n")[2].partition("\n## ")[0]
        assert section, context.command_path
        for param in context.command.get_params(context):
            for flag in param.opts if isinstance(param, click.Option) else [param.make_metavar(context)]:
                assert flag in section, f"{context.command_path} {flag}"


def test_every_key_has_an_entry() -> None:
    spelled_out = {name for block in (Plugin, Reference, NamePattern) for name in block.model_fields}
    for file, model in ((manifest_file(), Manifest), (product_file(), DataProduct)):
        documented = {re.sub(r"\[\w*\]", "", key.path) for key in file.every_key()}
        missing = [key for key in all_keys(model) if key not in documented]
        assert not [key for key in missing if key.rpartition(".")[2] not in spelled_out]


def test_every_strategy_has_an_example() -> None:
    assert {strategy.name for strategy in strategies().values()} == set(EXAMPLES)


def test_the_report_page_names_every_field_and_exit_code() -> None:
    text = read("docs/reference/report.md")
    finding = Finding("FLOE-E160", "", Place("floe.yaml"))
    for name in (*Report("floe compile").to_json(), *finding.to_json()):
        assert f"| `{name}` |" in text
    for code in Exit:
        assert f"| {int(code)} |" in text


# Examples


@pytest.mark.parametrize("page", [page for page in PAGES if can_be_walked(read(page))])
def test_walk(page: str, tmp_path: Path) -> None:
    keep_current(page, walk(read(page), tmp_path))


def blocks(*languages: str) -> Iterator[tuple[str, Fence]]:
    return ((page, fence) for page in PAGES for fence in fences(read(page)) if fence.language in languages)


def test_every_yaml_block_loads(tmp_path: Path) -> None:
    for page, fence in blocks("yaml"):
        if "file" in fence.words:
            assert can_be_walked(read(page)), page
            continue
        kind = fence.words.get("part-of", "")
        assert kind in HEADS, f"{page}: a yaml block says file=PATH or part-of={'|'.join(HEADS)}"
        path = tmp_path / "snippet.yaml"
        path.write_text(HEADS[kind] + fence.body, encoding="utf-8")
        load_manifest(path) if kind == "manifest" else load_product(path)


def test_every_output_is_checked() -> None:
    for page, fence in blocks("console", "python"):
        assert can_be_walked(read(page)), f"{page} shows output that nothing compares:\n{fence.body}"


def command_lines() -> Iterator[tuple[str, list[str]]]:
    for page, fence in blocks("console", "sh"):
        prompt = "$ " if fence.language == "console" else ""
        for line in fence.body.splitlines():
            if line.startswith(prompt) and "unchecked" not in fence.words:
                first, *words = shlex.split(line.removeprefix(prompt), comments=True) or [""]
                if Path(first).name == "floe":
                    yield page, words


@pytest.mark.parametrize(("page", "words"), list(command_lines()))
def test_every_command_line_is_accepted(page: str, words: list[str]) -> None:
    del page
    command: click.Command = cli
    context = click.Context(cli, info_name="floe", **cli.context_settings)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, found, words = command.resolve_command(context, words)
        assert found
        command = found
        context = click.Context(command, parent=context, info_name=name)
    command.parse_args(context, words) if "--help" not in words and "--version" not in words else None


# Links


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for link in links(read(page)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (ROOT / page).parent / path if path else ROOT / page
            assert target.exists(), f"{page} → {link}"
            if anchor:
                assert anchor in anchors(target.read_text(encoding="utf-8")), f"{page} → {link}"


def test_every_page_and_picture_is_linked() -> None:
    linked = {
        ((ROOT / page).parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(read(page))
    }
    files = [*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/**/*.svg")]
    assert not [path for path in files if path.resolve() not in linked]


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", read("Makefile"), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"(?:`|^)make ([a-z]+)", read(page), re.MULTILINE))
        assert named <= targets, f"{page}: {named - targets}"


def test_every_target_is_explained() -> None:
    for target in re.findall(r"^([a-z]+):.*## ", read("Makefile"), re.MULTILINE):
        if target not in ("help", "setup", "clean"):
            assert f"`make {target}`" in read("CONTRIBUTING.md"), target
