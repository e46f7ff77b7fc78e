"""What this command line does for commands of other packages: a floe_core.commands.CommandHost."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from floe_core.compile import Outcome
    from floe_core.findings import Report


class Host:
    """Imports on use, so that `floe --help` stays instant."""

    def emit(self, report: Report, output: str) -> int:
        from floe_cli.terminal import emit

        return emit(report, output)

    def compile(self, root: Path, output: str) -> Outcome:
        from floe_cli.compose import environment
        from floe_cli.terminal import Steps, Waiting
        from floe_core.compile import compile_project
        from floe_core.line import Line

        env = environment(check=False, register=False, strict=False, dbt_manifest=None, before_run=True)
        return compile_project(root, env, Line(Steps() if output == "text" else Waiting()))

    def say(self, line: str) -> None:
        import click

        from floe_cli.terminal import harmless

        click.echo(harmless(line), err=True)

    def verdict(self, text: str, ok: bool) -> str:
        from floe_cli.terminal import verdict

        return verdict(text, ok)

    def table(self, rows: list[tuple[str, ...]]) -> str:
        from floe_cli.terminal import table

        return table(rows)
