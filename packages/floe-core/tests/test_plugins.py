"""Plugins are found by name in real distributions, loaded on use, and refused with the distribution's name."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import astuple
from importlib import metadata
from pathlib import Path

import pytest

from floe_core.distributions import version_of
from floe_core.findings import Finding, FloeError, Place
from floe_core.plugins import Installed, PluginInterface, installed, load_plugin

GROUP = "floe.test_greeters"
HERE = Place("manifest.yaml", 7, 11)
EXIT_COULD_NOT_CHECK = 3


class Greeter(PluginInterface):
    """An interface as a package of floe would define it."""

    API_VERSION = 2

    @abstractmethod
    def greet(self) -> str: ...

    @abstractmethod
    def leave(self) -> str: ...


GOOD = """
class Hello(Greeter):
    api_version = 2
    def greet(self): return "hello"
    def leave(self): return "bye"
"""

Install = Callable[..., Path]


@pytest.fixture(name="install")
def install_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a distribution on sys.path: a module, and the files that an installer would write for it."""
    before = set(sys.modules)
    monkeypatch.setitem(sys.modules, "greeter_interface", sys.modules[Greeter.__module__])

    def install(
        name: str, code: str, entry: str = "", *, version: str = "1.0", group: str = GROUP, folder: str = ""
    ) -> Path:
        site = tmp_path / (folder or f"site-{name}-{version}")
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        module = f"{name.replace('-', '_')}_code"
        (site / f"{module}.py").write_text(f"from greeter_interface import Greeter\n{code}", encoding="utf-8")
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
        )
        lines = entry or f"hello = {module}:Hello"
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(site)
        return site

    yield install
    for module in set(sys.modules) - before:
        if module.endswith("_code"):
            del sys.modules[module]


def load(name: str = "hello") -> type[Greeter]:
    return load_plugin(GROUP, name, Greeter, HERE)  # type: ignore[type-abstract] # an interface is abstract by nature


def refusal(name: str = "hello") -> Finding:
    with pytest.raises(FloeError) as caught:
        load(name)
    [finding] = caught.value.findings
    assert finding.place == HERE
    assert finding.row.exit == EXIT_COULD_NOT_CHECK
    return finding


def test_a_plugin_is_listed_without_being_imported(install: Install) -> None:
    install("floe-boom", "raise RuntimeError('imported')", version="3.1")
    assert installed(GROUP) == [Installed(GROUP, "hello", "floe-boom", "3.1", "floe_boom_code:Hello")]
    assert "floe_boom_code" not in sys.modules


def test_plugins_are_listed_in_order_and_only_those_of_floe(install: Install) -> None:
    install("floe-two", GOOD, "zed = floe_two_code:Hello\nalpha = floe_two_code:Hello")
    install("other-tool", GOOD, "tool = other_tool_code:Hello", group="console_scripts")
    install("floe-one", GOOD, "mid = floe_one_code:Hello", group="floe.test_another")
    ours = [(item.group, item.name) for item in installed() if item.group.startswith("floe.test_")]
    assert ours == [("floe.test_another", "mid"), (GROUP, "alpha"), (GROUP, "zed")]
    assert [item.name for item in installed(GROUP)] == ["alpha", "zed"]
    assert installed("console_scripts") == []


def test_the_named_plugin_is_loaded_and_no_other(install: Install) -> None:
    install("floe-boom", "raise RuntimeError('imported')", "boom = floe_boom_code:Hello")
    install("floe-good", GOOD)
    plugin = load()
    assert plugin().greet() == "hello"
    assert plugin.__module__ == "floe_good_code"
    assert "floe_boom_code" not in sys.modules


def test_the_first_copy_on_the_path_is_the_one_that_counts(install: Install) -> None:
    install("floe-good", GOOD, version="1.0", folder="behind")
    install("floe-good", GOOD, version="2.0", folder="in_front")
    assert [item.version for item in installed(GROUP)] == ["2.0"]
    load()
    assert Path(str(sys.modules["floe_good_code"].__file__)).parent.name == "in_front"


def test_a_name_that_nobody_provides_is_refused_with_the_names_there_are(install: Install) -> None:
    install("floe-good", GOOD, "hello = floe_good_code:Hello\nciao = floe_good_code:Hello")
    finding = refusal("helo")
    assert (finding.code, finding.expected) == ("FLOE-E801", "ciao, hello")
    assert finding.message == f"no installed package provides 'helo' for {GROUP}"
    assert "floe_good_code" not in sys.modules


def test_without_any_plugin_the_refusal_says_so() -> None:
    assert (refusal().code, refusal().expected) == ("FLOE-E801", "none")


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        (
            "import a_package_that_is_not_there",
            "ModuleNotFoundError: No module named 'a_package_that_is_not_there'",
        ),
        ("raise ValueError('no licence')", "ValueError: no licence"),
        ("raise SystemExit('goodbye')", "SystemExit: goodbye"),
        ("def broken(:", "SyntaxError: invalid syntax"),
        ("Other = Greeter", "AttributeError: module 'floe_bad_code' has no attribute 'Hello'"),
    ],
    ids=["missing module", "error", "exit", "syntax", "missing attribute"],
)
def test_a_plugin_that_cannot_be_imported_is_refused_with_the_cause(
    install: Install, code: str, cause: str
) -> None:
    install("floe-bad", code, version="0.4")
    finding = refusal()
    assert finding.code == "FLOE-E802"
    assert finding.message.startswith(f"hello of floe-bad 0.4 cannot be imported: {cause}")


def test_the_cause_of_a_failed_import_is_chained(install: Install) -> None:
    install("floe-bad", "raise ValueError('no licence')")
    with pytest.raises(FloeError) as caught:
        load()
    assert isinstance(caught.value.__cause__, ValueError)


def test_an_interrupt_during_import_is_no_finding(install: Install) -> None:
    install("floe-slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load()


@pytest.mark.parametrize("code", [GOOD.replace("Greeter", "object"), "Hello = Greeter.greet", "Hello = 7"])
def test_something_else_than_a_subclass_is_refused(install: Install, code: str) -> None:
    install("floe-odd", code, version="2.5")
    finding = refusal()
    assert (finding.code, finding.expected) == ("FLOE-E803", "a subclass of Greeter")
    assert finding.message == "hello of floe-odd 2.5 (floe_odd_code:Hello) is not a Greeter"


def test_methods_that_are_missing_are_named(install: Install) -> None:
    install("floe-half", "class Hello(Greeter):\n    api_version = 2\n")
    finding = refusal()
    assert (finding.code, finding.message) == ("FLOE-E803", "hello of floe-half 1.0 lacks greet, leave")


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("1", "is for plugin API 1"),
        ("0", "is for plugin API 0"),
        ("3", "is for plugin API 3"),
        ("None", "declares no api_version"),
    ],
)
def test_a_plugin_for_another_floe_is_refused(install: Install, declared: str, said: str) -> None:
    install("floe-old", GOOD.replace("api_version = 2", f"api_version = {declared}"), version="0.9")
    finding = refusal()
    assert (finding.code, finding.expected, finding.actual) == ("FLOE-E804", "2", declared)
    assert finding.message == f"hello of floe-old 0.9 {said}; this floe has Greeter API 2"


def test_two_distributions_with_one_name_are_refused_unloaded(install: Install) -> None:
    install("floe-second", "raise RuntimeError('imported')", version="2.0")
    install("floe-first", "raise RuntimeError('imported')", version="1.0")
    finding = refusal()
    assert (finding.code, finding.message) == (
        "FLOE-E805",
        f"'hello' for {GROUP} is provided by floe-first 1.0 and floe-second 2.0",
    )
    assert not {"floe_first_code", "floe_second_code"} & set(sys.modules)


def test_a_leftover_of_an_uninstalled_package_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, install: Install
) -> None:
    (tmp_path / "leftovers" / "gone-1.0.dist-info").mkdir(parents=True)
    nameless = tmp_path / "leftovers" / "nameless-1.0.dist-info"
    nameless.mkdir()
    (nameless / "METADATA").write_text("Metadata-Version: 2.1\n", encoding="utf-8")
    (nameless / "entry_points.txt").write_text(f"[{GROUP}]\nghost = gone:Ghost\n", encoding="utf-8")
    half_gone = tmp_path / "leftovers" / "floe_good-0.9.dist-info"  # its metadata went first
    half_gone.mkdir()
    (half_gone / "entry_points.txt").write_text(f"[{GROUP}]\nold = gone:Old\n", encoding="utf-8")
    install("floe-good", GOOD)
    monkeypatch.syspath_prepend(tmp_path / "leftovers")
    assert [item.name for item in installed(GROUP)] == ["hello"]


def test_what_is_installed_is_what_python_itself_finds(install: Install) -> None:
    """In this environment, with everything that is on sys.path."""
    install("floe-good", GOOD)
    theirs = {
        (entry.group, entry.name, found.metadata["Name"], found.version, entry.value)
        for found in metadata.distributions()
        for entry in found.entry_points
        if entry.group.startswith("floe.")
    }
    assert (GROUP, "hello", "floe-good", "1.0", "floe_good_code:Hello") in theirs
    assert {astuple(plugin) for plugin in installed()} == theirs
    for name in ("PyYAML", "floe_core", "msgspec", "pydantic-core"):
        assert version_of(name) == metadata.version(name)
    assert version_of("no-such-package") is None


def test_extras_comments_and_names_with_dots_are_read(install: Install) -> None:
    install(
        "floe-good",
        f"{GOOD}\nclass Outer:\n    Hello = Hello\n",
        "# a comment\nhello = floe_good_code : Outer.Hello [extra]\n\n[console_scripts]\nx = y:z",
    )
    assert load()().greet() == "hello"
    assert [item.name for item in installed(GROUP)] == ["hello"]
