"""The plugin under test, by name and settings, so that any process can make it for itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from floe_core.catalog import GROUP, CatalogPlugin
from floe_core.findings import Place
from floe_core.identity import Retry
from floe_core.plugins import load_plugin

HERE = Place("(conformance)")
QUICK = Retry(
    max_attempts=6,  # many that meet, on a busy machine
    initial_backoff=timedelta(milliseconds=20),
    max_backoff=timedelta(milliseconds=200),
    patience=timedelta(seconds=30),
)


@runtime_checkable
class Opens(Protocol):
    """A plugin whose client can be looked at: all that stand on floe-iceberg's base."""

    def open(self) -> AbstractContextManager[Any]:
        """The client."""


@dataclass
class Trap:
    """Goes off right before one of the client's calls, counted from 1."""

    number: int = 0  # 0: only count
    spring: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)

    def step(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self.number:
            self.spring()


class Watched:
    """A client that reports each call to the trap before it makes it."""

    def __init__(self, client: Any, trap: Trap) -> None:
        self._client, self._trap = client, trap

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self._trap.step(name)
            return found(*args, **kwargs)

        return call


@dataclass(frozen=True)
class Subject:
    """A plugin with its settings."""

    name: str
    config: Mapping[str, Any] = field(repr=False)  # it holds secrets
    home: Path
    undeclared: tuple[tuple[str, Any], ...] = ()  # capabilities that are taken away from it

    @property
    def kind(self) -> type[CatalogPlugin]:
        return load_plugin(GROUP, self.name, CatalogPlugin, HERE)  # type: ignore[type-abstract]  # an interface

    def without(self, **capabilities: Any) -> Subject:
        """The same plugin, had it not declared these."""
        return replace(self, undeclared=tuple(capabilities.items()))

    def at(self, **config: Any) -> Subject:
        """The same plugin with other settings."""
        return replace(self, config={**self.config, **config})

    def make(self, trap: Trap | None = None) -> CatalogPlugin:
        kind = self.kind
        plugin = (watched(kind, trap) if trap and issubclass(kind, Opens) else kind)(self.config, self.home)
        plugin.retry = QUICK
        if self.undeclared:
            plugin.capabilities = replace(plugin.capabilities, **dict(self.undeclared))  # type: ignore[misc]  # of this one
        return plugin


def watched(kind: type[CatalogPlugin], trap: Trap) -> type[CatalogPlugin]:
    """The same class, but every call of its client is reported."""

    @contextmanager
    def open_watched(self: Any) -> Iterator[Watched]:
        with kind.open(self) as client:  # type: ignore[attr-defined]  # it has been asked: see Opens
            yield Watched(client, trap)

    return type(kind.__name__, (kind,), {"open": open_watched})
