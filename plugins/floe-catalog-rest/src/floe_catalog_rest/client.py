"""PyIceberg's REST catalog with a limit on every wait: its own client waits for ever."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import requests
from pydantic import ValidationError
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.catalog.rest.auth import AuthManager, AuthManagerAdapter, BasicAuthManager, NoopAuthManager
from pyiceberg.exceptions import RESTError
from requests import PreparedRequest, Response
from urllib3.exceptions import HTTPError, ReadTimeoutError

# Client properties of this catalog, beside PyIceberg's own.
TIMEOUT = "floe.timeout"  # seconds
USERNAME = "floe.basic.username"
PASSWORD = "floe.basic.password"  # noqa: S105 - a key

CHUNK = 64 * 1024
PATIENT = 6  # timeouts that a commit may take
HIDDEN = b"***"
STRANGER = "what answers there is not an Iceberg REST catalog"
SHORTEST_SECRET = 4  # replacing shorter strings would destroy a message and hide nothing


class LimitedSession(requests.Session):
    """No request takes longer than the timeout, and all that fail together no longer than twice that.

    The second half is for reading back what became of a request whose answer was lost.
    """

    def __init__(self, timeout: float, secrets: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.timeout = timeout
        self.patience = 2 * timeout
        self.factor = 1
        self.secrets = tuple(secret.encode() for secret in secrets if len(secret) >= SHORTEST_SECRET)

    @contextmanager
    def patient(self) -> Iterator[None]:
        """For requests that a service works on: a longer wait, after which what became of it can be read back."""
        self.factor = PATIENT
        try:
            yield
        finally:
            self.factor = 1

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        started = monotonic()
        limit = min(self.timeout, self.patience) * self.factor
        if limit <= 0:
            raise requests.Timeout("given up: earlier requests were not answered")
        try:
            response = super().send(request, **kwargs | {"timeout": limit, "stream": True})
            content = _read(response, started + limit)
        except (requests.RequestException, HTTPError) as exc:
            self.patience -= (monotonic() - started) / self.factor
            kind = type(exc) if isinstance(exc, requests.RequestException) else requests.ConnectionError
            raise kind(_cause(exc, limit)) from exc
        self.patience = 2 * self.timeout
        if response.ok and content and content.lstrip()[:1] != b"{":
            raise requests.exceptions.InvalidJSONError(STRANGER)
        response._content = content if response.ok else self._without_secrets(content)
        return response

    def _without_secrets(self, content: bytes) -> bytes:
        """What a service says about a refused request may repeat the credentials in it."""
        for secret in self.secrets:
            content = content.replace(secret, HIDDEN)
        return content


def _read(response: Response, deadline: float) -> bytes:
    """The whole body, as it comes: one that drips in past the deadline counts as no answer."""
    parts = []
    while part := response.raw.read1(CHUNK, decode_content=True):
        parts.append(part)
        if monotonic() > deadline:
            response.close()
            raise requests.ReadTimeout
    return b"".join(parts)


def _cause(exc: Exception, limit: float) -> str:
    """In a few words: requests' own text holds the names of Python objects and the whole URL."""
    if isinstance(exc, requests.Timeout | ReadTimeoutError):
        return f"no answer within {limit:g} s"
    if isinstance(exc, requests.exceptions.SSLError):
        return f"the connection cannot be trusted: {_innermost(exc)}"
    if isinstance(exc, requests.ConnectionError | HTTPError):
        return f"no connection: {_innermost(exc)}"
    return type(exc).__name__


def _innermost(exc: BaseException) -> str:
    """The system's own words, below the wrappings of three libraries."""
    while inner := exc.__cause__ or exc.__context__:
        exc = inner
    return (exc.strerror if isinstance(exc, OSError) else "") or str(exc) or type(exc).__name__


class LimitedRestCatalog(RestCatalog):
    """PyIceberg's REST catalog on a limited session, from its first request on."""

    def _create_session(self) -> requests.Session:
        session = LimitedSession(float(self.properties[TIMEOUT]), self._secrets())
        self._config_headers(session)
        self._auth_manager = self._who(session)
        session.auth = AuthManagerAdapter(self._auth_manager)
        return session

    def _who(self, session: requests.Session) -> AuthManager:
        if "token" in self.properties or "credential" in self.properties:
            return self._create_legacy_oauth2_auth_manager(session)  # the one that asks for tokens on our session
        if USERNAME in self.properties:
            return BasicAuthManager(self.properties[USERNAME], self.properties[PASSWORD])
        return NoopAuthManager()  # without one, a ~/.netrc would speak for us, or PyIceberg send "Bearer None"

    def _secrets(self) -> tuple[str, ...]:
        """Whatever a service could repeat, longest first."""
        known = self.properties
        pair = f"{known.get(USERNAME)}:{known.get(PASSWORD)}"
        found = {known.get("token", ""), known.get("credential", ""), known.get(PASSWORD, "")}
        found |= {known.get("credential", "").partition(":")[2], b64encode(pair.encode()).decode()}
        found |= {str(value) for key, value in known.items() if key.startswith("header.")}
        return tuple(sorted(found, key=len, reverse=True))

    def _fetch_config(self) -> None:
        try:
            super()._fetch_config()
        except ValidationError as exc:
            raise RESTError(STRANGER) from exc
