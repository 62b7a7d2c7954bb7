"""The same over TLS, which is what a real API server speaks."""

import ipaddress
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubernetes.client import ApiClient, Configuration

from scheduler_app.kube.client import KubeClient
from scheduler_app.kube.errors import ConnectionBrokenError
from tests.kube.scripted_server import ScriptedServer, answering, silent


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a PEM file with a key and a certificate for 127.0.0.1 that is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "scripted")])
    now = datetime.now(UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(addresses, critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    secret = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    path.write_bytes(secret + made.public_bytes(encoding))
    return path


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        server.speak_tls(certificate)
        yield server


def client_for(server: ScriptedServer, authority: Path | None) -> KubeClient:
    configuration = Configuration(host=server.url)
    configuration.ssl_ca_cert = str(authority) if authority else None
    return KubeClient(ApiClient(configuration))


def test_calls_share_a_connection(tls_server: ScriptedServer, certificate: Path) -> None:
    tls_server.answer = lambda request: answering({})
    client = client_for(tls_server, certificate)
    assert [client.get("/") for _ in range(3)] == [b"{}"] * 3
    assert tls_server.connections == 1


def test_a_server_that_nobody_vouches_for_is_refused(tls_server: ScriptedServer) -> None:
    with pytest.raises(ConnectionBrokenError, match="certificate"):
        client_for(tls_server, None).get("/")


def test_a_silent_watch_is_ended_by_another_thread(tls_server: ScriptedServer, certificate: Path) -> None:
    """K3.6-2: a TLS socket is another kind of socket."""
    tls_server.answer = lambda request: silent(tls_server.closing)
    stream = client_for(tls_server, certificate).stream("/", query={}, read_seconds=30)
    ended: list[str] = []

    def read() -> None:
        try:
            stream.read()
        except ConnectionBrokenError as exc:
            ended.append(str(exc))

    reader = threading.Thread(target=read)
    reader.start()
    stream.interrupt()
    reader.join(5)
    assert not reader.is_alive()
