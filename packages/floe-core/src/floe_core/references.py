"""Turns secret references into secrets, at the last moment and only for the plugin that needs them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floe_core.findings import Finding, FloeError, Place
from floe_core.secrets import REFERENCES


def resolve_references(config: Mapping[str, Any], place: Place, folder: Path) -> dict[str, Any]:
    """The same settings with `{env: NAME}` and `{file: path}` replaced by what they stand for."""
    return {key: _resolve(value, place, folder) for key, value in config.items()}


def _resolve(value: Any, place: Place, folder: Path) -> Any:
    if isinstance(value, list | tuple):
        return [_resolve(item, place, folder) for item in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) not in REFERENCES:
        return resolve_references(value, place, folder)
    [(kind, name)] = value.items()
    return _READERS[kind](str(name), place, folder)


def _from_environment(name: str, place: Place, folder: Path) -> str:
    del folder
    if name not in os.environ:
        raise _unavailable(f"the environment variable {name} is not set", f"Set it:  export {name}=…", place)
    return os.environ[name]


def _from_file(name: str, place: Place, folder: Path) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8"
        fix = f"Write the secret to {folder / name}, or correct the reference."
        raise _unavailable(f"the secret file {name} cannot be read: {reason}", fix, place) from exc


def _from_backend(name: str, place: Place, folder: Path) -> str:
    del folder
    fix = "Use {env: NAME} or {file: path}; no secrets backend is installed here."
    raise _unavailable(f"nothing here can look up the secret {name.partition('#')[0]}", fix, place)


def _unavailable(message: str, fix: str, place: Place) -> FloeError:
    return FloeError(Finding("FLOE-E808", message, place, fix=fix))


_READERS = {"env": _from_environment, "file": _from_file, "secret": _from_backend}
