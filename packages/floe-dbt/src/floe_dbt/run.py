"""A dbt run on the SparkSession of this process."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dbt.artifacts.schemas.run import RunExecutionResult, RunResult
from dbt.contracts.graph.manifest import Manifest
from dbt.contracts.graph.nodes import GenericTestNode, SingularTestNode
from dbt_common.events.base_types import EventMsg

from floe_core.findings import Finding, Place, Severity
from floe_dbt.errors import finding, message_of
from floe_dbt.events import NodeFinished, NodeStarted, OnEvent, Status
from floe_dbt.invoke import invoke, vars_of
from floe_dbt.locate import line_of
from floe_dbt.manifest import parse
from floe_dbt.shadow import Shadow

WAREHOUSE = "FLOE_RUN_WAREHOUSE"
LOCATION = "FLOE_RUN_LOCATION"  # followed by a space and the table's full name
Command = Literal["build", "run", "seed", "test", "snapshot"]

_SQL_LINE = re.compile(r"\bline (\d+),? pos(?:ition)?\b", re.IGNORECASE)
_BACKTICKED = re.compile(r"`(\w+)`")


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run did: every node in the order they finished, and a finding for each that did not go well."""

    nodes: tuple[NodeFinished, ...]
    findings: tuple[Finding, ...]

    @property
    def success(self) -> bool:
        return not any(found.blocks for found in self.findings)


def execute(
    shadow: Shadow,
    command: Command = "build",
    *,
    select: Sequence[str] = (),
    exclude: Sequence[str] = (),
    full_refresh: bool = False,
    vars: Mapping[str, Any] | None = None,
    manifest: Manifest | None = None,
    threads: int | None = None,
    warehouse: str | None = None,
    warn_only: bool = False,
    locations: Mapping[str, str] | None = None,
    on_event: OnEvent = lambda _: None,
) -> RunOutcome:
    """Run a dbt command; the SparkSession must exist.

    `manifest` is what `parse` returned, to parse only once. A table is put where `locations` says for its full
    name, else under `warehouse` when it is given, and wherever the catalog puts it otherwise. With `warn_only`
    no test stops what comes after it.
    """
    manifest = manifest or parse(shadow)
    if warn_only:
        _let_tests_warn(manifest)
    threads = 1 if _shares_temporary_views(manifest) else threads
    listener = _Listener(shadow, manifest, on_event)
    options = [
        *(("--select", *select) if select else ()),
        *(("--exclude", *exclude) if exclude else ()),
        *(("--full-refresh",) if full_refresh and command in ("build", "run", "seed") else ()),
        *(("--threads", str(threads)) if threads else ()),
    ]
    with _places(warehouse, locations or {}):
        command_line = [command, *options, *vars_of(shadow, vars)]
        result = invoke(shadow, command_line, manifest, listener.hear, log=True)
    if isinstance(result.result, RunExecutionResult):
        listener.settle(result.result.results)
    findings = listener.findings
    if not result.success and not findings:
        findings.append(finding("FLOE-E713", result.exception, shadow))
    return RunOutcome(tuple(listener.finished.values()), tuple(findings))


@contextmanager
def _places(warehouse: str | None, locations: Mapping[str, str]) -> Iterator[None]:
    """How the macro in locations.sql learns them: a dbt variable would make dbt parse everything again."""
    told = {f"{LOCATION} {name}": location for name, location in locations.items()}
    told |= {WAREHOUSE: warehouse} if warehouse else {}
    before = {name: os.environ.pop(name) for name in [*os.environ] if name.startswith((WAREHOUSE, LOCATION))}
    os.environ.update(told)
    try:
        yield
    finally:
        for name in told:
            os.environ.pop(name, None)
        os.environ.update(before)


def _let_tests_warn(manifest: Manifest) -> None:
    """Also a test whose own configuration says `severity: error`: the platform decides."""
    for node in manifest.nodes.values():
        if isinstance(node, GenericTestNode | SingularTestNode):
            node.config.severity = "WARN"  # type: ignore[assignment]  # dbt's own type for a checked text


def _shares_temporary_views(manifest: Manifest) -> bool:
    """dbt-spark's temporary views carry the table's name alone: two tables of one name cannot be built at once."""
    names = Counter(
        node.alias
        for node in manifest.nodes.values()
        if node.resource_type in ("model", "snapshot") and node.config.materialized in ("incremental", "snapshot")
    )
    return any(count > 1 for count in names.values())


class _Listener:
    """Turns dbt's events into floe's, and remembers the SQL that each node sent last."""

    def __init__(self, shadow: Shadow, manifest: Manifest, on_event: OnEvent) -> None:
        self.shadow, self.manifest, self.tell = shadow, manifest, on_event
        self.finished: dict[str, NodeFinished] = {}
        self.findings: list[Finding] = []
        self.sql: dict[str, str] = {}

    def hear(self, message: EventMsg) -> None:
        name: str = message.info.name
        data: Any = message.data
        if name == "SQLQuery":
            self.sql[data.node_info.unique_id] = data.sql
        elif name == "NodeStart":
            info = data.node_info
            self.tell(NodeStarted(info.unique_id, info.node_name, info.resource_type))
        elif name == "NodeFinished":
            result = data.run_result
            self._finish(data.node_info.unique_id, result.status, result.execution_time, result.message, None)

    def settle(self, results: Sequence[RunResult]) -> None:
        """What dbt reports at the end only: skipped nodes, hooks, and how many rows a test found."""
        for result in results:
            self._finish(
                result.node.unique_id, str(result.status), result.execution_time, result.message, result.failures
            )
        self.findings = [found for node in self.finished.values() for found in self._judge(node)]

    def _finish(
        self, unique_id: str, status: str, seconds: float, message: str | None, failures: int | None
    ) -> None:
        known = self.finished.get(unique_id)
        at = known.ended if known else time.time()
        ended = Status(status)
        node = self._node(unique_id)
        path, line = (
            self._place(unique_id, message or "")
            if ended.bad or ended is Status.WARN
            else (self._path(unique_id), 1)
        )
        kind = str(node.resource_type) if node else unique_id.partition(".")[0]
        text = message_of(message or "")
        self.finished[unique_id] = event = NodeFinished(
            unique_id,
            node.name if node else unique_id,
            kind,
            ended,
            seconds,
            text,
            path,
            line,
            failures,
            at,
            *self._tested(node),
        )
        if known is None:
            self.tell(event)

    def _tested(self, node: Any) -> tuple[str, str, str]:
        """What a test tests: the kind of test, the model, its column."""
        if not isinstance(node, GenericTestNode | SingularTestNode):
            return "", "", ""
        attached = getattr(node, "attached_node", None) or next(iter(node.depends_on.nodes), "")
        tested = self.manifest.nodes.get(attached) or self.manifest.sources.get(attached)
        metadata, column = getattr(node, "test_metadata", None), getattr(node, "column_name", None)
        return metadata.name if metadata else node.name, tested.name if tested else "", column or ""

    def _node(self, unique_id: str) -> Any:
        return self.manifest.nodes.get(unique_id) or self.manifest.unit_tests.get(unique_id)

    def _path(self, unique_id: str) -> str:
        node = self._node(unique_id)
        return self.shadow.place(node.original_file_path).path if node else str(self.shadow.project)

    def _place(self, unique_id: str, message: str) -> tuple[str, int]:
        """The user's line that the engine's error is about, found by the text of the SQL that was sent."""
        node = self._node(unique_id)
        path = self._path(unique_id)
        if node is None or not Path(path).is_file():
            return path, 1
        raw = [line.strip() for line in Path(path).read_text("utf-8", errors="replace").splitlines()]
        number = _SQL_LINE.search(message)
        sent = [line.strip() for line in self.sql.get(unique_id, "").splitlines()][
            : int(number[1]) if number else 0
        ]
        if sent and sent[-1] in raw:
            return path, raw.index(sent[-1]) + 1
        for name in _BACKTICKED.findall(message)[:1]:
            return path, line_of(Path(path), rf"\b{name}\b")
        for below, text in enumerate(reversed(sent)):  # a line with Jinja in it: count from one above without
            if text and raw.count(text) == 1:
                return path, min(raw.index(text) + 1 + below, len(raw))
        return path, self._declared(node, raw)

    def _declared(self, node: Any, raw: Sequence[str]) -> int:
        """The line of a YAML file that declares a unit test, or the column or model of a generic test."""
        tested = self.manifest.nodes.get(getattr(node, "attached_node", None) or "")
        names = (tested.name, node.column_name) if tested else (node.name,)
        line = 0
        for name in filter(None, names):
            wanted = re.compile(rf"\bname:\s*[\"']?{re.escape(name)}\b")
            line = next((at for at in range(line, len(raw)) if wanted.search(raw[at])), line)
        return line + 1

    def _judge(self, node: NodeFinished) -> list[Finding]:
        place = Place(node.path, node.line)
        of = self._node(node.unique_id)
        if node.status is Status.WARN and node.kind == "test":
            return [Finding("FLOE-E711", f"test {node.name!r}: {node.message}", place, Severity.WARNING)]
        if not node.status.bad:
            return []
        if node.kind in ("test", "unit_test"):
            return [Finding("FLOE-E711", f"test {node.name!r}: {node.message}", place)]
        if of is not None and getattr(of, "language", "sql") == "python":
            return [Finding("FLOE-E712", f"model {node.name!r} is written in Python", place)]
        if node.kind in ("operation", "hook"):
            return [Finding("FLOE-E713", f"hook {node.name!r}: {node.message}", place)]
        return [Finding("FLOE-E710", f"{node.kind} {node.name!r}: {node.message}", place)]
