"""Install the uv binary pinned in a uv.lock into a folder, with nothing but the standard library.

usage: install_uv.py LOCK FOLDER
"""

import hashlib
import http.client
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path

ATTEMPTS = 3
TIMEOUT_SECONDS = 30
CHUNK = 1 << 18


class InstallError(Exception):
    """The reason why one way of installing did not work."""


@dataclass(frozen=True)
class Wheel:
    url: str
    sha256: str
    size: int | None

    @property
    def tags(self) -> list[str]:
        """The platforms in the file name: name-version-python-abi-PLATFORM.PLATFORM.whl"""
        return self.url.rpartition("/")[2].removesuffix(".whl").split("-")[-1].split(".")


def read_lock(lock: Path) -> tuple[str, list[Wheel]]:
    packages = tomllib.loads(lock.read_text(encoding="utf-8"))["package"]
    uv = next(package for package in packages if package["name"] == "uv")
    wheels = [Wheel(w["url"], w["hash"].removeprefix("sha256:"), w.get("size")) for w in uv["wheels"]]
    return uv["version"], wheels


def pick(wheels: list[Wheel]) -> Wheel:
    """The wheel made for this machine; the one for the newest C library or macOS when several fit."""
    system, version = this_system()
    machine = platform.machine().lower().replace("amd64", "x86_64")
    fitting: list[tuple[tuple[int, ...], Wheel]] = []
    for wheel in wheels:
        for tag in wheel.tags:
            match = re.fullmatch(rf"{system}_(\d+)_(\d+)_{re.escape(machine)}", tag)
            if match and (needed := tuple(map(int, match.groups()))) <= version:
                fitting.append((needed, wheel))
    if not fitting:
        raise InstallError(f"uv.lock has no uv wheel for {system} {'.'.join(map(str, version))} on {machine}")
    return max(fitting, key=lambda pair: pair[0])[1]


def this_system() -> tuple[str, tuple[int, ...]]:
    if sys.platform == "darwin":
        return "macosx", numbers(platform.mac_ver()[0])
    if sys.platform != "linux":
        raise InstallError(f"no prebuilt uv is known here for {sys.platform}")
    library, version = platform.libc_ver()
    if library == "glibc":
        return "manylinux", numbers(version)
    return "musllinux", (1, 2)  # that uv is linked statically: every musl will do


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


def download(wheel: Wheel, target: Path) -> None:
    """Fetch and verify; a broken transfer is tried again, a refusal is not."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            fetch(wheel, target)
            return
        except (OSError, http.client.HTTPException, InstallError) as exc:
            if refused(exc) or attempt == ATTEMPTS:
                raise InstallError(f"the download failed: {exc}") from exc
            say(f"{exc}; trying again")
            time.sleep(attempt)


def refused(exc: Exception) -> bool:
    """Whether the server understood and said no; 408 and 429 only mean later."""
    return isinstance(exc, urllib.error.HTTPError) and 400 <= exc.code < 500 and exc.code not in (408, 429)


def fetch(wheel: Wheel, target: Path) -> None:
    if not wheel.url.startswith("https://"):
        raise InstallError(f"uv.lock names an address that is not https: {wheel.url}")
    digest, received = hashlib.sha256(), 0
    with (
        urllib.request.urlopen(wheel.url, timeout=TIMEOUT_SECONDS) as response,  # noqa: S310 - https, checked above
        target.open("wb") as file,
    ):
        total = wheel.size or int(response.headers.get("Content-Length") or 0)
        while chunk := response.read(CHUNK):
            file.write(chunk)
            digest.update(chunk)
            received += len(chunk)
            if sys.stderr.isatty():
                say(f"\r{received / 1e6:.0f} of {total / 1e6:.0f} MB", end="")
    if sys.stderr.isatty():
        say("")
    if wheel.size not in (None, received):
        raise InstallError(f"{received} bytes came, uv.lock says {wheel.size}")
    if digest.hexdigest() != wheel.sha256:
        raise InstallError(f"sha256 is {digest.hexdigest()}, uv.lock says {wheel.sha256}")


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)


def extract(archive: Path, binary: Path) -> None:
    with zipfile.ZipFile(archive) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".data/scripts/uv"))
        with wheel.open(name) as source, binary.open("wb") as target:
            shutil.copyfileobj(source, target)


def install_with_pip(version: str, wheels: list[Wheel], work: Path) -> Path:
    """Let pip find the same files: it knows the mirror this machine is configured for."""
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run([*pip, "--version"], capture_output=True).returncode:  # noqa: S603 - own arguments
        raise InstallError("this Python has no pip to try instead")
    requirement = work / "requirement.txt"
    hashes = " ".join(f"--hash=sha256:{wheel.sha256}" for wheel in wheels)
    requirement.write_text(f"uv=={version} {hashes}\n", encoding="utf-8")
    target = work / "pip"
    options = ["--require-hashes", "--no-deps", "--only-binary=:all:", f"--target={target}"]
    command = [*pip, "install", *options, f"--requirement={requirement}"]
    if subprocess.run(command, stdout=sys.stderr).returncode:  # noqa: S603 - own arguments
        raise InstallError("pip could not install it either")
    return target / "bin" / "uv"


def install(lock: Path, folder: Path) -> None:
    version, wheels = read_lock(lock)
    say(f"installing uv {version} in {folder}")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as temporary:
        work = Path(temporary)
        binary = work / "uv"
        try:
            download(pick(wheels), work / "uv.whl")
            extract(work / "uv.whl", binary)
        except InstallError as exc:
            say(f"{exc}; trying pip")
            binary = install_with_pip(version, wheels, work)
        binary.chmod(0o755)
        binary.replace(folder / "uv")  # atomic: of two installs at once the later one wins, both are whole


def main() -> int:
    lock, folder = map(Path, sys.argv[1:])
    try:
        install(lock, folder)
    except OSError as exc:
        say(f"{exc}\nName a folder that you may write:  export FLOE_CACHE=FOLDER")
        return 1
    except InstallError as exc:
        say(f"{exc}\nPut uv on PATH and run the command again:  pipx install uv")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
