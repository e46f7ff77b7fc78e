"""dbt packages: installed under `work`, unless the project has installed them itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

import yaml
from dbt.config.project import package_config_from_data
from dbt.task.deps import _create_sha1_hash  # the one definition of "this lock belongs to these packages"
from dbt_common.exceptions import DbtBaseException
from yaml import YAMLError

from floe_core.findings import Finding, FloeError
from floe_dbt.errors import message_of, text_of
from floe_dbt.invoke import invoke, vars_of
from floe_dbt.shadow import PACKAGE_FILES, Shadow

LOCK = "package-lock.yml"
_ENTRY = re.compile(r"""[\s-]*(?:local|package|git|tarball):\s*["']?([^"'#\s]+)""")


@dataclass(frozen=True, slots=True)
class Declared:
    """The file that asks for packages, and what it asks for, local paths made absolute."""

    file: str
    content: dict[str, Any]
    hash: str  # as dbt's lock writes it, of the file as the user wrote it
    absolute_hash: str


def install_packages(shadow: Shadow, progress: Callable[[str], None]) -> None:
    """Make the packages that the project asks for available to the shadow project."""
    declared = _declared(shadow)
    if declared is None:
        _forget(shadow)
        return
    if _installed_by_user(shadow, declared):
        _link(shadow.packages, shadow.project / _install_path(shadow))
        return
    lock = _lock_of_user(shadow, declared)
    _write_yaml(shadow.folder / declared.file, declared.content)
    if lock:
        _write_yaml(shadow.folder / LOCK, lock)
    stamp, wanted = shadow.work / "packages.sha256", _digest(declared.content, lock)
    if stamp.is_file() and stamp.read_text() == wanted and shadow.packages.is_dir():
        return
    progress("installing dbt packages")
    if shadow.packages.is_symlink():
        shadow.packages.unlink()
    result = invoke(shadow, ["deps", *vars_of(shadow)])
    if not result.success:
        raise _refuse(shadow, declared.file, result.exception)
    stamp.write_text(wanted)


def _refuse(shadow: Shadow, file: str, exc: BaseException | None) -> FloeError:
    message = message_of(text_of(exc))
    mark = getattr(exc, "problem_mark", None)
    line = mark.line + 1 if mark else _line(shadow.project / file, message)
    return FloeError(Finding("FLOE-E303", message, shadow.place(file, line)))


def _line(file: Path, message: str) -> int:
    """The entry of a package whose name or path the message repeats; the first line when it repeats none."""
    for number, line in enumerate(file.read_text("utf-8", errors="replace").splitlines(), 1):
        entry = _ENTRY.match(line)
        if entry and entry[1].lstrip("./") in message:
            return number
    return 1


def _forget(shadow: Shadow) -> None:
    """Leave nothing of packages that the project no longer asks for."""
    for name in PACKAGE_FILES:
        (shadow.folder / name).unlink(missing_ok=True)
    if shadow.packages.is_symlink():
        shadow.packages.unlink()
    elif shadow.packages.is_dir():
        rmtree(shadow.packages)


def _declared(shadow: Shadow) -> Declared | None:
    for name in ("packages.yml", "dependencies.yml"):
        try:
            content = _load(shadow.project / name)
            if content.get("packages"):
                absolute = {**content, "packages": _absolute(content["packages"], shadow.project)}
                return Declared(name, absolute, _hash(content), _hash(absolute))
        except (DbtBaseException, YAMLError, TypeError, UnicodeDecodeError) as exc:
            raise _refuse(shadow, name, exc) from exc
    return None


def _hash(content: dict[str, Any]) -> str:
    return _create_sha1_hash(package_config_from_data(deepcopy({"packages": content["packages"]})).packages)


def _absolute(packages: list[Any], base: Path) -> list[Any]:
    return [
        {**item, "local": str((base / item["local"]).resolve())}
        if isinstance(item, dict) and "local" in item
        else item
        for item in packages
    ]


def _installed_by_user(shadow: Shadow, declared: Declared) -> bool:
    folder = shadow.project / _install_path(shadow)
    fresh = _lock(shadow).get("sha1_hash") == declared.hash
    return fresh and folder.is_dir() and any(folder.iterdir())


def _lock_of_user(shadow: Shadow, declared: Declared) -> dict[str, Any] | None:
    """The user's pins, if they belong to the packages declared."""
    lock = _lock(shadow)
    if lock.get("sha1_hash") != declared.hash:
        return None
    return {"packages": _absolute(lock["packages"], shadow.project), "sha1_hash": declared.absolute_hash}


def _install_path(shadow: Shadow) -> str:
    return str(shadow.config.get("packages-install-path") or "dbt_packages")


def _link(link: Path, target: Path) -> None:
    if link.is_symlink():
        link.unlink()
    if not link.exists():
        link.symlink_to(target)


def _load(file: Path) -> dict[str, Any]:
    content = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else None
    return content if isinstance(content, dict) else {}


def _lock(shadow: Shadow) -> dict[str, Any]:
    """The project's lock; one that cannot be read pins nothing, and dbt says what is wrong with it."""
    try:
        lock = _load(shadow.project / LOCK)
    except (YAMLError, UnicodeDecodeError):
        return {}
    return lock if isinstance(lock.get("packages"), list) else {}


def _write_yaml(file: Path, content: dict[str, Any]) -> None:
    file.write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")


def _digest(*parts: object) -> str:
    return sha256(yaml.safe_dump(parts).encode()).hexdigest()
