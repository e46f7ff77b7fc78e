"""The JSON Schemas of ODCS, as datacontract-cli bundles them, pinned by content.

Seven different files call themselves 3.1.0, so a file is trusted by its hash, not by its name.
"""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs

from floe_core.findings import Finding, FloeError, Place

# apiVersion -> the schema that judges it. 3.0.0 and 3.0.1 have the grammar of 3.0.2.
VERSIONS = {
    "v3.0.0": "3.0.2",
    "v3.0.1": "3.0.2",
    "v3.0.2": "3.0.2",
    "v3.1.0": "3.1.0",
    "v3.2.0": "3.2.0",
}
WRITTEN = "v3.1.0"  # what floe writes itself
HASHES = {
    "3.0.2": "fc9d774ea73d13b473a52868eb8e66784f3a031794d1d22dd94d76f8c9c07c79",
    "3.1.0": "e2893c5a50ea91cab2f1548279e5677e7cd8bfe4970d7016d538512ebecbc915",
    "3.2.0": "171420cb211c3fba7b0b0ee4939e43112cfac661386159cc4e123667846056c8",
}


def schema_path(version: str) -> Path:
    """Where the schema lies. The package is found without being imported: that alone would take a second."""
    package = find_spec("datacontract")
    home = Path(package.submodule_search_locations[0]) if package and package.submodule_search_locations else Path()
    return home / "schemas" / f"odcs-{version}.schema.json"


def schema_text(version: str) -> str:
    """The schema, when it is byte for byte the one that floe was tested with."""
    path = schema_path(version)
    try:
        data = path.read_bytes()
    except OSError as exc:
        raise _broken(f"the ODCS schema {path.name} of datacontract-cli is missing", path) from exc
    if hashlib.sha256(data).hexdigest() != HASHES[version]:
        raise _broken(f"the ODCS schema {path.name} of datacontract-cli is not the one floe knows", path)
    return data.decode()


def _broken(message: str, path: Path) -> FloeError:
    fix = "Reinstall datacontract-cli in the version that floe-contracts asks for."
    return FloeError(Finding("FLOE-E800", message, Place(str(path)), fix=fix))


@cache
def validator(version: str) -> Any:
    """A compiled validator of one version of the standard."""
    return jsonschema_rs.validator_for(schema_text(version))


def later_versions(version: str) -> tuple[str, ...]:
    """The versions of the standard after this one."""
    known = tuple(HASHES)
    return known[known.index(version) + 1 :]
