"""Which patterns Java's engine may be trusted with."""

from __future__ import annotations

import pytest

from floe_contracts.plan import FORMATS
from floe_spark.checks.patterns import is_quick


@pytest.mark.parametrize(
    "pattern",
    [
        *FORMATS.values(),
        "",
        "^[A-Z]{2}[0-9]+$",
        "^(a|b)$",
        r"\((\d{3})\)",
        "^(ab)*$",
        "(?:x{2}){1,9}",
        "[]()*]+",
        "a|b+",
    ],
)
def test_plain_patterns_are_quick(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+",
        "(a|aa)*",
        "((a?b)c){1,30}",
        "(?:[a-z]+-)*x",
        "(a{1,2}){20}",
        ".*.*.*.*x",
        "(",
        ")",
        "[a",
        "[a[b]]",
        r"\Qa\E",
        "a\\",
        "(?x) a # (",
        "(?i)((a*))+",
        "(a*?)*",
    ],
)
def test_what_may_explode_or_cannot_be_read_is_not(pattern: str) -> None:
    assert not is_quick(pattern)
