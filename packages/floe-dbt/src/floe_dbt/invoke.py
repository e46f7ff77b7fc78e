"""dbt in this process: quiet, without telemetry, and without traces in the process it ran in."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from dbt.cli.main import dbtRunner, dbtRunnerResult
from dbt.contracts.graph.manifest import Manifest
from dbt_common.events.base_types import EventMsg
from dbt_common.events.event_manager_client import cleanup_event_logger, get_event_manager

from floe_dbt.shadow import Shadow


def invoke(
    shadow: Shadow,
    command: Sequence[str],
    manifest: Manifest | None = None,
    on_event: Callable[[EventMsg], None] | None = None,
    log: bool = False,
) -> dbtRunnerResult:
    """Run one dbt command on the shadow project; Ctrl-C passes through, every other failure is in the result."""
    runner = dbtRunner(manifest=manifest, callbacks=[on_event] if on_event else [])
    with _surroundings():
        result = runner.invoke([*command, *_options(shadow, command[0], log)])
    if isinstance(result.exception, KeyboardInterrupt):
        raise result.exception
    return result


def vars_of(shadow: Shadow, given: Mapping[str, Any] | None = None) -> list[str]:
    """The option that hands the product's variables to dbt, and those given on top."""
    return ["--vars", json.dumps({**shadow.request.vars, **(given or {})})]


def _options(shadow: Shadow, command: str, log: bool) -> list[str]:
    paths = {
        "--project-dir": shadow.folder,
        "--profiles-dir": shadow.work,
        "--log-path": shadow.logs,
    }
    return [
        *(text for option, path in paths.items() for text in (option, str(path.resolve()))),
        *("--profile", "floe", "--target", "floe"),
        *("--quiet", "--no-print", "--no-use-colors", "--log-level", "none"),
        *("--log-level-file", "debug" if log else "none"),
        "--no-send-anonymous-usage-stats",
        *(() if command == "deps" else ("--target-path", str(shadow.target.resolve()))),
    ]


@contextmanager
def _surroundings() -> Iterator[None]:
    """What dbt changes in a process and needs from it: the working directory, its log streams, pyspark's name."""
    here = Path.cwd()
    stand_in = importlib.util.find_spec("pyspark") is None
    if stand_in:  # dbt-spark only asks whether it can be imported; nothing here starts an engine
        sys.modules["pyspark"] = ModuleType("pyspark")
    try:
        yield
    finally:
        if stand_in:
            del sys.modules["pyspark"]
        _close_logs()
        if Path.cwd() != here:
            os.chdir(here)


def _close_logs() -> None:
    """dbt leaves its log file open; the next run in this process, or another, may want to move it."""
    for logger in get_event_manager().loggers:
        python_logger: logging.Logger | None = getattr(logger, "_python_logger", None)
        for handler in python_logger.handlers if python_logger else ():
            if isinstance(handler, logging.FileHandler):
                handler.close()
    cleanup_event_logger()
