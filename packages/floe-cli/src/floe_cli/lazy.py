"""A click group that knows its commands by name and help line, and imports one only to run it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FOUND = "floe_cli.lazy.found"


class ReaderLeftError(Exception):
    """Nobody reads our output any more. Not an OSError: click would end those with exit code 1, like findings."""


class LazyGroup(click.Group):
    """`lazy` maps a name to its help line; the command lives in floe_cli.commands.<name>.

    A name in `elsewhere` maps to the package that has the command. It, and commands of packages that floe has never
    heard of, come through the entry points `floe.commands`, which are read only to run one: looking them up for a
    help text would cost more than everything else that `floe --help` does.
    """

    def __init__(
        self, *args: object, lazy: dict[str, str], elsewhere: dict[str, str] | None = None, **kwargs: object
    ) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.lazy = lazy
        self.elsewhere = elsewhere or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy and cmd_name not in self.elsewhere:
            command: click.Command = import_module(f"floe_cli.commands.{cmd_name}").command
            return command
        found: dict[str, click.Command | None] = ctx.meta.setdefault(FOUND, {})  # it is asked for twice
        if cmd_name not in found:
            found[cmd_name] = import_module("floe_cli.foreign").find(cmd_name, self.elsewhere.get(cmd_name))
        return found[cmd_name]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names and help lines; no command is imported for them, or need be installed."""
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in self.lazy.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            import difflib  # slow to import, and only for a word that is no command

            near = difflib.get_close_matches(args[0], self.lazy, 1)
            hint = f" Did you mean {near[0]}?" if near else f" Commands: {', '.join(self.lazy)}."
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError as exc:
            raise ReaderLeftError from exc

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lazy.items()))
