"""`floe contract …`, contributed to the command line through `floe.commands`.

Like the command line itself the group is lazy: a command is imported to run it, so that linting starts at once.
"""

from __future__ import annotations

from importlib import import_module

import click

COMMANDS = {
    "lint": "Check contract files by themselves.",
    "diff": "Say what changed between two contracts, and which bump it needs.",
    "bump": "Find, and write, the version that a change needs.",
    "plan": "Show the checks that a contract asks for.",
    "show": "Print a contract for other readers.",
    "list": "List the contract versions that the catalog keeps.",
    "history": "Show what happened to registered contracts.",
}
MODULES = {"list": "listing"}  # where a module cannot be called like its command


class LazyGroup(click.Group):
    """Knows its commands by name and help line; each lives in floe_contracts.commands.<name>."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"floe_contracts.commands.{MODULES.get(cmd_name, cmd_name)}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, short_help="Lint, compare, version and show data contracts.")
def command() -> None:
    """Lint, compare, version and show data contracts."""
