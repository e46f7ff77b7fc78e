"""Regular expressions of contracts, on an engine that comes to an end.

Spark matches with Java's engine: fast, but a repetition of something that itself varies can take longer than the
universe has, or more stack than the JVM has. Such patterns are matched by RE2, in Python: slower, always linear.
"""

from __future__ import annotations

import re
from typing import Any

import re2  # type: ignore[import-untyped]  # ships no types
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql.types import BooleanType

from floe_spark.checks import sql
from floe_spark.checks.columns import UnmeasurableError

MATCHES = "floe_matches"
_FEW = 16  # repetitions that cannot explode
_WIDE = 3  # `.*` and its like in one pattern: each costs a power of the text's length
_QUANTIFIER = re.compile(r"[*+?]|\{(\d+)(,?)(\d*)\}")
_BROAD = (".", r"\S", r"\D", r"\W")


def matching(session: SparkSession, pattern: str, column: str) -> tuple[str, bool]:
    """SQL that says whether a pattern is found in a column, and whether that is slow."""
    if is_quick(pattern) and _java_reads(session, pattern):
        return f"{column} RLIKE {sql.text(pattern)}", False
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as exc:
        told = "may never end" if _java_reads(session, pattern) else "is no regular expression"
        raise UnmeasurableError(f"the pattern {pattern[:80]} {told}") from exc
    session.udf.register(MATCHES, _finder(), BooleanType())
    return f"{MATCHES}({column}, {sql.text(pattern)})", True


def _finder() -> Any:
    def find(value: str | None, pattern: str) -> bool | None:  # inside, so that workers need not import floe
        return None if value is None else re2.search(pattern, value) is not None

    return find


def _java_reads(session: SparkSession, pattern: str) -> bool:
    try:
        session.sparkContext._jvm.java.util.regex.Pattern.compile(pattern)  # type: ignore[union-attr]
    except (IllegalArgumentException, Py4JJavaError):  # no pattern, or one that is nested too deeply
        return False
    return True


def is_quick(pattern: str) -> bool:
    """Whether Java surely matches a pattern in reasonable time: no varying thing is repeated without a bound."""
    varies, broad, at = [False], 0, 0
    while at < len(pattern):
        atom = pattern[at]
        if atom == "(":
            if re.match(r"\(\?[a-z]*x", pattern[at:]):
                return False  # free spacing: what is a comment would have to be known
            varies.append(False)
            at += 1
            continue
        if atom == "|":
            varies[-1] = True
            at += 1
            continue
        body = False
        if atom == ")":
            if len(varies) == 1:
                return False
            body = varies.pop()
            end = at + 1
        else:
            end = _atom_end(pattern, at)
        found = _QUANTIFIER.match(pattern, end) if end > at else None
        least, most = _bounds(found)
        if end == at or (body and most > _FEW):
            return False
        broad += most > _FEW and (pattern[at:end] in _BROAD or pattern.startswith("[^", at))
        varies[-1] = varies[-1] or body or least != most
        at = found.end() if found else end
        if found and at < len(pattern) and pattern[at] in "?+":
            at += 1  # reluctant or possessive
    return len(varies) == 1 and broad <= _WIDE


def _bounds(found: re.Match[str] | None) -> tuple[float, float]:
    if found is None:
        return 1, 1
    if found[1] is None:
        return {"*": (0, float("inf")), "+": (1, float("inf")), "?": (0, 1)}[found[0]]
    least = float(found[1])
    return least, least if not found[2] else float(found[3] or "inf")


def _atom_end(pattern: str, at: int) -> int:
    """Where one character, escape or class ends; `at` itself when that cannot be told."""
    if pattern[at] == "\\":
        return at if pattern[at + 1 : at + 2] in ("", "Q") else at + 2
    if pattern[at] != "[":
        return at + 1
    end = at + (2 if pattern.startswith("[^", at) else 1)
    end += pattern.startswith("]", end)
    while end < len(pattern) and pattern[end] != "]":
        if pattern[end] == "[":
            return at  # a class in a class
        end += 2 if pattern[end] == "\\" else 1
    return end + 1 if end < len(pattern) else at
