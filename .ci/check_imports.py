"""Check an installed distribution from inside its own environment; print what is wrong, one line each.

Every module can be imported, `__version__` is the distribution's version, and every import, also one
inside a function, is of the standard library, of the distribution itself or of one that it declares.

usage: check_imports.py DISTRIBUTION
"""

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path


def normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def modules(distribution: metadata.Distribution) -> dict[str, Path]:
    """Dotted name of every module that the distribution installed, with its file."""
    found = {}
    for file in distribution.files or []:
        if file.suffix == ".py":
            parts = file.with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = Path(str(file.locate()))
    return dict(sorted(found.items()))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level name of every absolute import, wherever it stands in the file."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module.partition(".")[0]


def undeclared(distribution: metadata.Distribution, found: dict[str, Path]) -> Iterator[str]:
    requirements = [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in distribution.requires or []]
    declared = {normalise(name) for name in [distribution.name, *requirements]}
    owners = metadata.packages_distributions()
    for name, path in found.items():
        for line, imported in imports(path):
            if imported in sys.stdlib_module_names:
                continue
            if declared.isdisjoint(map(normalise, owners.get(imported, []))):
                yield f"{name}:{line} imports {imported}, which {distribution.name} does not declare"


def broken(found: dict[str, Path]) -> Iterator[str]:
    for name in found:
        if name.rpartition(".")[2] == "__main__":
            continue  # importing it would run it
        try:
            importlib.import_module(name)
        except Exception as exc:  # noqa: BLE001 - whatever a module raises is the finding
            yield f"import {name}: {type(exc).__name__}: {exc}"


def wrong_version(distribution: metadata.Distribution, found: dict[str, Path]) -> Iterator[str]:
    for name in found:
        if "." not in name:
            written = getattr(sys.modules.get(name), "__version__", None)
            if written != distribution.version:
                yield f"{name}.__version__ is {written!r}, pyproject.toml says {distribution.version!r}"


def main() -> int:
    distribution = metadata.distribution(sys.argv[1])
    found = modules(distribution)
    problems = [*undeclared(distribution, found), *broken(found), *wrong_version(distribution, found)]
    if not found:
        problems.append("the wheel contains no module")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
