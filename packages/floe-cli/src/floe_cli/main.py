"""The root of `floe`: turns every way a command can end into a message and an exit code."""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import TextIO

import click

from floe_cli import __version__
from floe_cli.host import Host
from floe_cli.lazy import LazyGroup, ReaderLeftError

COMMANDS = {
    "compile": "Check products against the platform's guardrails.",
    "run": "Run a product on Spark and Iceberg.",
    "contract": "Look at data contracts: lint, compare, bump, plan, show.",
    "product": "Register products in the catalog, and show who owns them.",
    "why": "Tell which tier set a guardrail, and what the others said.",
    "explain": "Explain a code, offline.",
    "schema": "Print the JSON Schema of a file that floe reads or writes.",
    "plugins": "Show the plugins that are installed.",
    "doctor": "Check this installation, and say how to repair it.",
}
# the package that has the command
ELSEWHERE = {"run": "floe-spark", "contract": "floe-contracts", "product": "floe-iceberg"}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    elsewhere=ELSEWHERE,
    help="Guardrails for data pipelines: defined once, obeyed by every product.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="floe", message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    ctx.obj = Host()


OBJECTS = 100_000  # made before Python looks for garbage: a command makes many that stay, and ends soon
INTERRUPTED = 130  # as shells report a command that SIGINT ended
PIPE_CLOSED = 141  # … that SIGPIPE ended


def main() -> None:
    """Run the command line and exit."""
    gc.set_threshold(OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # UTF-8 whatever the locale: JSON demands it, ✗ and ≥ need it
            stream.reconfigure(encoding="utf-8", errors="replace")
    code = run(sys.argv[1:])
    gc.freeze()  # Python would look through everything once more before it ends
    sys.exit(code)


def run(args: list[str]) -> int:
    """Run the command line and return its exit code."""
    try:
        return _run(args)
    except (BrokenPipeError, ReaderLeftError):  # as with `floe … | head`: unfinished, so never 0
        _discard(sys.stdout, sys.stderr)
        return PIPE_CLOSED
    except OSError as exc:  # only printing gets here
        from floe_cli.endings import output_lost

        code = output_lost(exc)
        _discard(sys.stdout, sys.stderr)
        return code


def _discard(*streams: TextIO) -> None:
    """What is still unwritten: Python flushes once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, streams):  # one that was closed is None
        os.dup2(nowhere, stream.fileno())


def _run(args: list[str]) -> int:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    color = False if plain else None  # None: where a terminal shows it
    try:
        result = cli.main(args=args, prog_name="floe", standalone_mode=False, color=color)
    except click.UsageError as exc:
        from floe_cli.endings import wrong_usage

        with click.Context(cli, color=color):
            return wrong_usage(exc, args)
    except (KeyboardInterrupt, click.Abort):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except (BrokenPipeError, ReaderLeftError):
        raise
    except Exception as exc:  # the root: a bug becomes FLOE-E000 and a log file
        from floe_cli.endings import is_printing, unplanned

        if is_printing(exc):
            raise
        with click.Context(cli, color=color):
            return unplanned(exc, args)
    return result if isinstance(result, int) else 0
