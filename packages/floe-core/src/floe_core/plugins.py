"""The one way to a plugin: found by name, loaded on use, checked once. What nobody names is never imported."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import ClassVar, TypeVar

from floe_core.distributions import distributions
from floe_core.findings import Finding, FloeError, Place

PREFIX = "floe."


class PluginInterface(ABC):
    """What every interface for plugins has: the version of its contract with plugin authors."""

    API_VERSION: ClassVar[int]


I = TypeVar("I", bound=PluginInterface)  # noqa: E741 - the conventional name for an interface here
T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Installed:
    """A plugin as its package announces it; nothing of it has been imported."""

    group: str
    name: str
    distribution: str
    version: str
    target: str

    @property
    def label(self) -> str:
        return f"{self.name} of {self.distribution} {self.version}"


def installed(group: str = "") -> list[Installed]:
    """Every plugin that an installed package announces, in one group or in all."""
    return sorted({plugin for plugin in _announced() if plugin.group == (group or plugin.group)})


def _announced() -> Iterator[Installed]:
    for found in distributions():
        text = found.announces()
        if f"[{PREFIX}" in text:
            name, version = found.name_and_version()
            entries = _entries(text) if name else ()
            yield from (Installed(group, entry, name, version, target) for group, entry, target in entries)


def _entries(text: str) -> Iterator[tuple[str, str, str]]:
    """The entry points of floe's groups: group, name, and what it leads to."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[]").strip()
        elif group.startswith(PREFIX) and "=" in line and line[0] not in "#;":
            name, _, target = line.partition("=")
            yield group, name.strip(), target.strip()


def load_plugin(group: str, name: str, interface: type[I], place: Place) -> type[I]:
    """The plugin class of that name; `place` is where the name was written."""
    plugin = _find(group, name, place)
    if plugin is None:
        legal = ", ".join(sorted({plugin.name for plugin in installed(group)})) or "none"
        raise _refuse("FLOE-E801", f"no installed package provides {name!r} for {group}", place, expected=legal)
    return _checked(_import(plugin, place), plugin, interface, place)


def load_object(group: str, name: str, place: Place) -> object | None:
    """What stands behind an entry point that is not a class of ours, a command say; None when nobody has it."""
    plugin = _find(group, name, place)
    return _import(plugin, place) if plugin else None


def _find(group: str, name: str, place: Place) -> Installed | None:
    candidates = [plugin for plugin in installed(group) if plugin.name == name]
    if len(candidates) > 1:
        homes = " and ".join(f"{plugin.distribution} {plugin.version}" for plugin in candidates)
        raise _refuse("FLOE-E805", f"{name!r} for {group} is provided by {homes}", place)
    return candidates[0] if candidates else None


def gather(plugin: Installed, kind: type[T], place: Place) -> list[T]:
    """What a plugin that is a plain callable yields. It may fail in any way: named, not hidden."""
    source = _import(plugin, place)
    if not callable(source):
        raise _refuse(
            "FLOE-E803", f"{plugin.label} ({plugin.target}) cannot be called", place, expected="a callable"
        )
    try:
        items = list(source())
    except (Exception, SystemExit) as exc:
        cause = f"{type(exc).__name__}: {exc}"
        raise _refuse("FLOE-E802", f"{plugin.label} fails: {cause}", place) from exc
    if not all(isinstance(item, kind) for item in items):
        message = f"{plugin.label} ({plugin.target}) yields something else than {kind.__name__}"
        raise _refuse("FLOE-E803", message, place, expected=kind.__name__)
    return items


def _import(plugin: Installed, place: Place) -> object:
    try:
        module, _, names = plugin.target.partition("[")[0].partition(":")  # without extras
        found: object = import_module(module.strip())
        for name in filter(None, names.strip().split(".")):
            found = getattr(found, name)
        return found
    except (Exception, SystemExit) as exc:  # a plugin may fail in any way: named, not hidden
        cause = f"{type(exc).__name__}: {exc}"
        raise _refuse("FLOE-E802", f"{plugin.label} cannot be imported: {cause}", place) from exc


def _checked(loaded: object, plugin: Installed, interface: type[I], place: Place) -> type[I]:
    if not (isinstance(loaded, type) and issubclass(loaded, interface)):
        message = f"{plugin.label} ({plugin.target}) is not a {interface.__name__}"
        raise _refuse("FLOE-E803", message, place, expected=f"a subclass of {interface.__name__}")
    if inspect.isabstract(loaded):
        missing = ", ".join(sorted(loaded.__abstractmethods__))
        raise _refuse("FLOE-E803", f"{plugin.label} lacks {missing}", place, expected=missing)
    declared = getattr(loaded, "api_version", None)
    if declared != interface.API_VERSION:
        was = "declares no api_version" if declared is None else f"is for plugin API {declared}"
        message = f"{plugin.label} {was}; this floe has {interface.__name__} API {interface.API_VERSION}"
        raise _refuse("FLOE-E804", message, place, expected=str(interface.API_VERSION), actual=str(declared))
    return loaded


def _refuse(
    code: str, message: str, place: Place, expected: str | None = None, actual: str | None = None
) -> FloeError:
    return FloeError(Finding(code, message, place, expected=expected, actual=actual))
