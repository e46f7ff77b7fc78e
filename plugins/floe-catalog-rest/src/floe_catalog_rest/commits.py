"""The requests of a publication, as raw JSON: PyIceberg has no transaction over several tables, and its models drop
what some services insist on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pyiceberg.catalog.rest import (
    API_PREFIX,
    DEFAULT_ENDPOINTS,
    VIEW_ENDPOINTS,
    Endpoint,
    Endpoints,
    HttpMethod,
    IdentifierKind,
)
from pyiceberg.catalog.rest.response import _handle_non_200_response
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NoSuchNamespaceError,
    NoSuchViewError,
    ViewAlreadyExistsError,
)
from requests import HTTPError, Response

from floe_catalog_rest.client import LimitedRestCatalog, LimitedSession
from floe_iceberg.updates import Json
from floe_iceberg.views import NewView, ViewChange

TRANSACTION = "transactions/commit"
VIEW = Endpoints.load_view
COMMIT = Endpoint(http_method=HttpMethod.POST, path=f"{API_PREFIX}/{TRANSACTION}")
LIST_VIEWS = Endpoint(http_method=HttpMethod.GET, path=f"{API_PREFIX}/{Endpoints.list_views}")
NOT_OFFERED = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED)
UNKNOWN = dict.fromkeys((500, 502, 503, 504), CommitStateUnknownException)
RawCommit = tuple[tuple[str, ...], Sequence[Json], Sequence[Json]]


class PublishingCatalog(LimitedRestCatalog):
    """A REST catalog that several tables and views can be published to."""

    @property
    def has_views(self) -> bool:
        return LIST_VIEWS in self._supported_endpoints

    def commit_all(self, commits: Sequence[RawCommit]) -> bool:
        """Change all these tables in one request; False: the service has no such request, and nothing happened."""
        says_nothing = self._supported_endpoints <= DEFAULT_ENDPOINTS | VIEW_ENDPOINTS
        if not says_nothing and COMMIT not in self._supported_endpoints:
            return False
        changes = [{"identifier": _identifier(name), **_body(*commit)} for name, *commit in commits]
        response = self._send(TRANSACTION, {"table-changes": changes})
        if response.status_code in NOT_OFFERED and "NoSuchTable" not in response.text:
            return False
        _check(response, {404: CommitFailedException, 409: CommitFailedException, **UNKNOWN})
        return True

    def commit_raw(
        self, identifier: tuple[str, ...], requirements: Sequence[Json], updates: Sequence[Json]
    ) -> None:
        """Change one table, if it still is what is required."""
        parts = self._split_identifier_for_path(identifier)
        body = {"identifier": _identifier(identifier), **_body(requirements, updates)}
        response = self._send(Endpoints.update_table, body, **parts)
        _check(response, {404: CommitFailedException, 409: CommitFailedException, **UNKNOWN})

    def read_view(self, identifier: tuple[str, ...]) -> tuple[str, Json]:
        """Where a view's metadata file is, and what it says."""
        if not self.has_views:
            raise NoSuchViewError("the service has no views")
        response = self._session.get(self._view(identifier))
        _check(response, {404: NoSuchViewError})
        found = response.json()
        return found["metadata-location"], found["metadata"]

    def make_view(self, identifier: tuple[str, ...], view: NewView) -> None:
        body = {
            "name": identifier[-1],
            "schema": view.schema,
            "view-version": view.version,
            "properties": view.properties,
        }
        namespace = self._split_identifier_for_path(identifier, IdentifierKind.VIEW)["namespace"]
        response = self._send(Endpoints.create_view, body, namespace=namespace)
        _check(response, {404: NoSuchNamespaceError, 409: ViewAlreadyExistsError, **UNKNOWN})

    def change_view(self, identifier: tuple[str, ...], change: ViewChange) -> None:
        required = [{"type": "assert-view-uuid", "uuid": change.uuid}]
        body = {"identifier": _identifier(identifier), **_body(required, change.updates)}
        parts = self._split_identifier_for_path(identifier, IdentifierKind.VIEW)
        response = self._send(VIEW, body, **parts)
        _check(response, {404: NoSuchViewError, 409: CommitFailedException, **UNKNOWN})

    def _view(self, identifier: tuple[str, ...]) -> str:
        return self.url(VIEW, **self._split_identifier_for_path(identifier, IdentifierKind.VIEW))

    def _send(self, path: str, body: Mapping[str, Any], **parts: Any) -> Response:
        """A service may write a file for every table before it answers."""
        assert isinstance(self._session, LimitedSession)  # noqa: S101 - LimitedRestCatalog makes it
        with self._session.patient():
            return self._session.post(self.url(path, **parts), json=body)


def _identifier(name: tuple[str, ...]) -> Json:
    return {"namespace": list(name[:-1]), "name": name[-1]}


def _body(requirements: Sequence[Json], updates: Sequence[Json]) -> dict[str, Any]:
    return {"requirements": list(requirements), "updates": list(updates)}


def _check(response: Response, errors: Mapping[int, type[Exception]]) -> None:
    try:
        response.raise_for_status()
    except HTTPError as exc:
        _handle_non_200_response(exc, dict(errors))
