"""The shadow project: the user's dbt project with floe's macros and defaults, and nothing written into it.

dbt looks for dbt_project.yml in the folder that all its paths are relative to. So the shadow is a folder under
`work` with a dbt_project.yml of its own and a symbolic link for everything else in the user's project: relative
paths mean what they meant, and `original_file_path` in the manifest is the user's own. Folders between the product
and the project are mirrored as well, which keeps `../` inside the product working.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml

from floe_core.findings import Finding, FloeError, Place
from floe_core.transforms import TransformRequest
from floe_dbt.locate import PROJECT_FILE, find_project

PACKAGE_FILES = ("packages.yml", "dependencies.yml", "package-lock.yml")
FLOE_MACROS = "floe_macros"
PLAIN = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")
_MACRO = re.compile(r"^\{%-? macro (\w+)\(.*?^\{%-? endmacro %\}\n", re.DOTALL | re.MULTILINE)
_DEFINED = re.compile(r"\{%-?\s*macro\s+(\w+)\s*\(")


@dataclass(frozen=True, slots=True)
class Shadow:
    """A project as dbt is shown it."""

    request: TransformRequest
    project: Path  # the user's own: the folder that paths in the manifest are relative to
    folder: Path  # the shadow's dbt_project.yml is here
    config: Mapping[str, Any]  # what the user's dbt_project.yml says

    @property
    def work(self) -> Path:
        return self.request.work

    @property
    def target(self) -> Path:
        return self.work / "target"

    @property
    def logs(self) -> Path:
        return self.work / "logs"

    @property
    def packages(self) -> Path:
        return self.work / "packages"

    @property
    def separator(self) -> str:
        return "." if self.request.nested else "__"

    @property
    def namespace(self) -> str:
        return self.separator.join(self.request.namespace.split("."))

    def place(self, path: str, line: int = 1) -> Place:
        """A place in the user's project, also when dbt named it by its path in the shadow."""
        file = Path(path)
        if file.is_absolute():
            file = file.relative_to(self.folder) if file.is_relative_to(self.folder) else file
        return Place(str(self.project / file), line)


def make_shadow(request: TransformRequest, threads: int = 4) -> Shadow:
    """Write the shadow project and its profile under `request.work`."""
    if not PLAIN.fullmatch(request.namespace):
        file = request.product / "floe.yaml"
        message = f"namespace {request.namespace!r} is not what Spark itself would write"
        raise FloeError(
            Finding("FLOE-E304", message, Place(str(file)), expected="lower case, no quotes, no catalog")
        )
    product, work = request.product.resolve(), request.work.resolve()
    found = find_project(request)
    project = found or product
    parts = project.relative_to(product).parts
    config = _read(project / PROJECT_FILE) if found else _generated(request)
    folder = work.joinpath("project", *parts)
    _mirror(product, work / "project", parts, project, work)
    shadow = Shadow(request, project, folder, config)
    _write(folder / PROJECT_FILE, yaml.safe_dump(_with_floe(shadow), sort_keys=False, allow_unicode=True))
    _write(folder / FLOE_MACROS / "floe.sql", _macros(shadow))
    _write(work / "profiles.yml", json.dumps(_profile(shadow, threads), indent=2))
    return shadow


def _read(file: Path) -> dict[str, Any]:
    try:
        config = yaml.safe_load(file.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as exc:
        mark = getattr(exc, "problem_mark", None)
        place = Place(str(file), mark.line + 1, mark.column + 1) if mark else Place(str(file))
        problem = getattr(exc, "problem", None) or str(exc)
        raise FloeError(Finding("FLOE-E300", f"not valid YAML: {problem}", place)) from exc
    if not isinstance(config, dict):
        raise FloeError(Finding("FLOE-E300", "dbt_project.yml is not a mapping", Place(str(file))))
    return config


def _generated(request: TransformRequest) -> dict[str, Any]:
    """A project for a product that has none: `path` holds the models, dbt's own folder names the rest."""
    models = (request.product / request.path).resolve().relative_to(request.product.resolve())
    models = models if (request.product / models).is_dir() else models.parent
    models = models if models.parts else Path("models")
    name = request.namespace.rpartition(".")[2]
    return {"name": name, "version": "1.0.0", "config-version": 2, "model-paths": [models.as_posix()]}


def _mirror(real: Path, copy: Path, parts: tuple[str, ...], project: Path, work: Path) -> None:
    """Link everything in `real` but what floe writes itself, and the folders on the way to the project."""
    copy.mkdir(parents=True, exist_ok=True)
    for stale in copy.iterdir():
        if stale.is_symlink():
            stale.unlink()
    own = {PROJECT_FILE, FLOE_MACROS, *PACKAGE_FILES} if real == project else set()
    for entry in real.iterdir():
        if parts and entry.name == parts[0]:
            _mirror(entry, copy / entry.name, parts[1:], project, work)
        elif entry.name not in own and not work.is_relative_to(entry):
            (copy / entry.name).symlink_to(entry)


def _with_floe(shadow: Shadow) -> dict[str, Any]:
    config = dict(shadow.config)
    config["profile"] = "floe"
    config["macro-paths"] = [*_macro_paths(shadow), FLOE_MACROS]
    config["packages-install-path"] = str(shadow.packages.resolve())
    for kind in ("models", "seeds", "snapshots"):
        given = config.get(kind)
        given = dict(given) if isinstance(given, dict) else {}
        config[kind] = given if "file_format" in given else {"+file_format": "iceberg", **given}
    for path in ("target-path", "log-path", "clean-targets"):  # given on the command line
        config.pop(path, None)
    return config


def _macro_paths(shadow: Shadow) -> list[str]:
    given = shadow.config.get("macro-paths", ["macros"])
    return [str(path) for path in given] if isinstance(given, list) else ["macros"]


def _macros(shadow: Shadow) -> str:
    """floe's macros in one file, without those that the project has itself: a project may not define one twice."""
    theirs = {
        name
        for path in _macro_paths(shadow)
        for file in sorted((shadow.project / path).rglob("*.sql"))
        for name in _DEFINED.findall(file.read_text("utf-8", errors="replace"))
    }
    bundled = sorted(files("floe_dbt").joinpath("macros").iterdir(), key=lambda file: file.name)
    text = "\n".join(file.read_text("utf-8") for file in bundled if file.name.endswith(".sql"))
    kept = _MACRO.sub(lambda macro: "" if macro[1] in theirs else macro[0], text)
    product = {
        "namespace": shadow.namespace,
        "separator": shadow.separator,
        "layers": sorted(shadow.request.layers.items(), key=lambda item: -len(item[0])),
        "published": dict(shadow.request.published),
    }
    return f"{kept}\n{{% macro floe_product() %}}{{{{ return({json.dumps(product)}) }}}}{{% endmacro %}}\n"


def _profile(shadow: Shadow, threads: int) -> dict[str, Any]:
    output = {"type": "spark", "method": "session", "host": "NA", "schema": shadow.namespace, "threads": threads}
    return {"floe": {"target": "floe", "outputs": {"floe": output}}}


def _write(file: Path, text: str) -> None:
    """Write what changed only, so that dbt's partial parser keeps what it knows."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not (file.is_file() and file.read_text("utf-8") == text):
        file.write_text(text, "utf-8")
