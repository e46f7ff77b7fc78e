"""The kinds of value that keys take: each reads YAML's spelling, and prints a JSON Schema that reads the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from floe_core.durations import ISO_DURATION, SHORT_DURATION, parse_duration
from floe_core.order import iso_duration

Json = dict[str, Any]


class Block(BaseModel):
    """A mapping of known keys. Unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


def key(description: str, default: Any = None) -> Any:
    """A key that may be left out."""
    return Field(default=default, description=description)


def malformed(expected: str, value: object, code: str = "E126") -> PydanticCustomError:
    shown = str(value)[:80]
    return PydanticCustomError(
        code, "{actual} is not {expected}", {"expected": expected, "actual": shown or "an empty value"}
    )


def wrong_type(expected: str) -> PydanticCustomError:
    return PydanticCustomError("E123", "must be {expected}", {"expected": expected})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise wrong_type("text (quote it)" if isinstance(value, int | float) else "text")
    return value


def matching(pattern: str, expected: str, **schema: Any) -> tuple[BeforeValidator, WithJsonSchema]:
    """Text of one form."""
    compiled = re.compile(pattern)

    def check(value: Any) -> str:
        if not compiled.fullmatch(_text(value)):
            raise malformed(expected, value)
        return str(value)

    return BeforeValidator(check), WithJsonSchema({"type": "string", "pattern": pattern, **schema})


def _real_date(value: str) -> str:
    try:
        date.fromisoformat(value)
    except ValueError as exc:
        raise malformed("a date that exists", value) from exc
    return value


# Spelt out: \s and . mean other characters in Python than in the languages of the editors that read the schema.
BLANK = r" \xa0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff"
CONTROL = r"\x00-\x1f\x7f-\x9f\u2028\u2029"

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]
WORD = rf"^[{BLANK}]*[^{BLANK}{CONTROL}][^{CONTROL}]*$"
Word = Annotated[str, *matching(WORD, "a single line of text")]
NAME = r"^[a-z][a-z0-9]*([-_][a-z0-9]+)*$"
Name = Annotated[str, *matching(NAME, "a name like customer-360: lower case, digits, single - or _ between words")]
ProductId = Annotated[
    str,
    *matching(
        r"^[a-z][a-z0-9]*([-_][a-z0-9]+)*\.[a-z][a-z0-9]*([-_][a-z0-9]+)*$",
        "a product id like sales.customer_360",
    ),
]
Cron = Annotated[
    str,
    *matching(r"^[ \t]*[!-~]+([ \t]+[!-~]+){4}[ \t]*$", "a cron expression of five fields, like 0 6 * * *"),
]
Date = Annotated[
    str, *matching(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "a date like 2027-01-31"), AfterValidator(_real_date)
]
FindingCode = Annotated[str, *matching(r"^FLOE-E[0-9]{3}$", "a code like FLOE-E201")]

BOUND = r"^>= ?[0-9]{1,6}(\.[0-9]{1,6}){0,2}$"
_BOUND = re.compile(BOUND)


@dataclass(frozen=True, order=True)
class FloeBound:
    """The oldest floe that may read a file."""

    release: tuple[int, int, int]

    def __str__(self) -> str:
        major, minor, patch = self.release
        return f">={major}.{minor}.{patch}" if patch else f">={major}.{minor}"


def read_bound(value: Any) -> FloeBound:
    if isinstance(value, FloeBound):
        return value
    if not _BOUND.fullmatch(_text(value)):
        raise malformed("a lower bound like >=0.3", value)
    return FloeBound(read_release(value.removeprefix(">=").strip()))


def read_release(text: str) -> tuple[int, int, int]:
    """A version as numbers that compare; 0.3 and 0.3.0 are equal."""
    release = re.match(r"[0-9]+(\.[0-9]+)*", text)  # a pre-release counts as its release
    major, minor, patch, *_ = [*map(int, release[0].split(".") if release else ()), 0, 0, 0]
    return major, minor, patch


FloeVersion = Annotated[
    FloeBound,
    BeforeValidator(read_bound),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "pattern": BOUND}),
]


def _version(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise PydanticCustomError("E125", "the version {actual} is a number, not text", {"actual": str(value)})
    if not _VERSION.fullmatch(_text(value)):
        raise malformed("a version like 1.2 or 1.2.3", value)
    return str(value)


VERSION = r"^(0|[1-9][0-9]{0,8})(\.(0|[1-9][0-9]{0,8})){1,2}$"
_VERSION = re.compile(VERSION)
Version = Annotated[str, BeforeValidator(_version), WithJsonSchema({"type": "string", "pattern": VERSION})]


RELATIVE = rf"^(?!/)(?!(.*/)?\.\.(/|$))[{BLANK}]*[^\\{BLANK}{CONTROL}][^\\{CONTROL}]*$"
RelativePath = Annotated[str, *matching(RELATIVE, "a path inside this folder, like models/")]


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise wrong_type("true or false")
    return value


Flag = Annotated[bool, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})]


def _number(low: float, high: float, expected: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(expected)
    if not low <= value <= high:
        raise malformed(expected, value)
    return value + 0.0 if isinstance(value, float) else value  # -0.0 becomes 0.0


def between(low: float, high: float) -> tuple[BeforeValidator, WithJsonSchema]:
    expected = f"a number from {low:g} to {high:g}"
    return (
        BeforeValidator(lambda value: _number(low, high, expected, value)),
        WithJsonSchema({"type": "number", "minimum": low, "maximum": high}),
    )


Fraction = Annotated[float, *between(0, 1)]


def _whole(value: Any) -> int:
    expected = "a whole number from 0 to 1000"
    number = _number(0, 1000, expected, value)
    if number != int(number):
        raise malformed(expected, value)
    return int(number)


Count = Annotated[int, BeforeValidator(_whole), WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 1000})]

PERCENT = r"^(100(\.0+)?|[0-9]{1,2}(\.[0-9]{1,9})?)%$"
_PERCENT = re.compile(PERCENT)


def _percent(value: Any) -> float:
    expected = 'a percentage: a number from 0 to 100, or text like "99.9%"'
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            raise malformed(expected, value)
        value = float(value.removesuffix("%"))
    number = _number(0, 100, expected, value)
    return int(number) if number == int(number) else number


Percent = Annotated[
    float,
    BeforeValidator(_percent),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0, "maximum": 100}, {"type": "string", "pattern": PERCENT}]}
    ),
]


def read_duration(value: Any) -> timedelta:
    """`15m`, `24h`, `7d` or ISO 8601 without months and years, which have no fixed length."""
    if isinstance(value, timedelta):
        return value
    duration = parse_duration(_text(value))
    if duration is not None:
        return duration
    raise malformed("a duration like 15m, 24h, 7d or PT6H", value)


Duration = Annotated[
    timedelta,
    BeforeValidator(read_duration),
    PlainSerializer(iso_duration),
    WithJsonSchema({"type": "string", "pattern": f"({SHORT_DURATION})|({ISO_DURATION})"}),
]

E = TypeVar("E", bound=Enum)


def choice(enum: type[E]) -> tuple[BeforeValidator, WithJsonSchema]:
    """One of a fixed list of words, in any case."""
    words = [str(member.value) for member in enum]
    folded = {word.casefold(): member for word, member in zip(words, enum, strict=True)}

    def read(value: Any) -> E:
        if isinstance(value, enum):
            return value
        text = _text(value)
        member = folded.get(text.casefold()) if text.isascii() else None
        if member is None:
            raise PydanticCustomError(
                "E124",
                "{actual} is not one of {expected}",
                {"actual": text[:80] or "an empty value", "expected": " | ".join(words)},
            )
        return member

    return BeforeValidator(read), WithJsonSchema(
        {"anyOf": [{"enum": words}, {"type": "string", "pattern": any_case(words)}]}
    )


def any_case(words: list[str]) -> str:
    """A pattern that matches the words in any case."""
    return f"^({'|'.join(''.join(_either_case(char) for char in word) for word in words)})$"


def _either_case(char: str) -> str:
    return f"[{char.lower()}{char.upper()}]" if char.isalpha() else re.escape(char)
