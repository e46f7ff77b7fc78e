"""The settings of the catalog `sql`."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SecretStr, ValidationInfo, field_validator, model_validator
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from floe_iceberg import CatalogConfig

SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://")
FILE = "file://"


class SqlConfig(CatalogConfig):
    """Settings of the catalog `sql`; all of them may be left out."""

    uri: str | None = Field(
        default=None, description="sqlite:///PATH, .floe/catalog.db by default; or postgresql://USER@HOST:PORT/DB."
    )
    password: SecretStr | None = Field(default=None, description="Password of the PostgreSQL user, as a reference.")
    warehouse: str | None = Field(
        default=None, description="Where the data is: a folder, .floe/warehouse by default; or s3://… (PostgreSQL)."
    )

    @property
    def is_postgres(self) -> bool:
        return (self.uri or "").startswith(POSTGRES)

    @field_validator("uri")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        if value is None or (value.startswith(SQLITE) and not set("?#\0") & set(value)):
            return value
        if value.startswith(POSTGRES):
            _check_address(value)
            return value
        raise ValueError("only sqlite:///PATH and postgresql://USER@HOST:PORT/DB are known")

    @field_validator("warehouse")
    @classmethod
    def _is_place(cls, value: str | None, info: ValidationInfo) -> str | None:
        is_shared = (info.data.get("uri") or "").startswith(POSTGRES)
        if value is not None and "://" in value and not value.startswith(FILE) and not is_shared:
            raise ValueError("a SQLite catalog keeps its data in a folder: a path, or file:///PATH")
        return value

    @model_validator(mode="after")
    def _fits_together(self) -> SqlConfig:
        if self.is_postgres and self.warehouse is None:
            raise ValueError("a PostgreSQL catalog needs a warehouse that all its users reach")
        if self.password is not None and not self.is_postgres:
            raise ValueError("only a PostgreSQL catalog has a password")
        return self


def _check_address(value: str) -> None:
    try:
        address = make_url(value)
    except (ArgumentError, ValueError) as exc:
        raise ValueError("this is not postgresql://USER@HOST:PORT/DB") from exc
    parts: dict[str, Any] = {"a host": address.host, "a database": address.database}
    for what, part in parts.items():
        if not part:
            raise ValueError(f"{what} is missing in postgresql://USER@HOST:PORT/DB")
