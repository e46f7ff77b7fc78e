"""Secrets are references: a literal is refused, and its value is never repeated."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floe_core.findings import Finding, FloeError, Report
from floe_core.load import load_manifest, load_product
from floe_core.secrets import literal_secrets
from floe_core.source import parse

HEAD = "apiVersion: floe.dev/v1\nkind: Manifest\nscope: enterprise\nmetadata: {name: acme}\n"
EXAMPLES = Path(__file__).parent / "spec_examples"


def found(text: str) -> list[str]:
    return [f"{item.line}:{item.column} {item.message}" for item in literal_secrets(parse(text.encode(), "f"))]


def config(**keys: object) -> str:
    return json.dumps({"plugins": {"catalog": {"type": "sql", "config": keys}}})


@pytest.mark.parametrize(
    "key",
    [
        "password",
        "PASSWORD",
        "db_password",
        "s3.secret-access-key",
        "spark.hadoop.fs.s3a.secret.key",
        "fs.azure.account.key",
        "adls.sas-token",
        "client_secret",
        "clientSecret",
        "accessToken",
        "token",
        "credential",
        "credentials",
        "apikey",
        "api-key",
        "privateKey",
        "passphrase",
        "header.Authorization",
        "pwd",
    ],
)
def test_a_literal_under_a_key_that_names_a_secret_is_refused(key: str) -> None:
    (message,) = found(config(**{key: "hunter2"}))
    assert message.endswith(f" plugins.catalog.config.{key} holds a literal secret")


@pytest.mark.parametrize(
    "key",
    [
        "primary_key",
        "secrets_backend",
        "token_url",
        "password_file",
        "secretary",
        "keyboard",
        "tokens_per_minute",
        "access-key-id",
    ],
)
def test_a_key_that_only_sounds_like_one_is_left_alone(key: str) -> None:
    assert found(config(**{key: "plain"})) == []


@pytest.mark.parametrize("value", ["hunter2", 12345, 0, 1.5, True, ["hunter2"], {"value": "hunter2"}])
def test_a_literal_of_any_type_is_one(value: object) -> None:
    assert len(found(config(password=value))) == 1


@pytest.mark.parametrize(
    "value", [{"env": "DB_PASSWORD"}, {"file": "/run/secrets/db"}, {"secret": "db#password"}, None, "", [], {}]
)
def test_a_reference_or_nothing_is_no_literal(value: object) -> None:
    assert found(config(password=value, token=value)) == []


@pytest.mark.parametrize(
    "value",
    [
        {"env": {"password": "hunter2"}},
        {"env": "A", "password": "hunter2"},
        {"file": [{"token": "hunter2"}]},
        {"env": "https://u:hunter2@h"},
    ],
)
def test_nothing_hides_inside_what_looks_like_a_reference(value: object) -> None:
    assert len(found(config(auth=value))) == 1


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bob:hunter2@db.acme.com/x",
        "postgresql+psycopg2://bob:hunter2@db/x",
        "jdbc:postgresql://bob:hunter2@db/x",
        "jdbc:sqlserver://db;user=bob;password=hunter2",
        "https://:hunter2@acme.com",
        "https://acme.com/x?a=b&access_token=hunter2",
        "oci://bob:hunter2@registry.acme.com/x:1",
        "see https://bob:hunter2@acme.com for more",
        "https://h/a?to=https://bob:hunter2@acme.com",
    ],
)
def test_a_password_inside_a_url_is_refused(url: str) -> None:
    assert found(config(uri=url))[0].endswith(" plugins.catalog.config.uri holds a URL with a password")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bob@db/x",
        "postgresql://db:5432/x",
        "oci://localhost:5000/floe@sha256:0123",
        "https://acme.com/?token=",
        "https://acme.com/a:b@c",
        "mailto:a@acme.com",
        "a: b@c",
        "://",
        "https://[::1",
    ],
)
def test_a_url_without_one_is_left_alone(url: str) -> None:
    assert found(config(uri=url)) == []


def test_every_literal_is_found_at_its_value() -> None:
    text = "a:\n  password: x\n  uri: [ok, 'h://u:p@h']\nb: &b {token: y}\nc: *b\n"
    assert found(text) == [
        "2:13 a.password holds a literal secret",
        "3:13 a.uri[1] holds a URL with a password",
        "4:15 b.token holds a literal secret",
        "4:15 c.token holds a literal secret",
    ]


def loaded(file: Path, text: str) -> tuple[Finding, ...]:
    file.write_text(text, encoding="utf-8")
    try:
        (load_product if '"DataProduct"' in text else load_manifest)(file)
    except FloeError as exc:
        return exc.findings
    return ()


def test_a_literal_shared_by_an_alias_is_reported_once(tmp_path: Path) -> None:
    text = HEAD + "shared_services: {a: &a {password: x}, b: *a}\n"
    assert [item.code for item in loaded(tmp_path / "f", text)] == ["FLOE-E140"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (HEAD + "catalog_namespace: https://u:hunter2@h\n", ["FLOE-E140"]),
        (HEAD + "identity: {enforcement: 'https://u:hunter2@h'}\n", ["FLOE-E140"]),
        (HEAD + "password: hunter2\n", ["FLOE-E140", "FLOE-E121"]),
        (HEAD.replace("floe.dev/v1", "{password: hunter2}"), ["FLOE-E140", "FLOE-E128"]),
        (HEAD.replace("Manifest", "{password: hunter2}"), ["FLOE-E128"]),
        (HEAD.replace("Manifest", "https://u:hunter2@h"), ["FLOE-E140"]),
        (HEAD + "governance: {custom_rules: [{type: {password: hunter2}}]}\n", ["FLOE-E140", "FLOE-E124"]),
        (HEAD + "shared_services: {password: !!int hunter2}\n", ["FLOE-E101"]),
        (HEAD + "shared_services: {token: 31337e999}\n", ["FLOE-E106"]),
        (HEAD + "shared_services: {token: 31337}\n", ["FLOE-E140"]),
        (HEAD + f"shared_services: {{token: 31337{'0' * 60}}}\n", ["FLOE-E107"]),
    ],
)
def test_no_finding_repeats_the_secret(tmp_path: Path, text: str, codes: list[str]) -> None:
    findings = loaded(tmp_path / "f.yaml", text)
    assert [item.code for item in findings] == codes
    said = json.dumps(Report("compile", findings).to_json()) + str(FloeError(*findings))
    assert "hunter2" not in said
    assert "31337" not in said


SEEDS = [
    parse((EXAMPLES / f"keys-{name}.yaml").read_bytes(), name).root.plain() for name in ("manifest", "product")
]
SECRETS: list[object] = [
    {"password": "hunter2"},
    {"type": {"api_key": "hunter2"}},
    [{"token": ["hunter2"]}],
    "postgresql://u:hunter2@h/x",
    "https://h/?password=hunter2",
]


def put(tree: Any, data: st.DataObject, value: object) -> None:
    """Replace something somewhere in the tree."""
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    key = data.draw(st.sampled_from(keys))
    if isinstance(tree[key], dict | list) and tree[key] and data.draw(st.booleans()):
        put(tree[key], data, value)
    else:
        tree[key] = value


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_secret_anywhere_is_refused_and_never_repeated(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    document = copy.deepcopy(data.draw(st.sampled_from(SEEDS)))
    put(document, data, data.draw(st.sampled_from(SECRETS)))
    findings = loaded(tmp_path_factory.getbasetemp() / "secret.yaml", json.dumps(document))
    assert findings
    assert "hunter2" not in json.dumps(Report("compile", findings).to_json())
