"""Map outputs that are served over TLS, on a cluster that was started by hand."""

from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from howdah.hadoop.distribution.jars import own_jar
from howdah.model.accelerator import ACCELERATOR_JAR, settings_for
from tests.system.hand import EXAMPLES, LINES, Sites, Typed, by_hand, counted, counter
from tests.system.running import Howdah
from tests.system.shell import of_the_jdk
from tests.unit.hadoop.interfaces.fake_server import free_port

pytestmark = [pytest.mark.daemons, pytest.mark.soak(part="jobs")]

PASSWORD = "changeit"  # Of a key that is gone with the test.


def key_of_this_host(root: Path) -> Path:
    """A keystore with one key for the names of this machine; what trusts it is beside it, `.trust` and `.pem`."""
    store = root / "node.p12"
    given = ("-keystore", str(store), "-storepass", PASSWORD, "-alias", "node")
    names = f"ip:127.0.0.1,dns:localhost,dns:{socket.gethostname()}"
    make = ("-genkeypair", "-keyalg", "RSA", "-dname", "CN=node", "-ext", f"san={names}", "-validity", "2")
    pem, trust = store.with_suffix(".pem"), ("-keystore", str(store.with_suffix(".trust")), "-storepass", PASSWORD)
    for command in (
        (*make, *given),
        ("-exportcert", "-rfc", "-file", str(pem), *given),
        ("-importcert", "-noprompt", "-file", str(pem), "-alias", "node", *trust),
    ):
        subprocess.run([of_the_jdk("keytool"), *command], check=True, capture_output=True)
    return store


def over_tls(store: Path, port: int) -> Sites:
    """What Hadoop's page on encrypted shuffle says."""
    server = {"keystore.location": store, "keystore.password": PASSWORD, "keystore.keypassword": PASSWORD}
    trust = {"truststore.location": store.with_suffix(".trust"), "truststore.password": PASSWORD}
    kinds = {"keystore.type": "pkcs12", "truststore.type": "pkcs12"}
    return {
        "core-site.xml": {"hadoop.ssl.hostname.verifier": "DEFAULT"},
        "mapred-site.xml": {"mapreduce.shuffle.ssl.enabled": "true", "mapreduce.shuffle.port": port},
        "ssl-server.xml": {f"ssl.server.{key}": value for key, value in {**server, **trust, **kinds}.items()},
        "ssl-client.xml": {f"ssl.client.{key}": value for key, value in {**trust, **kinds}.items()},
    }


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return key_of_this_host(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def typed(howdah: Howdah, tmp_path_factory: pytest.TempPathFactory, store: Path, port: int) -> Iterator[Typed]:
    with by_hand(howdah, tmp_path_factory.mktemp("tls"), over_tls(store, port)) as typed:
        yield typed


@pytest.mark.promise("With TLS, sort and shuffle serve", "how-to/accelerate")
def test_both_plugins_serve(typed: Typed, store: Path, port: int) -> None:
    trusting = ssl.create_default_context(cafile=str(store.with_suffix(".pem")))
    with socket.create_connection(("127.0.0.1", port), timeout=30) as plain:
        trusting.wrap_socket(plain, server_hostname="localhost").close()
    program = f"hadoop jar {EXAMPLES} wordcount"
    assert "Howdah" not in typed(f"{program} /in /stock")
    keys = " ".join(f"-D '{key}={value}'" for key, value in settings_for("sort").items())
    said = typed(f"{program} -libjars {own_jar(ACCELERATOR_JAR)} {keys} /in /ours")
    assert counter(said, "Howdah Sort", "RECORDS") == 2 * LINES
    assert counter(said, "Howdah Shuffle", "FALLBACKS") is None
    assert counter(said, "Howdah Shuffle", "RECORDS")
    assert counted(typed, "/ours") == counted(typed, "/stock")
