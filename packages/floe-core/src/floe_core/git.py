"""What git knows about a folder. No git, or no repository, is an answer and not an error."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

TIMEOUT = 20  # seconds for one question
OUTPUTS = (
    "target",
    "logs",
    "dbt_packages",
    ".floe",
    "floe.lock",
)  # what floe and dbt write never counts as a change


@dataclass(frozen=True, slots=True)
class Checkout:
    """The state of a product's folder. `problem` says why git could not tell; then everything else is empty."""

    commit: str | None = None
    path: str = ""  # of the folder inside its repository, "" for the top
    changed: tuple[str, ...] = ()  # uncommitted, relative to the folder
    remotes: tuple[str, ...] = ()
    problem: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether everything in the folder is committed. Without git nobody can say so."""
        return not self.problem and self.commit is not None and not self.changed


def look(folder: Path) -> Checkout:
    """Ask git about a folder; nothing is written, not even git's own index."""
    try:
        prefix = _git(folder, "rev-parse", "--show-prefix").strip("\n").rstrip("/")
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "HEAD", may_fail=True).strip() or None
        excluded = (f":(exclude){name}" for name in OUTPUTS)
        status = _git(folder, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--", ".", *excluded)
        remotes = _git(folder, "config", "--get-regexp", r"^remote\..*\.url$", may_fail=True)
    except FileNotFoundError:
        return Checkout(problem="git is not installed")
    except subprocess.TimeoutExpired:
        return Checkout(problem=f"git did not answer within {TIMEOUT} seconds")
    except _RefusedError as exc:
        return Checkout(problem=str(exc))
    urls = sorted({line.partition(" ")[2] for line in remotes.splitlines()})
    return Checkout(commit, prefix, tuple(_changes(status, prefix, folder)), tuple(urls))


class _RefusedError(Exception):
    """git answered, and the answer was no."""


def _git(folder: Path, *args: str, may_fail: bool = False) -> str:
    # fsmonitor is a program that a repository can name; a folder that is only looked at must not run it
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *args]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(  # noqa: S603 - our own arguments, no shell
        command, capture_output=True, timeout=TIMEOUT, env=environment, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode and not may_fail:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _RefusedError(said[0].removeprefix("fatal: ") if said else f"git ended with {done.returncode}")
    return done.stdout.decode("utf-8", "surrogateescape")


def _changes(status: str, prefix: str, folder: Path) -> list[str]:
    """The changed paths of `git status -z`, seen from the folder, without what floe and dbt write."""
    entries = iter(status.split("\0"))
    found = []
    for entry in entries:
        if not entry:
            continue
        if entry[0] in "RC":
            next(entries, "")  # where it came from
        path = PurePosixPath(entry[3:])
        inside = path.relative_to(prefix) if path.is_relative_to(prefix) else PurePosixPath()
        if not _is_output(inside, folder):
            found.append(str(inside))
    return sorted(found)


def _is_output(path: PurePosixPath, folder: Path) -> bool:
    """Whether it is in an output of the product, or of a dbt project inside it."""
    for number, part in enumerate(path.parts):
        home = folder.joinpath(*path.parts[:number])
        if part in OUTPUTS and (number == 0 or (home / "dbt_project.yml").is_file()):
            return True
    return False
