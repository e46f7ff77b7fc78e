"""Metadata files of tables and views as they are: JSON, wherever the warehouse is, compressed or not.

They are read and written whole, not through PyIceberg's model of them: what it does not know must not get lost.
"""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from pyiceberg.io import FileIO, load_file_io

Metadata = dict[str, Any]
GZIP = b"\x1f\x8b"
COMPRESSED = (".gz.metadata.json", ".metadata.json.gz")
AT_ONCE = 8  # files that are read or written at the same time


class MetadataFiles:
    """The files of one warehouse. Raises OSError or ValueError for what cannot be read."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.properties = dict(properties)
        self._ios: dict[str, FileIO] = {}  # one per kind of storage: each keeps its connections

    def io(self, location: str) -> FileIO:
        scheme = urlsplit(location).scheme
        if scheme not in self._ios:
            self._ios[scheme] = load_file_io(self.properties, location)
        return self._ios[scheme]

    def read(self, location: str) -> Metadata:
        with self.io(location).new_input(location).open() as stream:
            content = stream.read()
        found = json.loads(gzip.decompress(content) if content.startswith(GZIP) else content)
        if not isinstance(found, dict):
            raise ValueError(f"{location} is not a metadata file")  # noqa: TRY004 - of the file, not of an argument
        return found

    def read_all(self, locations: Iterable[str]) -> dict[str, Metadata]:
        """Several files at once, each by its location."""
        wanted = list(dict.fromkeys(locations))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(wanted, pool.map(self.read, wanted), strict=True))

    def write(self, location: str, metadata: Metadata) -> None:
        """Write a new file; one that is there already is never overwritten."""
        content = json.dumps(metadata, separators=(",", ":")).encode()
        with self.io(location).new_output(location).create() as stream:
            stream.write(gzip.compress(content) if location.endswith(COMPRESSED) else content)

    def write_all(self, files: Mapping[str, Metadata]) -> None:
        """Several files at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(self.write, files.keys(), files.values()))

    def remove(self, location: str) -> bool:
        """Remove a file; False when there was none."""
        try:
            self.io(location).delete(location)
        except FileNotFoundError:
            return False
        return True


def next_location(location: str) -> str:
    """Where the metadata file goes that follows this one, as both clients of Iceberg name it."""
    folder, _, name = location.rpartition("/")
    version = name.partition("-")[0].removeprefix("v").partition(".")[0]
    number = int(version) + 1 if version.isdigit() else 0
    ending = ".gz.metadata.json" if name.endswith(COMPRESSED) else ".metadata.json"
    return f"{folder}/{number:05d}-{uuid.uuid4()}{ending}"
