"""The settings of the catalog `rest`."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from floe_core.schemas.values import Duration
from floe_iceberg import CatalogConfig

LONGEST = timedelta(seconds=7)  # two unanswered requests must fit in the 15 s that a command has


class _Auth(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class NoAuth(_Auth):
    """The service asks nobody who they are."""

    type: Literal["none"] = "none"


class BasicAuth(_Auth):
    """A user and a password."""

    type: Literal["basic"]
    username: str
    password: SecretStr


class BearerAuth(_Auth):
    """A token that somebody else made."""

    type: Literal["bearer"]
    token: SecretStr


class OAuth2(_Auth):
    """Client credentials, exchanged for a token."""

    type: Literal["oauth2"]
    client_id: str
    client_secret: SecretStr
    token_uri: str | None = Field(default=None, description="Who gives tokens; URI/v1/oauth/tokens by default.")
    scope: str = Field(default="catalog", description="PRINCIPAL_ROLE:ALL for Polaris.")

    @field_validator("token_uri")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        return value if value is None else address(value)


Auth = Annotated[NoAuth | BasicAuth | BearerAuth | OAuth2, Field(discriminator="type")]


class RestConfig(CatalogConfig):
    """Settings of the catalog `rest`."""

    uri: str = Field(description="Address of the service, without /v1.")
    warehouse: str | None = Field(default=None, description="Which of the service's warehouses, as it names them.")
    auth: Auth = NoAuth()
    headers: dict[str, SecretStr] = Field(default_factory=dict, description="Sent with every request.")
    timeout: Duration = Field(
        default=timedelta(seconds=5), le=LONGEST, description="The longest wait for one answer."
    )

    @field_validator("uri")
    @classmethod
    def _is_address(cls, value: str) -> str:
        return address(value).rstrip("/")


def address(value: str) -> str:
    """An http(s) address that carries no secret, else ValueError."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in ("http", "https") and parts.hostname and (parts.port or True)
    except ValueError:
        known = False
    if not known:
        raise ValueError("an address is http://HOST or https://HOST, with a port and a path if need be")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("an address has no user, query or fragment; credentials belong under auth")
    return value
