"""Real ssh servers on loopback, for as long as a test lasts; they let in whoever has the key that they come with."""

from __future__ import annotations

import getpass
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from howdah.host.launch.ssh import SshLauncher

_SSHD = "/usr/sbin/sshd"
_START_SECONDS = 20.0

_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {directory}/host_key
PidFile none
AuthorizedKeysFile {directory}/key.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitUserRC no
"""

_CLIENT = """\
Host *
  User {user}
  IdentityFile {directory}/key
  IdentitiesOnly yes
  UserKnownHostsFile {directory}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
"""


@dataclass(frozen=True)
class Server:
    """A server that listens on `port`; its process, and the client's configuration with which one is let in."""

    port: int
    pid: int
    directory: Path

    def launcher(self, *, python: str = sys.executable, config: str = "client") -> SshLauncher:
        """Starts agents through it."""
        return SshLauncher("127.0.0.1", self.port, python, ("-F", str(self.directory / config)))

    def path(self, name: str) -> str:
        """A directory whose `ssh` reaches it by `name`."""
        client = self.directory / "client"
        host = f"Host {name}\n  HostName 127.0.0.1\n  Port {self.port}\n"
        if not client.read_text().startswith(host):
            client.write_text(host + client.read_text())
        return str(ssh_wrapper(self.directory))


def ssh_files(directory: Path, port: int = 22) -> None:
    """Keys and configurations of a server on loopback and of its clients, in `directory`."""
    with suppress(PermissionError):  # For root alone, who gives up privileges there.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("host_key", "key"):
        command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(directory / name))
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    (directory / "sshd_config").write_text(_CONFIG.format(port=port, directory=directory))
    (directory / "client").write_text(_CLIENT.format(directory=directory, user=getpass.getuser()))
    host_key = (directory / "host_key.pub").read_text()
    (directory / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}")


def ssh_wrapper(directory: Path) -> Path:
    """A directory whose `ssh` has the client's configuration in `directory`."""
    place = directory / "bin"
    place.mkdir(exist_ok=True)
    (place / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {directory}/client "$@"\n')
    (place / "ssh").chmod(0o755)
    return place


@contextmanager
def ssh_server(directory: Path) -> Iterator[Server]:
    """A server whose files are in `directory`."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    ssh_files(directory, port)
    with (directory / "sshd.log").open("wb") as log:
        server = subprocess.Popen((_SSHD, "-D", "-e", "-f", str(directory / "sshd_config")), stderr=log)
    try:
        wait_for_server("127.0.0.1", port, server, directory / "sshd.log")
        yield Server(port, server.pid, directory)
    finally:
        server.terminate()
        server.wait(20)


def wait_for_server(address: str, port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    """Returns when somebody listens there; fails when the server has ended."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        with suppress(OSError), socket.create_connection((address, port), timeout=1):
            return
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(0.05)
