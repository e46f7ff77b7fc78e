"""One spelling per repository, whatever git, a CI system or a person writes."""

from __future__ import annotations

import pytest

from floe_core.repository import in_ci, is_allowed, is_same, normalise, proofs


@pytest.mark.parametrize(
    "written",
    [
        "github.com/acme/x",
        "github.com/acme/x/",
        "github.com/acme/x.git",
        "GitHub.com/acme/x",
        "https://github.com/acme/x",
        "https://github.com/acme/x.git",
        "https://user:token@github.com/acme/x.git/",
        "http://github.com:8080/acme/x",
        "git@github.com:acme/x.git",
        "github.com:acme/x",
        "ssh://git@github.com/acme/x.git",
        "ssh://git@github.com:2222/acme/x.git",
        "git+ssh://git@github.com/acme/x",
        "git://github.com/acme//x",
        "  https://github.com/acme/x\n",
    ],
)
def test_every_spelling_is_the_same_repository(written: str) -> None:
    assert normalise(written) == "github.com/acme/x"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("github.com/Acme/X", "git@github.com:acme/x.git", True),
        ("github.com/acme/x", "github.com/acme/y", False),
        ("github.com/acme/x", "gitlab.com/acme/x", False),
        ("github.com/acme/x", "github.com/acme/x/y", False),
        ("github.com/acme/x.github", "github.com/acme/x", False),
        ("", "", True),
    ],
)
def test_case_is_no_difference_and_everything_else_is(one: str, other: str, same: bool) -> None:
    assert is_same(one, other) is same


def test_a_path_on_this_machine_is_left_as_it_is() -> None:
    assert normalise("/srv/git/x.git") == "/srv/git/x.git"
    assert proofs(["/srv/git/x.git", "../other"], {}) == ["/srv/git/x.git", "../other"]


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"GITHUB_REPOSITORY": "acme/x", "GITHUB_SERVER_URL": "https://ghe.acme.com"}, "ghe.acme.com/acme/x"),
        ({"GITHUB_REPOSITORY": "acme/x"}, "github.com/acme/x"),
        ({"CI_PROJECT_PATH": "acme/team/x", "CI_SERVER_HOST": "git.acme.com"}, "git.acme.com/acme/team/x"),
        ({"CI_PROJECT_PATH": "acme/x"}, "gitlab.com/acme/x"),
        ({"CI": "true"}, None),
    ],
)
def test_the_ci_system_says_what_it_has_checked_out(env: dict[str, str], expected: str | None) -> None:
    assert in_ci(env) == expected


def test_proofs_are_what_the_ci_system_and_every_remote_say_each_once() -> None:
    remotes = ["https://github.com/me/fork", "git@github.com:acme/x.git"]
    assert proofs(remotes, {"GITHUB_REPOSITORY": "acme/x"}) == ["github.com/acme/x", "github.com/me/fork"]


@pytest.mark.parametrize(
    ("repository", "globs", "allowed"),
    [
        ("git@github.com:acme/sales-x.git", ["github.com/acme/sales-*"], True),
        ("github.com/ACME/Sales-x", ["github.com/acme/sales-*"], True),
        ("github.com/evil/sales-x", ["github.com/acme/sales-*"], False),
        ("github.com/acme/hr", ["github.com/acme/sales-*", "github.com/acme/hr"], True),
        ("github.com/acme/hr", [], False),
    ],
)
def test_globs_say_who_is_allowed(repository: str, globs: list[str], allowed: bool) -> None:
    assert is_allowed(repository, globs) is allowed
