"""The one way to a plugin: found by name, loaded on use, checked once. What nobody names is never imported."""

from __future__ import annotations

import inspect
import re
from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distribution, distributions
from typing import ClassVar, TypeVar

from floe_core.findings import Finding, FloeError, Place

PREFIX = "floe."
_BODY = re.compile(r"\r?\n\r?\n")
_FIELD = re.compile(r"^(name|version):(.*)$", re.IGNORECASE | re.MULTILINE)


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
    return sorted(
        {
            Installed(entry.group, entry.name, name, version, entry.value)
            for name, version, entry in _announced()
            if entry.group == (group or entry.group) and entry.group.startswith(PREFIX)
        }
    )


def _announced() -> Iterator[tuple[str, str, EntryPoint]]:
    """Only of packages that announce something the metadata is read: all of it takes a tenth of a second."""
    seen: set[str] = set()
    for found in distributions():
        if f"[{PREFIX}" not in (found.read_text("entry_points.txt") or ""):
            continue
        name, version = _about(found)
        # No metadata: what an uninstall left. Seen before: the first on sys.path is the one that imports.
        if not name or name in seen:
            continue
        seen.add(name)
        first = distribution(name)
        other, its_version = _about(first)
        if other:  # else only a remnant
            found, version = first, its_version
        for entry in found.entry_points:
            yield name, version, entry


def _about(found: Distribution) -> tuple[str, str]:
    """Name and version at the head of the metadata; parsing all of it would take longer than the rest."""
    head = _BODY.split(found.read_text("METADATA") or found.read_text("PKG-INFO") or "", maxsplit=1)[0]
    said = {key.lower(): value.strip() for key, value in _FIELD.findall(head)}
    return said.get("name", ""), said.get("version", "")


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
        return EntryPoint(plugin.name, plugin.target, plugin.group).load()
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
