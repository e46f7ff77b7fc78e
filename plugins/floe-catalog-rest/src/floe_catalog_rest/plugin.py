"""The catalog `rest`: any service that speaks Iceberg's REST protocol."""

from __future__ import annotations

from typing import ClassVar

from pyiceberg.catalog.rest import VIEW_ENDPOINTS_SUPPORTED
from pyiceberg.exceptions import TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import NestedField, StringType

from floe_catalog_rest.client import PASSWORD, TIMEOUT, USERNAME
from floe_catalog_rest.commits import PublishingCatalog
from floe_catalog_rest.config import BasicAuth, BearerAuth, NoAuth, OAuth2, RestConfig
from floe_catalog_rest.relations import RestRelations
from floe_core.catalog import Capabilities
from floe_iceberg import IcebergCatalogPlugin

ANY_SCHEMA = Schema(NestedField(1, "floe", StringType(), required=False))  # a table must have a column


class RestCatalogPlugin(IcebergCatalogPlugin[RestConfig]):
    """An Iceberg REST catalog.

    It declares no `atomic_commit`: the protocol asks for it, and Iceberg's own reference service changes the
    tables of a transaction one after the other. A plugin for a service that does better extends this one.
    """

    api_version: ClassVar[int] = 1
    Config = RestConfig
    capabilities = Capabilities(property_value_limit=1000)  # of the reference server on PostgreSQL: the least
    errors = (NotImplementedError,)  # what PyIceberg makes of an endpoint that the service does not have
    relations = RestRelations

    def client_properties(self) -> dict[str, str]:
        return {
            "py-catalog-impl": f"{PublishingCatalog.__module__}.{PublishingCatalog.__qualname__}",
            TIMEOUT: str(self.config.timeout.total_seconds()),
            **self._common(),
            **self._python_auth(),
            VIEW_ENDPOINTS_SUPPORTED: "true",  # of a service that does not say what it has
        }

    def catalog_conf(self) -> dict[str, str]:
        milliseconds = str(int(self.config.timeout.total_seconds() * 1000))
        return {
            "type": "rest",
            "rest.client.connection-timeout-ms": milliseconds,
            **self._common(),
            **self._java_auth(),
        }

    def describe(self) -> str:
        warehouse = f", warehouse {self.config.warehouse}" if self.config.warehouse else ""
        return f"{self.config.uri}{warehouse}"

    def table_location(self, namespace: tuple[str, ...], name: str) -> str | None:
        """Where the service would put it: asked by beginning to create a table, which commits nothing."""
        with self.connect(to_write=True) as registry:
            self.relations(registry).make_namespace(namespace)
            identifier = (*namespace, name)
            try:
                begun = registry.attempt(lambda: registry.catalog.create_table_transaction(identifier, ANY_SCHEMA))
            except TableAlreadyExistsError:
                return registry.attempt(lambda: registry.catalog.load_table(identifier)).location()
            return begun.table_metadata.location

    def _common(self) -> dict[str, str]:
        headers = {f"header.{name}": value.get_secret_value() for name, value in self.config.headers.items()}
        warehouse = {"warehouse": self.config.warehouse} if self.config.warehouse else {}
        return {"uri": self.config.uri, **warehouse, **headers}

    def _python_auth(self) -> dict[str, str]:
        match self.config.auth:
            case BasicAuth(username=username, password=password):
                return {USERNAME: username, PASSWORD: password.get_secret_value()}
            case auth:
                return self._token_auth(auth)

    def _java_auth(self) -> dict[str, str]:
        match self.config.auth:
            case BasicAuth(username=username, password=password):
                return {
                    "rest.auth.type": "basic",
                    "rest.auth.basic.username": username,
                    "rest.auth.basic.password": password.get_secret_value(),
                }
            case NoAuth():
                return {"rest.auth.type": "none"}
            case auth:
                return {"rest.auth.type": "oauth2", **self._token_auth(auth)}

    def _token_auth(self, auth: NoAuth | BearerAuth | OAuth2) -> dict[str, str]:
        """Properties that both clients spell alike."""
        match auth:
            case BearerAuth(token=token):
                return {"token": token.get_secret_value()}
            case OAuth2():
                return {
                    "credential": f"{auth.client_id}:{auth.client_secret.get_secret_value()}",
                    "oauth2-server-uri": auth.token_uri or f"{self.config.uri}/v1/oauth/tokens",
                    "scope": auth.scope,
                }
        return {}
