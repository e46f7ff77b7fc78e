"""dbt's manifest with compiled code, made without an engine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import cast

from dbt.adapters.factory import get_adapter_by_type
from dbt.compilation import Compiler
from dbt.contracts.graph.manifest import Manifest
from dbt.contracts.graph.nodes import GenericTestNode, ModelNode, SingularTestNode, SnapshotNode
from dbt_common.exceptions import DbtBaseException, UndefinedMacroError

from floe_core.findings import FloeError
from floe_dbt.errors import finding, refuse
from floe_dbt.invoke import invoke, vars_of
from floe_dbt.shadow import Shadow

__all__ = ["Manifest", "compile_nodes", "parse", "write"]

# Jinja is a program: without rows to work on it can fail in any of these ways.
UNKNOWABLE = (DbtBaseException, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def parse(shadow: Shadow) -> Manifest:
    """dbt's manifest without compiled code. Touches no engine, so it may run in a thread while one starts."""
    result = invoke(shadow, ["parse", "--no-write-json", *vars_of(shadow)])
    if not result.success:
        raise refuse("FLOE-E300", result.exception, shadow)
    return cast(Manifest, result.result)


def compile_nodes(shadow: Shadow, manifest: Manifest) -> None:
    """Fill in compiled_code. A model whose SQL only a query could tell keeps None: it is not followed, not passed.

    `dbt compile` stops at the first such model, so dbt's compiler is called here once for each node. Raises when a
    node uses a macro that does not exist: no engine would help.
    """
    undefined = []
    compiler = Compiler(get_adapter_by_type("spark").config)  # type: ignore[no-untyped-call]
    for node in list(manifest.nodes.values()):
        if not isinstance(node, ModelNode | SnapshotNode | GenericTestNode | SingularTestNode):
            continue
        try:
            compiler.compile_node(node, manifest, {}, write=False)
        except UNKNOWABLE as exc:
            node.compiled, node.compiled_code = False, None
            if isinstance(exc, UndefinedMacroError) and not _assigned(node.raw_code, str(exc)):
                undefined.append(finding("FLOE-E300", exc, shadow))
    if undefined:
        raise FloeError(*undefined)


def _assigned(raw_code: str, message: str) -> bool:
    """Whether the name that an error calls undefined is a variable, which rows might have given a value."""
    name = re.search(r"'(\w+)' is undefined", message)
    return name is None or bool(re.search(rf"\b(?:set|for)\b[^%]*\b{name[1]}\b", raw_code))


def write(manifest: Manifest, file: Path) -> Path:
    """Write manifest.json; whoever reads meanwhile sees the old one or the new one."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    manifest.write(str(part))  # type: ignore[no-untyped-call]
    part.replace(file)
    return file
