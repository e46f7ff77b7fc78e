"""SQL text to one syntax tree, within bounds: hostile or generated text gets an answer, never a hang or a crash."""

from __future__ import annotations

import logging
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError
from sqlglot.parsers.spark import SparkParser

MAX_CHARACTERS = 250_000
MAX_NESTING = 50
MAX_TYPE_NESTING = 30
FRAMES = 3_000

DIALECT = Spark()
OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
NESTABLE = {TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT}
MISSING = re.compile(r"Missing (.+) from (\d+):(\d+)")

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # what it cannot parse is reported, not printed


class UnreadableError(ValueError):
    """The text is not one SQL statement that floe can read."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class _WearyError(Exception):
    """The parser has gone back over the same text too often."""


class _Parser(SparkParser):
    """sqlglot's parser with a limit on backtracking, which is exponential in joins without a condition."""

    patience: int

    def _retreat(self, index: int) -> None:
        self.patience -= 1
        if self.patience < 0:
            raise _WearyError
        super()._retreat(index)


@dataclass(frozen=True, slots=True)
class Statement:
    """One parsed statement, with what is needed to say where its parts stand."""

    tree: exp.Expr
    tokens: list[Token]
    lines: list[int] = field(repr=False)

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self.lines, offset)
        return line, offset - self.lines[line - 1] + 1


def parse(sql: str) -> Statement:
    """The only statement of the text."""
    if len(sql) > MAX_CHARACTERS:
        raise UnreadableError(f"longer than {MAX_CHARACTERS:,} characters")
    if "\0" in sql:
        raise UnreadableError("holds a NUL character", sql.count("\n", 0, sql.index("\0")) + 1)
    tokens = _tokens(sql)
    _check_nesting(tokens)
    parser = _Parser(dialect=DIALECT)
    parser.patience = 20_000 + 20 * len(tokens)
    try:
        with headroom():
            trees = [tree for tree in parser.parse(tokens, sql) if tree is not None]
    except ParseError as exc:
        raise _refusal(exc) from exc
    except (LookupError, TypeError, AttributeError, ValueError) as exc:  # sqlglot's own, on `map('k',)` for one
        raise UnreadableError("not Spark SQL") from exc
    except RecursionError as exc:
        raise UnreadableError("nested too deep") from exc
    except _WearyError as exc:
        raise UnreadableError("too ambiguous to parse; joins without a condition are the usual cause") from exc
    if not trees or (isinstance(trees[0], exp.Select) and not trees[0].expressions):
        raise UnreadableError("there is no query")
    if len(trees) > 1:
        second = next(token for token in tokens if token.token_type is TokenType.SEMICOLON)
        raise UnreadableError("more than one statement", second.line)
    return Statement(trees[0], tokens, [0, *(match.end() for match in re.finditer("\n", sql))])


@contextmanager
def headroom() -> Iterator[None]:
    """The same number of frames wherever this is called from, so that facts do not depend on the caller."""
    before = sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame.f_back:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(max(before, depth + FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _tokens(sql: str) -> list[Token]:
    try:
        return DIALECT.tokenize(sql)
    except TokenError as exc:
        missing = MISSING.search(str(exc.__cause__ or exc))
        if not missing:
            raise UnreadableError("not SQL: it cannot be split into words") from exc
        delimiter, line, offset = missing.groups()
        column = int(offset) - (sql.rfind("\n", 0, int(offset)) + 1) + 1
        raise UnreadableError(f"{delimiter} is opened and never closed", int(line), column) from exc


def _check_nesting(tokens: list[Token]) -> None:
    """Refuse what the recursive parser could not survive, or only slowly."""
    depth = types = 0
    previous = None
    for token in tokens:
        kind = token.token_type
        if kind in OPENING:
            depth += 1
        elif kind in CLOSING:
            depth = max(0, depth - 1)
        elif kind is TokenType.LT and previous in NESTABLE:
            types += 1
        elif kind is TokenType.GT:
            types = max(0, types - 1)
        if depth > MAX_NESTING or types > MAX_TYPE_NESTING:
            raise UnreadableError("nested too deep", token.line)
        previous = kind


def _refusal(exc: ParseError) -> UnreadableError:
    first = exc.errors[0] if exc.errors else {}
    description = str(first.get("description") or "not Spark SQL")
    description = re.sub(r"<class '[\w.]*\.(\w+)'>", lambda found: found[1].upper(), description)
    seen = str(first.get("highlight") or "").strip()
    message = f"{description} near {seen[:40]}" if seen else description
    return UnreadableError(
        message, int(first.get("line") or 1), max(1, int(first.get("col") or 1) - max(len(seen) - 1, 0))
    )
