"""dbt's errors as findings: its own file and line, its message without decoration."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from dbt_common.clients.jinja import extract_toplevel_blocks
from dbt_common.exceptions import DbtBaseException

from floe_core.findings import Finding, FloeError, Place
from floe_core.fingerprint import READ
from floe_dbt.locate import PROJECT_FILE, line_of
from floe_dbt.shadow import Shadow

_SUFFIX = r"\.(?:sql|yml|yaml|csv|py|md)"
_FILES = (re.compile(rf"\(([^()\n]+{_SUFFIX})\)"), re.compile(rf"[^\s'\"()]+{_SUFFIX}\b"))
_LINE = re.compile(r"\bline (\d+)|\(@ (\d+):\d+\)", re.IGNORECASE)
_QUOTED = re.compile(r"^\s*line \d+\n\s*(\S.*?)\s*$", re.MULTILINE)
_TITLE = re.compile(r"\A(?:\s*[A-Z][\w ]*? Error(?: in [^\n]*)?\n)+")
_SPARK_STATE = re.compile(r"\s*SQLSTATE: \w{5}")
_CALL = re.compile(r"\AAn error occurred while calling \S+\.\s*: ")
_FRAME = re.compile(r"\n\s*at [\w.$/<>@]+\(")
_CAUSE = re.compile(r"^\s*Caused by: (.*)$", re.MULTILINE)
_NAMED = re.compile(r"named '(?:[^']*\.)?(\w+)' which was not found|'(?:test_)?(\w+)' is undefined")
_UNSET = re.compile(r"Env var required but not provided: '([^']+)'")
SOURCE_PATHS = {
    "model": ["models"],
    "macro": ["macros"],
    "snapshot": ["snapshots"],
    "test": ["tests"],
    "seed": ["seeds"],
    "analysis": ["analyses"],
    "docs": [],
}
_BLOCKS = {"macro", "materialization", "test", "data_test", "snapshot", "docs"}


def refuse(code: str, exc: BaseException | None, shadow: Shadow) -> FloeError:
    """The error to raise for what dbt could not do."""
    return FloeError(finding(code, exc, shadow))


def finding(code: str, exc: BaseException | None, shadow: Shadow) -> Finding:
    """What dbt could not do, at the place it names."""
    text = text_of(exc)
    return Finding(code, message_of(text), _place(exc, text, shadow))


def message_of(text: str) -> str:
    """What dbt or Spark says, on one line: without titles, Spark's plan, stack traces and the macros on the way."""
    body = _without_trace(_TITLE.sub("", text.strip() + "\n").strip())
    paragraph = _SPARK_STATE.split(body)[0].split("\n\n")[0]
    lines = [line.strip() for line in paragraph.splitlines()]
    said = " ".join(line for line in lines if not line.startswith(("> in macro", "> called", "---")))
    return re.sub(r"\s+", " ", said).strip() or text.strip()


def _without_trace(text: str) -> str:
    """Java's error without its stack, and what caused it in the first place."""
    head = _CALL.sub("", _FRAME.split(text)[0])
    causes = _CAUSE.findall(text)
    return f"{head}; caused by {causes[-1]}" if causes and causes[-1] not in head else head


def text_of(exc: BaseException | None) -> str:
    """The exception's own words, with its type where it is not dbt's."""
    if isinstance(exc, DbtBaseException):
        return str(exc)
    return f"{type(exc).__name__}: {exc}" if exc else "dbt failed without a message"


def _place(exc: BaseException | None, text: str, shadow: Shadow) -> Place:
    """Where dbt says the error is: the node it was reading, else the first file of the project that it names."""
    if unreadable := _not_text(exc, shadow):
        return unreadable
    path = next(_named(exc, text, shadow), None)
    if path is None and (quoted := _quoted(text, shadow)):
        return quoted
    path = path or PROJECT_FILE
    line = _LINE.search(text)
    if line and path != PROJECT_FILE:
        return shadow.place(path, int(line[1] or line[2]))
    if path == PROJECT_FILE and (unset := _UNSET.search(text)):
        return _asking(unset[1], shadow) or shadow.place(path)
    missing = next((name for match in _NAMED.findall(text) for name in match if name), None)
    return shadow.place(path, line_of(shadow.folder / path, rf"\b{missing}\b") if missing else 1)


def _named(exc: BaseException | None, text: str, shadow: Shadow) -> Iterator[str]:
    """Files of the project that an error is about, the likeliest first."""
    names = [str(getattr(getattr(exc, "node", None), "original_file_path", ""))]
    names += [name for pattern in _FILES for name in pattern.findall(text)]
    for name in filter(None, names):
        for base in ("", *_source_paths(shadow)):  # dbt names some files relative to the path they were found in
            if (shadow.folder / base / name).is_file():
                yield (Path(base) / name).as_posix()
    yield from _unreadable(shadow, text)


def _unreadable(shadow: Shadow, text: str) -> Iterator[str]:
    """Files whose blocks dbt cannot tell apart, for the errors about them that name no file."""
    for path, source in _sources(shadow):
        try:
            extract_toplevel_blocks(source, _BLOCKS, False)
        except DbtBaseException as exc:
            if message_of(str(exc)) == message_of(text):
                yield path


def _quoted(text: str, shadow: Shadow) -> Place | None:
    """The line that dbt quotes without a file; its number counts from the start of the block."""
    said = _QUOTED.search(text)
    for path, source in _sources(shadow) if said else ():
        for number, line in enumerate(source.split("\n"), 1):
            if said and line.strip() == said[1]:
                return shadow.place(path, number)
    return None


def _not_text(exc: BaseException | None, shadow: Shadow) -> Place | None:
    """The byte that no text has; dbt says which byte it is, and not of which file."""
    if not isinstance(exc, UnicodeDecodeError):
        return None
    for file in _files(shadow, READ):
        try:
            file.read_bytes().decode("utf-8")
        except UnicodeDecodeError as found:
            line = found.object.count(b"\n", 0, found.start) + 1
            return shadow.place(file.relative_to(shadow.folder).as_posix(), line)
    return None


def _asking(variable: str, shadow: Shadow) -> Place | None:
    """The first line that asks for an environment variable."""
    pattern = rf"""env_var\(\s*\\?['"]{re.escape(variable)}['"\\]"""
    for file in (shadow.project / PROJECT_FILE, *_files(shadow, READ)):
        if re.search(pattern, file.read_text("utf-8", errors="replace")):
            base = shadow.project if file.name == PROJECT_FILE else shadow.folder
            return shadow.place(file.relative_to(base).as_posix(), line_of(file, pattern))
    return None


def _sources(shadow: Shadow) -> Iterator[tuple[str, str]]:
    """The files that may hold blocks, each with its text."""
    for file in _files(shadow, (".sql", ".md")):
        yield file.relative_to(shadow.folder).as_posix(), file.read_text("utf-8", errors="replace")


def _files(shadow: Shadow, suffixes: Collection[str]) -> Iterator[Path]:
    """The files that dbt reads, as the shadow has them."""
    for base in _source_paths(shadow):
        for file in sorted((shadow.folder / base).rglob("*")):
            if file.suffix in suffixes and file.is_file():
                yield file


def _source_paths(shadow: Shadow) -> list[str]:
    given = [(kind, shadow.config.get(f"{kind}-paths")) for kind in SOURCE_PATHS]
    return [
        str(path)
        for kind, paths in given
        for path in (paths if isinstance(paths, list) else SOURCE_PATHS[kind])
        if (shadow.folder / str(path)).is_dir()
    ]
