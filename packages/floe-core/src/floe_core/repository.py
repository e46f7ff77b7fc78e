"""Which repository some files come from: one spelling per repository, and what proves it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

_URL = re.compile(
    r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]]*\]|[^/:]+)(?::\d*)?(?P<path>/.*)?", re.IGNORECASE
)
_SCP = re.compile(r"(?:[^/@:]+@)?(?P<host>[^/:@]+):(?P<path>(?!\d+/|/).*)")
_HOST_PATH = re.compile(r"(?P<host>[^/:@]+)(?::\d+)?(?P<path>/.*)?")


def normalise(url: str) -> str:
    """`host/path` of a repository: no scheme, user, port, `.git` or slash at the end; the host in lower case."""
    text = url.strip()
    found = _URL.fullmatch(text) or _SCP.fullmatch(text) or _HOST_PATH.fullmatch(text)
    if not found:
        return text
    parts = [part for part in (found["path"] or "").split("/") if part]
    if parts:
        parts[-1] = re.sub(r"\.git$", "", parts[-1], flags=re.IGNORECASE)
    return "/".join((found["host"].lower(), *filter(None, parts)))


def is_same(one: str, other: str) -> bool:
    """Whether two spellings are one repository; forges take names in any case."""
    return normalise(one).casefold() == normalise(other).casefold()


def is_allowed(repository: str, globs: Iterable[str]) -> bool:
    """Whether any of the globs (`github.com/acme/sales-*`) matches it."""
    name = normalise(repository).casefold()
    return any(fnmatchcase(name, normalise(glob).casefold()) for glob in globs)


def in_ci(env: Mapping[str, str]) -> str | None:
    """The repository that the CI system says it has checked out."""
    if path := env.get("GITHUB_REPOSITORY"):
        return normalise(f"{env.get('GITHUB_SERVER_URL') or 'https://github.com'}/{path}")
    if path := env.get("CI_PROJECT_PATH"):
        return normalise(f"{env.get('CI_SERVER_HOST') or 'gitlab.com'}/{path}")
    return None


def proofs(remotes: Iterable[str], env: Mapping[str, str]) -> list[str]:
    """Every repository that these files may come from: what the CI system says, and the checkout's remotes."""
    said = in_ci(env)
    found = dict.fromkeys([*([said] if said else []), *map(normalise, remotes)])
    return [repository for repository in found if "/" in repository]
