"""`floe explain`: what a code means and what to do."""

from __future__ import annotations

import re

import click

from floe_core.codes import CODES, Exit

SPELLING = re.compile(r"(?:floe[-_ ]?)?e?([0-9]{3})", re.IGNORECASE)
ENDINGS = {
    Exit.CLEAN: "0: it never fails a command",
    Exit.FINDINGS: "1: the input breaks a rule",
    Exit.INPUT: "2: the input cannot be read",
    Exit.UNCHECKED: "3: it could not be checked",
    Exit.BUG: "70: a bug in floe",
}


@click.command(short_help="Explain a code, offline.")
@click.argument("code")
def command(code: str) -> int:
    """Explain CODE, for example FLOE-E160, E160 or just 160."""
    spelt = SPELLING.fullmatch(code.strip())
    wanted = f"FLOE-E{spelt[1]}" if spelt else f"FLOE-{code.upper().removeprefix('FLOE-')}"
    if wanted not in CODES:
        near = _nearest(wanted)
        raise click.UsageError(f"There is no code {code}. Near it: {', '.join(near) or ', '.join(CODES)}.")
    row = CODES[wanted]
    click.echo(click.style(f"{row.id}  {row.title}", bold=True))
    click.echo(f"\n  Why   {row.why}\n  Fix   {row.fix}\n  Exit  {ENDINGS[row.exit]}\n  Docs  {row.docs}")
    return 0


def _nearest(wanted: str) -> list[str]:
    """The codes with the nearest numbers; none for a word without one."""
    digits = re.search("[0-9]+", wanted)
    if digits is None:
        return []
    number = int(digits[0][:3].ljust(3, "0"))  # E16 is somewhere in E16x
    return sorted(CODES, key=lambda code: abs(int(code.removeprefix("FLOE-E")) - number))[:3]
