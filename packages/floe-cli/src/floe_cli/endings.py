"""The ends of a command that no command plans for: wrong usage, findings that stopped it, and a bug."""

from __future__ import annotations

import tempfile
import traceback
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import click

from floe_cli.formats import FORMATS
from floe_cli.terminal import emit, lines
from floe_core import Finding, FloeError, Report
from floe_core.findings import Place

COMMAND_LINE = Place("(command line)")


def wrong_usage(exc: click.UsageError, args: list[str]) -> int:
    """Say what is wrong with the command line."""
    command = exc.ctx.command_path if exc.ctx else "floe"
    if not args or isinstance(exc, click.exceptions.NoArgsIsHelpError):
        click.echo(exc.format_message())
        return 0 if not args else 2
    message = " ".join(exc.format_message().split())  # click lists choices on lines of their own
    finding = Finding("FLOE-E001", message, COMMAND_LINE, fix=f"Run `{command} --help`.")
    return emit(Report(command, (finding,)), _format(args))


def is_printing(exc: Exception) -> bool:
    """Whether it is the output that failed, and nothing that floe did before."""
    frames = traceback.walk_tb(exc.__traceback__)
    return isinstance(exc, OSError) and any(frame.f_code is click.echo.__code__ for frame, _ in frames)


def output_lost(exc: OSError) -> int:
    """Results that reached nobody: said on stderr, where that can still be written to."""
    message = f"the output cannot be written: {exc.strerror}"
    fix = "Free space where the output goes, or send it elsewhere."
    finding = Finding("FLOE-E900", message, Place("(output)"), fix=fix)
    with suppress(OSError):
        click.echo("\n".join(lines(finding)), err=True)
    return Report("floe", (finding,)).exit_code


def unplanned(exc: Exception, args: list[str]) -> int:
    """Show the findings that stopped a command. A bug: its traceback in a file, and one line for a person."""
    command = f"floe {args[0] if args else ''}".strip()
    if isinstance(exc, FloeError):
        return emit(Report(command, exc.findings), _format(args))
    if isinstance(exc, FileNotFoundError) and not _has_folder():
        gone = Finding("FLOE-E100", "the current folder is gone", COMMAND_LINE, fix="Change to another one.")
        return emit(Report(command, (gone,)), _format(args))
    try:
        fix = f"Please report this with the log: {_write_log(exc, args)}"
    except OSError as failure:
        fix = f"Please report this. The log could not be written: {failure}"
    finding = Finding("FLOE-E000", f"{type(exc).__name__}: {exc}", COMMAND_LINE, fix=fix)
    return emit(Report(command, (finding,)), _format(args))


def _has_folder() -> bool:
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def _write_log(exc: Exception, args: list[str]) -> str:
    with tempfile.NamedTemporaryFile(
        "w", prefix="floe-", suffix=".log", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as log:
        log.write(f"floe {' '.join(args)}\n\n")
        traceback.print_exception(exc, file=log)
    return log.name


def _format(args: list[str]) -> str:
    """What `--format` says, on a command line that could not be parsed."""
    said = {word.removeprefix("--format=") for word in args} | {
        word for flag, word in pairwise(args) if flag == "--format"
    }
    return next((name for name in FORMATS if name in said), "text")
