"""The same catalog in PostgreSQL: shared by a team, its password kept, nobody waits for ever."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from floe_catalog_sql import SqlCatalogPlugin
from floe_catalog_sql.plugin import POSTGRES_JDBC
from floe_core.findings import FloeError
from floe_core.identity import ContractMetadata
from floe_testing.services import required
from floe_testing.services.postgres import Postgres, postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with required(), postgres() as running:
        yield running


def plugin(server: Postgres, home: Path, **config: str) -> SqlCatalogPlugin:
    settings = {"uri": server.uri, "password": server.password, "warehouse": str(home / "warehouse"), **config}
    return SqlCatalogPlugin(settings, home)


def test_many_clients_can_start_on_a_new_database_at_once(server: Postgres, tmp_path: Path) -> None:
    def claim(number: int) -> str:
        return (
            plugin(server, tmp_path)
            .register_product_identity("sales.orders", f"github.com/acme/{number}", "a")
            .status
        )

    with ThreadPoolExecutor(8) as pool:
        told = sorted(pool.map(claim, range(8)))
    assert told == [*["conflict"] * 7, "created"]


def test_registrations_at_once_are_all_there(server: Postgres, tmp_path: Path) -> None:
    catalog = plugin(server, tmp_path)
    catalog.register_product_identity("sales.promises", "github.com/acme/x", "a")

    def register(number: int) -> str:
        return catalog.register_contract("sales.promises", f"c{number}", "1.0.0", "s", ContractMetadata("o")).status

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(register, range(8))) == {"created"}
    assert len(catalog.list_registered_contracts("sales.promises")) == 8
    assert catalog.verify_product("sales.promises") == []


def test_long_values_are_cut_to_what_the_database_holds(server: Postgres, tmp_path: Path) -> None:
    catalog = plugin(server, tmp_path)
    assert catalog.register_product_identity("sales.long", f"github.com/acme/{'x' * 1500}", "a").status == "created"
    assert catalog.verify_product("sales.long") == []
    assert len(catalog.get_namespace_owner("sales.long") or "") > 1500


def test_a_wrong_password_is_could_not_check_and_is_not_repeated(server: Postgres, tmp_path: Path) -> None:
    wrong = {"password": "w2ong-and-secret"}
    catalog = plugin(server, tmp_path, **wrong)
    with pytest.raises(FloeError) as caught:
        catalog.list_products()
    [finding] = caught.value.findings
    assert (finding.code, finding.row.exit) == ("FLOE-E807", 3)
    assert "w2ong-and-secret" not in finding.message
    assert f"postgresql 127.0.0.1:{server.port}/postgres" in finding.message


def test_nobody_at_the_address_is_could_not_check(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, and not listening
        nobody = Postgres(taken.getsockname()[1], "x")
        with pytest.raises(FloeError) as caught:
            plugin(nobody, tmp_path).list_products()
    assert caught.value.findings[0].code == "FLOE-E807"


def test_python_and_spark_are_sent_to_the_same_database(tmp_path: Path) -> None:
    catalog = SqlCatalogPlugin(
        {"uri": "postgresql://floe@db.acme.com:5433/lake", "password": "s3cret", "warehouse": "s3://lake/wh"},
        tmp_path,
    )
    conf, properties = catalog.catalog_conf(), catalog.client_properties()
    assert conf["uri"] == "jdbc:postgresql://db.acme.com:5433/lake"
    assert (conf["jdbc.user"], conf["jdbc.password"]) == ("floe", "s3cret")
    assert properties["uri"].startswith("postgresql+psycopg://floe:s3cret@db.acme.com:5433/lake?")
    assert "connect_timeout=4" in properties["uri"]
    assert conf["warehouse"] == properties["warehouse"] == "s3://lake/wh"
    assert "s3cret" not in catalog.describe() + repr(catalog.config)
    assert (catalog.jars, SqlCatalogPlugin({}, tmp_path).jars) == ((POSTGRES_JDBC,), ())
