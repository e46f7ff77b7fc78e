"""Secrets stand in files as references; a literal is refused before anything reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from floe_core.findings import Finding, Place
from floe_core.source import KeyPath, Node, Source, spell

REFERENCES = ({"env"}, {"file"}, {"secret"})
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SECRET_KEY = re.compile(
    r"(^|[._-])(password|passwd|pwd|passphrase|token|secret|credentials?|authorization|"
    r"(private|secret|access|api|account|shared|encryption|signing)[._-]?key)$",
    re.IGNORECASE,
)


def literal_secrets(source: Source) -> Iterator[Finding]:
    """Every literal where a reference belongs, and every password inside a URL."""
    yield from _walk(source.root, (), source.path)


def _walk(node: Node, at: KeyPath, path: str) -> Iterator[Finding]:
    if isinstance(node.value, dict):
        if _is_reference(node.value):
            return
        for key, child in node.value.items():
            yield from _walk(child, (*at, key), path)
    elif isinstance(node.value, list):
        for number, child in enumerate(node.value):
            yield from _walk(child, (*at, number), path)
    elif node.value not in (None, ""):
        name = next((step for step in reversed(at) if isinstance(step, str) and step != "value"), "")
        if _is_secret(name):
            yield _found(f"{spell(at)} holds a literal secret", node, path)
        elif _has_password(node.text):
            yield _found(f"{spell(at)} holds a URL with a password", node, path)


def _is_reference(mapping: dict[str, Node]) -> bool:
    """`{env: NAME}` and its like: one name, so that nothing else can hide inside."""
    return set(mapping) in REFERENCES and all(
        isinstance(child.value, str) and not _has_password(child.value) for child in mapping.values()
    )


def _is_secret(name: str) -> bool:
    return bool(_SECRET_KEY.search(_WORD_START.sub("_", name)))


def _has_password(text: str) -> bool:
    """Whether a URL in the text carries a password, before its host or among its parameters."""
    for word in text.split():
        for rest in word.split("://")[1:]:
            authority, *parameters = re.split("[/?#&;]", rest)
            user = authority.rpartition("@")[0]
            if user.partition(":")[2]:
                return True
            if any(value and _is_secret(name) for name, _, value in (item.partition("=") for item in parameters)):
                return True
    return False


def _found(message: str, node: Node, path: str) -> Finding:
    return Finding("FLOE-E140", message, Place(path, node.line, node.column))
