"""The reception for agents that somebody else has started: they call, and are connected to whoever waits for their
host.

A caller must have the token, and believes nobody but the holder of the certificate, which is made for this reception
alone. Both reach a host by ways that its owner alone can read.
"""

from __future__ import annotations

import datetime
import hmac
import json
import secrets
import socket
import ssl
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from execnet import gateway_base, gateway_io

from howdah.errors import HostProblem
from howdah.host.agent import caller
from howdah.host.agent.network import identity
from howdah.spec.hosts import BRIDGES, is_on_network

_HELLO_SECONDS = 10.0
_HELLO_BYTES = 4096
_GLANCE_SECONDS = 0.2

PROGRAM = Path(caller.__file__).read_text(encoding="utf-8")
"""Text of the Python program that calls; it needs nothing but the standard library."""


class Reception:
    """A listener at all addresses of this machine, until `close`."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(32)
        self._certificate, self._context = _identify()
        self._arrived: dict[str, ssl.SSLSocket] = {}
        self._refused: list[str] = []
        self._change = threading.Condition()
        self._listening = socket.create_server(("", 0), backlog=128)
        threading.Thread(target=self._accept, daemon=True).start()

    def invitation(self, name: str | None = None, *, network: str | None = None) -> Mapping[str, Any]:
        """Return the data for a caller, which nobody else may read. The caller says that it is `name`, or the name that
        its batch system has for its host. It tries the addresses of this machine on `network` first."""
        there = {one: at for one, at in identity()["addresses"].items() if not one.startswith(BRIDGES)}

        def order(found: tuple[str, str]) -> tuple[bool, bool, str]:
            interface, address = found
            preferred = network is not None and is_on_network(network, interface, address)
            return not preferred, address.startswith("127."), interface

        return {
            "addresses": [address for _, address in sorted(there.items(), key=order)],
            "port": self._listening.getsockname()[1],
            "certificate": self._certificate,
            "token": self._token,
            "program": gateway_io.popen_bootstrapline,
            "name": name,
        }

    def wait_for(
        self, name: str, seconds: float, broken: Callable[[], str | None], said: Callable[[], str] = str
    ) -> Connection:
        """Return the connection that the host `name` has made, or makes within so many seconds. `broken` returns why
        none can come any more, if that is so; `said` what is known of the start of agents. Raises HostProblem."""
        deadline = time.monotonic() + seconds
        with self._change:
            while name not in self._arrived:
                why = broken()
                if why is not None:
                    raise HostProblem(f"no agent came: {why}", host=name)
                if time.monotonic() > deadline:
                    words = f"; what starts them said: {heard}" if (heard := said()) else ""
                    raise HostProblem(f"no agent has called within {seconds:.0f} s{self._others()}{words}", host=name)
                self._change.wait(_GLANCE_SECONDS)
            return Connection(self._arrived.pop(name))

    def close(self) -> None:
        """Accept no more callers, and dismiss those that nobody has asked for. May be called twice."""
        with suppress(OSError):  # It wakes who accepts.
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._change:
            waiting, self._arrived = list(self._arrived.values()), {}
        for one in waiting:
            one.close()

    def _others(self) -> str:
        """Return who has called without being waited for, in words."""
        waiting = f"; others have: {', '.join(sorted(self._arrived))}" if self._arrived else ""
        return waiting + (f"; refused was {', '.join(self._refused)}" if self._refused else "")

    def _accept(self) -> None:
        while True:
            try:
                plain, (address, _) = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(plain, address), daemon=True).start()

    def _greet(self, plain: socket.socket, address: str) -> None:
        held = plain
        try:
            plain.settimeout(_HELLO_SECONDS)
            held = secure = self._context.wrap_socket(plain, server_side=True)
            hello = _read_line(secure)
            if not hmac.compare_digest(str(hello["token"]).encode(), self._token.encode()):
                raise ValueError("it has no token of ours")
            name = str(hello["name"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            held.close()
            with self._change:
                self._refused.append(f"{address} ({error})")
            return
        secure.settimeout(None)
        with self._change:
            earlier, self._arrived[name] = self._arrived.get(name), secure
            self._change.notify_all()
        if earlier is not None:
            earlier.close()


class Connection(gateway_base.Popen2IO):
    """See `howdah.host.launch.line.Line`: the line to an agent that has called."""

    def __init__(self, secure: ssl.SSLSocket) -> None:
        self._ours, other = socket.socketpair()
        self._pump = threading.Thread(target=caller.pump, args=(secure, other), daemon=True)
        self._pump.start()
        streams = self._ours.makefile("wb"), self._ours.makefile("rb")
        super().__init__(*streams, gateway_base.get_execmodel("thread"))

    def wait(self) -> int | None:
        self._pump.join()
        return None

    def kill(self) -> None:
        with suppress(OSError):  # It is closed already.
            self._ours.shutdown(socket.SHUT_RDWR)

    def said(self) -> str:
        return ""

    def done(self) -> None:
        self.kill()
        self.wait()
        for stream in (self.infile, self.outfile, self._ours):
            with suppress(OSError):  # What could not be sent is in its buffer.
                stream.close()


@dataclass(frozen=True, slots=True)
class Expected:
    """See `howdah.host.launch.Launcher`: an agent that calls `reception` by itself, from the host `name`."""

    reception: Reception
    name: str
    seconds: float
    broken: Callable[[], str | None]
    said: Callable[[], str] = str

    def connect(self, program: str) -> Connection:  # noqa: ARG002 -- callers have it from their invitation
        return self.reception.wait_for(self.name, self.seconds, self.broken, self.said)

    def explain(self, said: str) -> tuple[str, str | None]:
        return said or self.broken() or "its connection ended at once", None


def _read_line(secure: ssl.SSLSocket) -> dict[str, Any]:
    read = b""
    while not read.endswith(b"\n"):
        byte = secure.recv(1)
        if not byte or len(read) > _HELLO_BYTES:
            raise ValueError("it says nothing that is expected")
        read += byte
    hello: dict[str, Any] = json.loads(read)
    return hello


def _identify() -> tuple[str, ssl.SSLContext]:
    """Return a certificate that nobody else has, as PEM, and the context that shows it to callers."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "howdah")])
    now, year = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=366)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    # A clock there may be behind this one.
    built = built.serial_number(x509.random_serial_number()).not_valid_before(now - year).not_valid_after(now + year)
    built = built.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    certificate = built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile() as file:  # OpenSSL reads it from a file only; nobody else can read this one.
        file.write(private + certificate)
        file.flush()
        context.load_cert_chain(file.name)
    return certificate.decode(), context
